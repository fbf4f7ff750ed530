"""Where Q lives: its ends as exact functions of the start, and what of it is not decided."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from sympy import Expr, Symbol

Undecided: TypeAlias = Literal["kernel", "leaf", "length", "curve", "smooth", "rates", "beyond"]
"""What is not decided of a domain; UNDECIDED says it in words."""

Convexity: TypeAlias = Literal[
    "slope", "rank", "metric", "warp", "warp proved", "warp assumed", "length"
]
"""Why Q is convex on its domain; CONVEX says it in words."""

UNDECIDED: dict[Undecided, str] = {
    "kernel": "the interval around $beta_0$ on which $K$ is positive and finite",
    "leaf": "the $beta$ that the leaf of $w_0$ reaches while $J$ has full rank",
    "length": (
        "the $beta$ whose length $s$ is in the interval around $s_0$ on which "
        "$R = |grad s|^2$ is positive and finite"
    ),
    "curve": "the $beta$ that the interval of $z$ gives",
    "smooth": "as far as $F$ is smooth",
    "rates": "as far as the learning rates of the weights are positive and finite",
    "beyond": "what is reached beyond is not decided",
}
CONVEX: dict[Convexity, str] = {
    "slope": "there $Q'' = 1/K > 0$, so $Q$ is strictly convex",
    "rank": (
        "$J$ has full rank above it and $Hess Q = g rho$ is positive definite, so $Q$ is "
        "strictly convex"
    ),
    "metric": "$Hess Q = rho$ is positive definite there",
    "warp": "$Hess Q = g rho$ is positive definite there",
    "warp proved": (
        "$Hess Q = g rho$ is positive definite there, and $g > 0$ along the flow is proved"
    ),
    "warp assumed": (
        "$Hess Q = g rho$ is positive definite there, and $g > 0$ along the flow is assumed (below)"
    ),
    "length": (
        "there $Hess Q = g rho$ is positive definite, so $Q$ is strictly convex on every convex "
        "part"
    ),
}


@dataclass(frozen=True)
class Wall:
    """A function of beta that keeps, where Q lives, the sign that it has at beta_0.

    Attributes:
        form: linear in beta (in s, for a vector of open dimension), over the start symbols.
        oriented: it is proved to be positive at beta_0; else its sign depends on the start.
        vanishing: a function of the weights that is 0 where the form is: a base of a power, or a
            denominator, at which F is no longer smooth; None for K or det K, which is 0 or
            infinite.
    """

    form: Expr
    oriented: bool
    vanishing: Expr | None = None

    def end(self, beta: Symbol) -> Expr:
        """Return the beta of a single output at which the form is 0."""
        return -self.form.subs(beta, 0) / self.form.diff(beta)


@dataclass(frozen=True)
class Domain:
    """The open set of beta that gradient flow from w_0 reaches, whatever the data are.

    Q lives on the beta at which every wall has the sign that it has at beta_0: an intersection of
    open half-spaces, which is convex, or for one output an interval. Nothing beyond a wall is
    reached, unless ``undecided`` has ``beyond``.

    Attributes:
        betas: the coordinates of the block; the length s for a vector of open dimension.
        convex: why Q is strictly convex there.
        walls: its ends; none and nothing undecided: all of R^d.
        undecided: what further limits it may have, that are not written in beta:
            ``kernel``, the zeros and poles of K(beta), which depend on a K that is not factored;
            ``leaf``, what the leaf of w_0 covers while J has full rank;
            ``length``, the same for the length s;
            ``curve``, the images of the ends of ``interval``;
            ``smooth``, points where F is not smooth;
            ``rates``, where learning rates are 0 or infinite;
            ``beyond``, whether the walls are ends: up to them all is reached.
        unless: functions of the start that are taken not to be 0.
        interval: of the parametric form beta = h(z), the name z and its open interval.
    """

    betas: tuple[Symbol, ...]
    convex: Convexity
    walls: tuple[Wall, ...] = ()
    undecided: tuple[Undecided, ...] = ()
    unless: tuple[Expr, ...] = ()
    interval: tuple[Symbol, Expr, Expr] | None = None

    @property
    def exact(self) -> bool:
        """Whether the walls are all its ends."""
        return not self.undecided

    @property
    def words(self) -> str:
        """The domain in words, formulas in backticks, or between dollars where they are ours."""
        return f"{self.where}; {CONVEX[self.convex]}"

    @property
    def where(self) -> str:
        """The ends in words, what is not decided of them, and from which starts they are others."""
        walls = " and ".join(f"`{wall.form} > 0`" for wall in self.walls)
        walls = walls if len(self.betas) > 1 else self._interval()
        wholes = [u for u in self.undecided if u not in ("smooth", "rates", "beyond")]
        parts = [UNDECIDED[u] for u in wholes]
        if walls or not wholes:
            parts.append(walls or "all real $beta$")
        parts += [UNDECIDED[u] for u in self.undecided if u not in wholes]
        z = "z" if self.interval is None else self.interval[0]
        whole = ", ".join(parts).replace("$z$", f"`{z}`")
        whole = whole.replace("$s$", f"`{self.betas[0]}`").replace("$s_0$", f"`{self.betas[0]}_0`")
        unless = " or ".join(f"`{c} = 0`" for c in self.unless)
        return f"{whole} unless {unless}" if unless else whole

    def _interval(self) -> str:
        """Return the ends of one coordinate: ``low < beta < high``, or the sides of points."""
        (beta,) = self.betas
        low, high = self.bounds
        parts = []
        if low and high:
            parts.append(f"`{low[0]} < {beta} < {high[0]}`")
            low, high = low[1:], high[1:]
        parts += [f"`{beta} > {end}`" for end in low] + [f"`{beta} < {end}`" for end in high]
        open_ = [f"`{wall.end(beta)}`" for wall in self.walls if not wall.oriented]
        if open_:
            listed = " and ".join([", ".join(open_[:-1]), open_[-1]] if open_[1:] else open_)
            parts.append(f"the `{beta}` on the same side of {listed} as `beta_0`")
        return " and ".join(parts)

    @property
    def bounds(self) -> tuple[tuple[Expr, ...], tuple[Expr, ...]]:
        """Of one coordinate the ends below beta_0, and those above, as far as that is known."""
        (beta,) = self.betas
        low, high = (
            tuple(w.end(beta) for w in self.walls if w.oriented and w.form.diff(beta) == sign)
            for sign in (1, -1)
        )
        return low, high
