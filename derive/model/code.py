"""The code that makes a model, by which it is shown."""

from __future__ import annotations

from derive.language import to_text
from derive.language.tree import Name, exponent_names, names
from derive.model.exact_map import ExactMap
from derive.model.names import positive_bases
from derive.model.rates import positive_rates, rate_parameters

LONGEST = 200
"""Characters of the code that stands for a model where it is shown."""


def code_of(p: ExactMap) -> str:
    """Return the code that makes a map and its start; its size where that is too long."""
    makes = "Parameterization.parse" if p.vectors else "Parameterization"
    affine = [(left_out.label, to_text(left_out.tree)) for left_out in p.affine]
    outputs = sorted((*zip(p.labels, p.texts, strict=True), *affine))
    given = "".join(f", {name}={value}" for name, value in _ingredients(p).items() if value)
    code = f"{makes}({[text for _, text in outputs]}{given})"
    return code if len(code) < LONGEST else f"<Parameterization R^{p.p} -> R^{p.d}>"


def _ingredients(p: ExactMap) -> dict[str, list[str] | dict[str, str] | dict[str, str | list[str]]]:
    """Return what does not follow from the outputs."""
    vectors = {v.norm: v.name for v in p.vectors}
    appearing = tuple(name for name in names(p.trees) if name not in p.parameters)
    starts = ((w, to_text(tree)) for w, tree in p.start if tree != Name(f"{w}_0"))
    implied = {*exponent_names(p.trees), *names(p.geometry.trees)}
    rates = zip(p.weights, p.geometry.texts, strict=False)
    return {
        "weights": [] if vectors or appearing == p.weights else list(p.weights),
        "start": {vectors.get(w, w): text for w, text in starts},
        "positive": _declared_positive(p),
        "parameters": [name for name in p.parameters if name not in implied],
        "vectors": list(vectors.values()),
        "rates": {vectors.get(w, w): rate for w, rate in rates if rate != "1"},
    }


def _declared_positive(p: ExactMap) -> list[str]:
    """Return the names that are positive, and not because others are or F needs them to be."""
    implied = {
        *rate_parameters(p.geometry, p.weights),
        *positive_rates(p.geometry),
        *(v.norm for v in p.vectors),
        *positive_bases(p.trees, p.weights),
    }
    implied |= {x.name for w, x in p.start if w in p.positive and isinstance(x, Name)}
    return [name for name in p.positive if name not in implied]
