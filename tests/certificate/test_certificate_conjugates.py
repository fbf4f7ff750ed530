"""What a conjugate shows of a + b sqrt(A): nothing where the norm a^2 - b^2 A is 0."""

from derive.certificate.checking.signs import Conditions
from derive.certificate.checking.space import Space


def space_of_root(argument):
    space = Space(["w"], ["c"], 3)
    space.w0 = [space.names["c"]]
    space.start = space.started({"c": "3"})
    space.define({"name": "r", "of": f"sqrt({argument})"})
    return space


def test_a_factor_is_given_by_its_norm():
    """w - sqrt(2) is not 0 where w^2 - 2 is not, and needs that."""
    space = space_of_root("2")
    p = space.read("c - r").top
    assert not Conditions(space)._is_given(p)
    assert Conditions(space, ["c**2 - 2 != 0"])._is_given(p)
    assert not Conditions(space, ["c**2 - 5 != 0"])._is_given(p)
    quotient = space.quotient(space.read("w**2 - 2"), space.read("w - r").top)
    assert quotient.same(space.read("w + r"))


def test_a_norm_of_zero_shows_nothing():
    """c - sqrt(c^2) is 0, as c > 0."""
    space = space_of_root("c**2")
    p = space.read("c - r").top
    assert [*space.conjugates(p)] == []
    assert not Conditions(space)._is_given(p)
