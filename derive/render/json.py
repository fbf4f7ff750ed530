"""Every record as versioned JSON, by one function over one table of fields.

Numbers are exact, and with expressions they are texts in the language of the command line. Fields
are only ever added to a format.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, replace
from fractions import Fraction
from typing import Any, TypeAlias

from flint import arb
from sympy import Expr, MatrixBase

from derive.certificate.checking.check import FORMAT, VERSION, whole
from derive.derivation import Derivation
from derive.entrywise import EntrywiseDerivation
from derive.exact.field.function_field import RationalFunction
from derive.folder import read_table
from derive.language import to_text
from derive.language.tree import Tree
from derive.model.notation import Notation
from derive.model.parameterization import Parameterization
from derive.optimizers.pushed import PushedDerivation
from derive.render import RECORDS
from derive.render.sections import dependent
from derive.render.text import as_text, plain, text_lines, unmark
from derive.verdict import Finding, Verdict

DIGITS = 30
"""Decimal digits of certified values."""

Record: TypeAlias = dict[str, object]
"""Names with texts, whole numbers, truth values, nothing, lists, and what ``json_value`` knows."""

FIELDS: Mapping[str, Any] = read_table(__file__, "fields.toml")


def render_json(found: Any, seconds: float = 20.0) -> str:
    """Return a finished record as JSON text.

    A derivation is without a certificate, and says so, where that takes longer than some seconds.
    """
    name = next(kind.__name__ for kind in type(found).__mro__ if kind.__name__ in RECORDS)
    write = CERTIFIED.get(name)
    content = record(found) if write is None else write(found, seconds)
    if name == "Regimes" and not found.vector:
        content |= {"derivation": json.loads(render_json(found.derivation, seconds))}
    return json_text(RECORDS[name].format, RECORDS[name].version, content)


def json_text(kind: str, version: int, content: Record) -> str:
    """Return a versioned record as JSON text without floats."""
    head = {"format": f"regderive-{kind}", "version": version}
    return json.dumps(head | content, indent=2, ensure_ascii=True, default=json_value)


def record(found: object, kind: str = "") -> Record:
    """Return the fields of a record that are in the table, under its type or another name."""
    kinds = (kind,) if kind else (base.__name__ for base in type(found).__mro__)
    result: Record = {}
    for field in next(FIELDS[name] for name in kinds if name in FIELDS).split():
        path, _, way = field.partition(":")
        name, equals, given = path.lstrip("*-").partition("=")
        value = follow(found, given if equals else name)
        if path[-1] == "!":
            value = found if value else None
        if way:
            value = convert(value, way)
        if path[0] == "*":
            result |= {} if value is None else record_of(value)
        elif path[0] != "-" or value is not None:
            result[name.rstrip("?")] = value
    return result


def follow(found: Any, path: str) -> Any:
    """Return what attributes lead to; nothing where one of them is None, or has a ? and is not."""
    for name in filter(None, path.rstrip("!").split(".")):
        if found is None:
            return None
        optional = name.endswith("?")
        found = getattr(found, name[:-1], None) if optional else getattr(found, name)
    return found


def convert(value: Any, way: str) -> object:
    """Return what is made of a value; of nothing that is nothing, or what ``OF_NOTHING`` says."""
    if value is None:
        return OF_NOTHING.get(way)
    if way in FIELDS["always"]:
        return FIELDS["always"][way]
    return WAYS[way](value) if way in WAYS else record(value, way)


def named(pairs: Iterable[tuple[object, object]] | Mapping[Any, object]) -> Record:
    """Return values by the texts of their names."""
    return {str(name): value for name, value in dict(pairs).items()}


def _below(limit: Any) -> list[object] | None:
    """Return the gradient of a limit below 0, where it is not that above."""
    below = limit.slopes_below
    above = limit.potential.gradient if limit.potential else ()
    differ = (g is not None and str(g) != str(up) for g, up in zip(below, above, strict=False))
    return below if any(differ) else None


def _tried(finding: Finding) -> Record:
    """Return a verdict with the first of what fails."""
    failing = (
        {"point": named(e.point), "residual": e.residual} for e in finding.evidence if not e.holds
    )
    return record_of(finding) | {"witness": next(failing, None)}


def _growth(leading: Any) -> Expr | None:
    from derive.limits.limit import growth_expression
    from derive.separable.statements import C

    return None if leading.growth is None else growth_expression(leading.growth, 1 / C)


def _affine(p: Parameterization) -> Record:
    """Return the outputs that are left out, as affine functions of the others; {} without any."""
    pairs = zip(Notation(p, ()).affine, p.affine, strict=True)
    found = [{"beta": b, "output": output.tree, "is": image} for (b, image), output in pairs]
    return {"affine": found} if found else {}


def _metric(d: Derivation) -> Record:
    metric, frame = d.metric, dict[str, object]()
    if d.direction is not None:
        T, R = (None, None) if metric.kernel is None else metric.kernel.diagonal()
        frame = {
            "frame": "eigenvalues across beta (T) and along it (R)",
            "formula": "K = T I + (R - T) beta beta^T/s**2",
            "T": T,
            "R": R,
        }
    return {**frame, **vars(metric), "constants": named(metric.constants)}


def _dual_coordinates(d: Derivation) -> list[Record]:
    """Return those of each block, which are nothing where blocks alone have a warp."""
    kind = "dual_length" if d.parameterization.vectors else "dual"
    duals = [record(block, kind) for block in d.blocks]
    return duals if d.warping.verdict is Verdict.PROVED else [dict.fromkeys(x) for x in duals]


OF_NOTHING = {"listed": (), "named": {}, "smooth": True, "truth": False}

WAYS: Mapping[str, Callable[[Any], object]] = {
    "above": lambda x: [at for at, g in zip(x.coordinates, x.below, strict=False) if g is None],
    "affine": _affine,
    "below": _below,
    "blocks": lambda d: [[i + 1 for i in block.outputs] for block in d.blocks],
    "branches": lambda minimum: (
        [
            {**record(interval), "closed_form": form}
            for interval, form in zip(minimum.intervals, minimum.closed_forms, strict=False)
        ]
        if hasattr(minimum, "intervals")
        else []
    ),
    "cited": lambda tail: (
        {k: unmark(x) for k, x in tail.items()} | {"status": "cited"} if tail else None
    ),
    "clock_rate": lambda regimes: regimes.derivation.warping.g or "not written",
    "closed_form": lambda m: None if hasattr(m, "intervals") else next(iter(m.closed_forms), None),
    "counted": lambda outputs: [i + 1 for i in outputs],
    "decimal": "{:.15g}".format,
    "decision": lambda x: record(x, ("decided", "undecided")[x.verdict is Verdict.UNDECIDED]),
    "design": lambda c: record_of(c.finding)["evidence"] if hasattr(c, "scale") else [],
    "dual_coordinates": _dual_coordinates,
    "example": asdict,
    "failure": lambda identity: {} if identity.holds else record(identity, "failure"),
    "filled": lambda text: text or None,
    "first": lambda rows: rows[0][1],
    "forward": lambda _: {"ran": False, "verdict": None, "reason": ""},
    "growth": _growth,
    "lie_dimension": lambda d: (
        len(d.parameterization.weights) - len(d.idle) - len(d.ties) - d.conserved.bound
        if d.conserved.verdict is Verdict.PROVED
        else None
    ),
    "lines": lambda lines: [unmark(text) for text in text_lines(lines)],
    "listed": tuple,
    "logs": lambda logs: [{"coefficient": c, "argument": a} for c, a in logs],
    "metric": _metric,
    "minus": lambda slope: -slope,
    "named": named,
    "normalization": lambda d: convert(
        d, "one_side" if d.potential.other_side is None else "both_sides"
    ),
    "norms": lambda direction: {direction.vector: direction.norm},
    "nothing": lambda _: None,
    "only": lambda values: values[0],
    "outputs": lambda d: getattr(d.parameterization, "trees" if d.direction is None else "texts"),
    "pairs": named,
    "proof": lambda p: [*text_lines(p.statements[0].proof)],
    "rates": lambda d: dict(
        zip(d.parameterization.weights, d.parameterization.geometry.texts, strict=True)
    ),
    "relations": lambda d: (
        {"blocks": [x.relations for x in dependent(d)]} if dependent(d) else None
    ),
    "root_from_below": lambda interval: None if interval.factor is None else interval.index,
    "says": lambda s: unmark("; ".join(text_lines((s,)))),
    "sentence": lambda s: unmark(as_text(s)),
    "sentences": lambda sentences: [unmark(as_text(s)) for s in sentences],
    "regimes": lambda r: {limit.point.text: limit.regime for limit in r.limits},
    "side": {0: "all", 1: "positive", -1: "negative"}.__getitem__,
    "sign": ("as at beta_0", "> 0").__getitem__,
    "smooth": bool,
    "steep": lambda steep: [{"coordinate": x, "side": s, "slope": m} for x, s, m in steep],
    "texts": lambda values: list(map(str, values)),
    "trees_or_texts": lambda p: p.trees or p.texts,
    "tried": _tried,
    "truth": bool,
    "unguarded": lambda conditions: [str(replace(c, guards=())) for c in conditions],
    "vectors": lambda p: ", ".join(v.name for v in p.vectors) or None,
    "words": unmark,
}
"""What is made of a value, where the record has it in another form."""


@functools.singledispatch
def json_value(value: object) -> object:
    """Return what stands for a value in JSON."""
    return record(value)


def record_of(value: object) -> Record:
    """Return the fields that stand for a value."""
    found: Any = json_value(value)
    return dict(found)


json_value.register(Expr, plain)
json_value.register(dict, dict)
json_value.register(Fraction, str)
json_value.register(RationalFunction, RationalFunction.in_moduli)
json_value.register(Tree, to_text)
json_value.register(Verdict, lambda verdict: verdict.value)
json_value.register(MatrixBase, lambda matrix: matrix.tolist())
json_value.register(arb, lambda ball: str(ball.str(DIGITS, radius=False)))


def _certified(d: Derivation, seconds: float) -> Record:
    """Return what a certificate is about, with it, and which proofs there are."""
    from derive.rocq.theorem import has_file

    certified = with_certificate(d, seconds)
    proofs = {"certificate": bool(certified["certificate"]), "rocq": has_file(d)}
    return certified | {"proofs": [name for name, there in proofs.items() if there]}


def with_certificate(d: Derivation, seconds: float) -> Record:
    """Return what a certificate is about, with it, or with why there is none."""
    from derive.certificate.writing import certify

    rest: Record = json.loads(json_text("derivation", RECORDS["Derivation"].version, record(d)))
    first = {name: rest.pop(name) for name in ("format", "version", "verdict")}
    texts = {**first, "Q": whole(rest["potential"]), **rest}
    certified: Record = certify(d, texts, seconds)
    return certified


def _certified_for_every_size(d: EntrywiseDerivation, seconds: float) -> Record:
    """Return what is said for every n, with its certificate."""
    from derive.certificate.writing.every_size import certify_every_size

    texts: Record = json.loads(json.dumps(record(d), default=json_value))
    certified: Record = certify_every_size(d, texts, seconds)
    return certified


def _certified_in_balls(found: PushedDerivation, seconds: float) -> Record:
    """Return the record of a flow that has no law; what its certificate has is soon written."""
    content = record(found)
    if found.uncertified is None:
        at = {name: str(x) for name, x in found.symbols}
        proof = {"scaling": found.scaling or None, "velocities": found.velocities or None}
        content["certificate"] = {"format": FORMAT, "version": VERSION, "at": at, **proof}
    return content


CERTIFIED: Mapping[str, Callable[[Any, float], Record]] = {
    "Derivation": _certified,
    "EntrywiseDerivation": _certified_for_every_size,
    "MatrixDerivation": lambda d, seconds: (
        record(d) | {"entry": d.entry and json.loads(render_json(d.entry, seconds))}
    ),
    "PushedDerivation": _certified_in_balls,
}
"""The records that have a certificate, and what writes them with it."""
