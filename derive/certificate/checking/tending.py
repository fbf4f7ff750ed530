"""What a limit is said to be: Q or its gradient, N, its shape, regime and degree."""

from __future__ import annotations

from itertools import combinations

from derive.certificate.checking.function import Function
from derive.certificate.checking.near import LOG, SMALL, Near
from derive.certificate.checking.text import JSON, names_in, require
from derive.certificate.checking.theorem import dot


class Tending:
    """A limit that is printed: its coordinates, N, and G where these have signs."""

    def __init__(self, said: JSON, space: Near, sign: int) -> None:
        self.said, self.space, d = said, space, len(said["coordinates"])
        variable, constants = said["limit"].partition(" ")[0], {*space.given[d:]} - {SMALL, LOG}
        forms = [*said["gradient"], *([said["Q"]] if said["Q"] is not None else [])]
        plain = names_in(forms) <= {*said["coordinates"], *constants} - {variable}
        sizes = [text for text in (said["unit"], said["relative_error"]) if text is not None]
        require(
            plain and names_in(sizes) <= constants, "a limit has a name that it should not have"
        )
        require((said["Q"] is None) == (said["degree"] is None), "a limit without Q has no degree")
        self.x, self.N = space.symbols[:d], space.read(said["unit"])
        self.Q = None if said["Q"] is None else space.read(said["Q"])
        self.G = [space.read(text) for text in said["gradient"]] if sign > 0 else []
        if self.Q is not None:
            slopes = [self.Q.derivative(k) for k in range(d)]
            pairs = zip(slopes, self.G, strict=True) if self.G else ()
            require(all((a - b).is_zero() for a, b in pairs), "G is another than grad Q")
            self.G = slopes
        require(len(self.G) == d, "the gradient of the limit is not given")
        space.positive(self.N, "N")

    def is_named(self, K: list[list[Function]], single: bool) -> None:
        """Require the shape, the regime and the degree that are said."""
        said, slopes = self.said, [[g.derivative(k) for k, _ in enumerate(self.x)] for g in self.G]
        shape = self.shape([s for row in slopes for s in row], single)
        regime = {"l1": "rich", "l2": "anti-NTK"}.get(shape, "intermediate")
        if shape == "linear":
            round_ = self.is_radial() and self.is_homogeneous(slopes, "2")
            shape = "l2" if round_ else "quadratic"
            regime = "kernel" if self.is_kernel(K, slopes) else "intermediate"
        shape = "other" if self.Q is None else shape
        same = [said["shape"], said["regime"]] == [shape, regime]
        require(same, f"the limit is {shape} and {regime}, not {said['shape']}, {said['regime']}")
        degree = said["degree"]
        same = degree is None or self.is_homogeneous(slopes, degree)
        require(same or shape == "quadratic", "Q is not homogeneous of this degree")

    def shape(self, slopes: list[Function], single: bool) -> str:
        """Return what the gradient shows: linear, an l1 or l2 norm, or a power."""
        among = range(len(self.x))
        outward = all(
            g.at(self.space.start) * x > 0 for g, x in zip(self.G, self.space.start, strict=False)
        )
        if all(s.is_zero() for s in slopes):
            return "l1" if single and outward else "power"
        if all(s.derivative(k).is_zero() for s in slopes for k in among):
            return "linear"
        return "l2" if not single and outward and self.is_radial() else "power"

    def is_radial(self) -> bool:
        """Tell whether G is along x."""
        pairs = combinations(zip(self.x, self.G, strict=True), 2)
        return all((x * h - y * g).is_zero() for (x, g), (y, h) in pairs)

    def is_homogeneous(self, slopes: list[list[Function]], degree: str) -> bool:
        """Tell whether Euler's identity holds for G, of a degree that is one less."""
        q = self.space.read(degree) - self.space.number(1)
        pairs = (
            (dot(self.x, row, self.space.number(0)), g)
            for row, g in zip(slopes, self.G, strict=True)
        )
        return all((moved - q * g).is_zero() for moved, g in pairs)

    def is_kernel(self, K: list[list[Function]], slopes: list[list[Function]]) -> bool:
        """Tell whether K(w_0) G' tends to a multiple of the identity, up to scale."""
        require(K, "K at the start is not known")
        d, space = range(len(K)), self.space
        zero, columns = space.number(0), [*zip(*slopes, strict=True)]
        table = [[dot(row, column, zero) for column in columns] for row in K]
        ratios = ((space.limit(table[i][j] / table[0][0]), i == j) for i in d for j in d)
        return all((r - space.number(same)).is_zero() for r, same in ratios)
