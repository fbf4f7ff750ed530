"""Figures of regularizers: what is drawn is data, one file ``entries/<id>.toml`` for each.

A file says which parameterizations are derived, at which starts, and which quantity is drawn::

    title = "Unit balls of Q as the start grows"
    caption = "..."
    kind = "ball"                    # or profile, levels, sweep, rate: see numerics.figures.data
    cite = ["Woodworth et al. (2020)"]

    [axes]                           # labels, scales, ranges, points

    [models.tied]                    # as one types it after `derive regularizer`
    outputs = ["p**2 - m**2"]
    start = "p=alpha,m=alpha"
    positive = "alpha"

    [[series]]                       # one curve, or one panel, for each combination of values
    model = "tied"
    quantity = "Q"                   # or R (explicit), or "limit" with symbol and to
    label = "$\\\\alpha = {alpha}$"
    values = { alpha = ["0.1", "1"] }

No code knows any figure by name.

>>> from numerics.figures import find
>>> find("diagonal-balls").kind
'ball'
"""

from numerics.figures.specification import Axes, Series, Specification, figures, find

__all__ = ["Axes", "Series", "Specification", "figures", "find"]
