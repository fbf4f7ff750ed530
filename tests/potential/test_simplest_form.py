"""Of the true forms that are found, the simplest is printed."""

from __future__ import annotations

import pytest

from derive import Parameterization, derive


@pytest.mark.parametrize("d", [7, 16])
def test_a_neuron_has_its_radial_form_in_many_components(d: int) -> None:
    found = derive(Parameterization.parse([f"a*u{i}" for i in range(d)]))
    assert found.potential.kind == "explicit"
    assert len(found.conserved.laws) == 1
    assert all(law.as_poly().total_degree() == 2 for law in found.conserved.laws)
    # In the directions of beta, Q is a function of |beta| beside its linear term.
    (piece,) = found.potential.pieces
    assert len(piece.roots) == (1 if d == 7 else 2)
