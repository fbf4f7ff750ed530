"""Records with one entry changed at random, and whether what is then accepted says no more.

No change is made to fit the checker: numbers, signs, names, calls, conditions, walls, proofs and
verdicts are changed, left out, repeated, exchanged, or put in another's place.
"""

import copy
import json
import math
import random
import re

from derive.certificate.checking.check import NotACertificate, Rejected, Report, check

PARTS = (
    *(("parameterization",), ("conserved",), ("metric",), ("hessian",), ("warping",)),
    *(("potential",), ("potential", "pieces"), ("certificate",), ("certificate", "pieces")),
    *(("certificate", "definitions"), ("certificate", "metric"), ("verdict",)),
)
VERDICTS = ("PROVED", "REFUTED", "UNDECIDED")
TOKEN = re.compile(r"(?<!\w)\d+|[-+*/]|[A-Za-z_]\w*|[<>]|!=")
WRAPPED = (
    *("-({})", "{}*2", "({})**2", "sqrt(({})**2)", "({}) + 1", "({})*({})/({})", "abs({})"),
    *("exp(log({}))", "0", "1", "sinh({})", "tanh({})"),
)
CALLS = ("sqrt", "log", "exp", "asinh", "tanh", "sinh", "abs", "atan")


def paths(value, path=()):
    """Yield all entries of a record, the outer ones first."""
    yield path, value
    inner = value if isinstance(value, dict) else {}
    inner = dict(enumerate(value)) if isinstance(value, list) else inner
    for key, entry in inner.items():
        yield from paths(entry, (*path, key))


def mutant(rng, record):
    """Return a place in a record, and what is put there."""
    part, everything = rng.choice(PARTS), [*paths(record)][1:]
    chosen = [(p, v) for p, v in everything if p[: len(part)] == part] or everything
    texts = [v for _, v in chosen if isinstance(v, str)] or ["0"]
    path, value = rng.choice(chosen)
    if value in VERDICTS:
        return path, rng.choice(VERDICTS)
    if isinstance(value, str):
        names = [n for _, v in everything if isinstance(v, str) for n in TOKEN.findall(v)]
        return path, _text(rng, value, [n for n in names if n[0].isalpha()] or ["w"], texts)
    if isinstance(value, list):
        return path, _list(rng, value, texts)
    if isinstance(value, dict):
        return path, _dict(rng, value)
    others = (None, 0, 1, 2.5, "1", [], {}, True, rng.choice(texts))
    return path, rng.choice([*others, *([] if value is None else [value + 1, value - 1])])


def _text(rng, text, names, texts):
    kind, tokens = rng.random(), [*TOKEN.finditer(text)]
    if kind < 0.15:
        return rng.choice(texts)
    if kind < 0.4 or not tokens:
        return rng.choice(WRAPPED).replace("{}", text)
    found = rng.choice(tokens)
    old, (a, b) = found.group(), found.span()
    if old.isdigit():
        new = rng.choice([str(int(old) + 1), str(max(int(old) - 1, 0)), "0", f"({old}/2)"])
    else:
        same = next((kind for kind in ("+-", "*/", ("<", ">", "!="), CALLS) if old in kind), names)
        new = rng.choice(same)
    return text[:a] + new + text[b:]


def _list(rng, value, texts):
    some, kind = [*value], rng.randrange(5)
    if not some or kind == 0:
        return rng.choice([None, [], [rng.choice(texts)]])
    i, j = (rng.randrange(len(some)) for _ in range(2))
    if kind == 1:
        some.pop(i)
    elif kind == 2:
        some[i], some[j] = some[j], some[i]
    else:
        some.insert(j, copy.deepcopy(some[i]))
    return some


def _dict(rng, value):
    some, kind = dict(value), rng.randrange(4)
    if not some or kind == 0:
        return None
    i, j = (rng.choice([*some]) for _ in range(2))
    if kind == 1:
        some.pop(i)
    elif kind == 2:
        some[i], some[j] = some[j], some[i]
    else:
        some[f"{i}_"] = some.pop(i)
    return some


def accepted(record):
    """Return what is accepted of a record; None where it is refused."""
    try:
        return check(json.loads(json.dumps(record)))
    except (Rejected, NotACertificate):
        return None


SAME = ("sqrt(({})**2)", "abs({})", "exp(log({}))")  # where it is positive, which has to be so


def unwrapped(report, old, new):
    """Return a report in which a text that is the old one where that is positive is the old one."""
    if new not in [wrap.replace("{}", str(old)) for wrap in SAME]:
        return report
    theorem = [line.replace(new, f"({old})") for line in report.theorem]
    return Report(report.verdict, theorem, report.open)


def says_no_more(report, base, given):
    """Return why a theorem is more than another one is; "" where it is the same, or weaker.

    Each line is one of the other, or equal to one where it is a formula; or it is a law of the
    flow of F, which is differentiated in numbers, or another identity that fails, of the same
    verdict. Conditions may be added. *given* has F, its weights and the names of beta.
    """
    if {*report.open} - {*base.open}:
        return ""  # named as not certified
    if report.verdict != base.verdict:
        return f"{report.verdict} for {base.verdict}"
    said, known = conditions(report.theorem), [x for x in base.theorem if not is_condition(x)]
    lost = [c for c in conditions(base.theorem) - said if not any(equal(c, x) for x in said)]
    if lost and report.verdict == "PROVED":
        return f"without {sorted(lost)}"
    for line in report.theorem:
        kind, _, text = line.partition(": ")
        same = is_condition(line) or line in known or any(equal(line, x) for x in known)
        failing = kind in ("no hessian", "no warp") or line.startswith("w' = ")  # at this start too
        same = same or (report.verdict == "REFUTED" and failing)
        if not same and not (kind == "conserved" and is_law(text, given)):
            return line
    return ""


def is_law(text, given):
    """Tell whether <grad c, grad F_j> = 0, by differences at points in numbers."""
    weights = [w for w in given["weights"] if w not in given["idle"]]
    for seed in range(3):
        names = {*re.findall(r"[A-Za-z_]\w*", " ".join([text, *given["outputs"]]))} - {*KNOWN}
        at = {n: random.Random(f"{seed} {n}").uniform(0.4, 2.5) for n in names | {*weights}}
        at |= dict.fromkeys(given["idle"], 0.0)

        def slopes(f, at=at):
            ends = ([{**at, w: at[w] + h} for h in (1e-5, -1e-5)] for w in weights)
            values = ([eval(f, {}, {**KNOWN, **end}) for end in pair] for pair in ends)
            return [(up - down) / 2e-5 for up, down in values]

        c = slopes(text)
        size = max(map(abs, c), default=0.0)
        pairs = (zip(c, slopes(f), strict=True) for f in given["outputs"])
        if size == 0 or any(abs(sum(x * y for x, y in pair)) > 1e-6 * size for pair in pairs):
            return False
    return True


def is_condition(line):
    starts = ("assumed: ", "as long as ", "at least where ", "numbers that ", "the numerator of ")
    return line.startswith(starts)


def conditions(theorem):
    """Return the conditions of a theorem; that p keeps its sign is that it is not 0."""
    lines = [line for line in theorem if is_condition(line)]
    found = {part for line in lines if line[:7] == "assumed" for part in line[9:].split("; ")}
    found |= {line for line in lines if line[:8] == "at least"}
    found |= {line[26:] for line in lines if line[:10] == "as long as"}
    found = {re.sub(r" keeps its sign along the flow$", " != 0", text).strip() for text in found}
    found = {text.removesuffix(" along the flow") for text in found}
    return found | {f"{text[:-4]} != 0" for text in found if text.endswith((" > 0", " < 0"))}


KNOWN = {name: getattr(math, name, None) for name in (*CALLS, "cos", "sin", "cosh")}
KNOWN |= {"Abs": abs, "abs": abs, "log": lambda x: math.log(abs(x))}


def equal(line, other):
    """Tell whether two formulas are equal, where both are; y, R and Q up to constants."""
    warp = "(grad Q)' = -c g X^T r along the flow, c > 0 constant, with the warp g = "
    if line.startswith(warp) and other.startswith(warp):
        return _zeros(f"g: {line[len(warp) :]}", f"g: {other[len(warp) :]}")
    (f, _, wall), (g, _, same) = (x.partition(" = 0 where ") for x in (line, other))
    if wall:
        return wall == same and _zeros(f"0: {f}", f"0: {g}")
    starts = [x.partition("with w_0: ") for x in (line, other)]
    if starts[0][2] and starts[0][0] == starts[1][0]:
        pairs = zip(*(start.split(", ") for _, _, start in starts), strict=False)
        return all(x == y or equal(x, y) for x, y in pairs)
    (name, _, text), (own, _, old) = line.partition(" = "), other.partition(" = ")
    if is_condition(line) or line.endswith(("> 0", "!= 0")):
        (form, sign), (old, own) = (_condition(x) for x in (line, other))
        return sign == own and _zeros(f"c: {form}", f"c: {old}")
    if name.partition(":")[0] != own.partition(":")[0] or not old:
        return _zeros(line, other)
    some = [x for seed in range(12) if (x := _difference(text, old, seed)) is not None]
    if not some:
        return text.strip("-() ") == old.strip("-() ")
    constant = re.match(r"y\d+$|R$|Q\(|q\(", name)
    return max(some) - (min(some) if constant else 0) < 1e-9 and (constant or min(some) > -1e-9)


def _condition(text):
    """Return what a condition is about, and the rest of it."""
    form, relation = re.sub(r"^at least where ", "", text).rpartition(" ")[0].rpartition(" ")[::2]
    return form, f"{relation} {text.rpartition(' ')[2]}"


def _zeros(line, other):
    """Tell whether the same is kept, or is 0, up to a factor."""
    pairs = [text.partition(": ") for text in (line, other)]
    if pairs[0][0] != pairs[1][0] or not pairs[0][2]:
        return False
    values = [[_value(text, seed) for _, _, text in pairs] for seed in range(12)]
    ratios = [a / b for a, b in values if a is not None and b]
    return bool(ratios) and max(ratios) - min(ratios) < 1e-9


def _difference(text, other, seed):
    texts = (re.sub(r", at least .*|, sum_b .*| in the weights$", "", t) for t in (text, other))
    tables = [t.strip("[]").replace("; ", ", ") for t in texts]
    a, b = (_value(f"({t},)" if t.count(",") else t, seed) for t in tables)
    if isinstance(a, tuple) and isinstance(b, tuple) and len(a) == len(b):
        return max((abs(x - y) for x, y in zip(a, b, strict=True)), default=0.0)
    return a - b if isinstance(a, float) and isinstance(b, float) else None


def _value(text, seed):
    text = re.sub(r"<(\w+), (\w+)>", r"\1_\2", text.replace("q(s)", "q_s"))
    names = sorted({*re.findall(r"[A-Za-z_]\w*", text)})
    at = {n: random.Random(f"{seed} {n}").uniform(0.4, 2.5) for n in names if n not in KNOWN}
    try:
        found = eval(text, {"__builtins__": {}}, {**KNOWN, **at})
    except (ArithmeticError, ValueError, TypeError, SyntaxError, NameError):
        return None
    return float(found) if isinstance(found, int) else found
