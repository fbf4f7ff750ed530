"""The three records of Q: what each has of its own, and how their expressions are rewritten."""

import pickle

import pytest
import sympy

from derive import Parameterization
from derive.potential.piece import KINDS, Curve, Explicit, Parametric, Quadrature, Root, kernel_of
from tests.published import derive_once

MODELS = {"w**3": Explicit, "p**3 - m**3": Parametric, "w + w**5": Quadrature}
OF_KIND = {
    "explicit": ["w**3", "u**2*v**2"],
    "parametric": ["p**3 - m**3", "w**2 + w**3"],
    "algebraic": ["w + w**3"],
    "quadrature": ["w + w**5", "u**2*v"],
}


def of(*outputs):
    (piece,) = derive_once(Parameterization.parse(outputs)).potential.pieces
    return piece


def test_kinds_go_from_the_most_to_the_least_explicit():
    assert tuple(OF_KIND) == KINDS


@pytest.mark.parametrize(("kind", "outputs"), OF_KIND.items())
def test_the_kind_is_what_the_form_uses(kind, outputs):
    assert {of(output).kind for output in outputs} == {kind}


@pytest.mark.parametrize("output", MODELS)
def test_each_kind_is_a_record_of_its_own(output):
    piece = of(output)
    assert type(piece) is MODELS[output]
    assert pickle.loads(pickle.dumps(piece)) == piece
    assert hash(pickle.loads(pickle.dumps(piece))) == hash(piece)
    assert (kernel_of(piece) is None) is isinstance(piece, Parametric)


def test_only_a_parametric_form_needs_a_curve():
    assert not hasattr(Explicit, "curve")
    assert Quadrature((), sympy.S.Zero, ()).curve is None
    with pytest.raises(TypeError):
        Parametric((), sympy.S.Zero, ())


@pytest.mark.parametrize("outputs", [("w**3",), ("p**3 - m**3",), ("w + w**5",), ("u1/a", "u2/a")])
def test_a_rewriting_reaches_every_expression(outputs):
    """Start symbols are renamed everywhere, and back; names and proofs stay."""
    piece = of(*outputs)
    numbers = {f"{w}_0": sympy.Symbol(f"moved_{w}", real=True) for w in ("w", "p", "m", "a", "u1")}

    def there(e):
        return e.xreplace({s: numbers[s.name] for s in e.free_symbols if s.name in numbers})

    def remaining(x):
        if isinstance(x, sympy.Basic):
            return {s.name for s in x.free_symbols} & set(numbers)
        if isinstance(x, Root | Curve):
            return remaining(tuple(vars(x).values()))
        return set().union(*map(remaining, x)) if isinstance(x, tuple) else set()

    assert remaining(tuple(vars(piece).values()))
    moved = piece.mapped(there)
    assert type(moved) is type(piece)
    assert not remaining(tuple(vars(moved).values()))
    assert (moved.betas, moved.evidence) == (piece.betas, piece.evidence)
