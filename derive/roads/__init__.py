"""Other roads to the same Q, walked to their end and compared with the main one.

The main road solves for dual coordinates in weight space (:mod:`derive.weights.dual`). The
published one (Azulay et al. 2021, eq. (10)-(12)) writes down the form of Q(beta) and solves
Hess Q = g rho for its unknown functions. The dual road (Li, Wang, Lee, Arora 2022, section 4)
follows commuting fields. None of them needs a result of another.
"""

from derive.roads.ansatz import Ansatz
from derive.roads.compare import compare_decisions, compare_roads
from derive.roads.dual_time import COMMUTING_TIME, follow_dual_time
from derive.roads.find import Road, ask_road, find_roads
from derive.roads.published import PublishedRoad, follow_published

__all__ = [
    "COMMUTING_TIME",
    "Ansatz",
    "PublishedRoad",
    "Road",
    "ask_road",
    "compare_decisions",
    "compare_roads",
    "find_roads",
    "follow_dual_time",
    "follow_published",
]
