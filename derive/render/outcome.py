"""A verdict that had no time for more, told, and as a JSON record."""

from __future__ import annotations

from collections.abc import Iterator

from derive.model.labels import taken_names
from derive.outcome import CUT, HEADLINES, Outcome
from derive.render.labels import unmark
from derive.render.narration import Narration, part
from derive.statement import Text, each, note, tell
from derive.verdict import Identity


def tell_outcome(o: Outcome) -> Narration:
    """Return what is said of a verdict: F, why, and that there is more."""
    given = part(HEADLINES[o.verdict], (o.parameterization,))
    why = part("Implicit regularizer `Q`", _why(o), verdict=o.verdict)
    rest = part("The rest", (note(CUT),))
    return Narration((given, why, rest), taken_names(o.parameterization))


def _why(o: Outcome) -> Iterator[object]:
    yield o.finding if o.potential is None else o.potential
    if o.failure is not None:
        yield from _fails(o.failure)


def _fails(e: Identity) -> Iterator[object]:
    """Yield the identity that fails, and by how much at which weights."""
    at = each("`{0} = {1}`", ((Text(name), value) for name, value in e.point))
    along = ", differentiated along the flow," if e.derivative else ""
    identity = Text(f"`{unmark(e.statement)}`", "note")
    yield tell("needed: {identity}", identity=identity)
    yield tell(f"the left side less the right{along} is `{{by}}` at {{at}}", by=e.residual, at=at)
