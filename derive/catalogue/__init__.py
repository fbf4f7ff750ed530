"""The published models as data: what was printed, and where; deriving it is left to the program.

To add a model, add one file ``entries/<id>.toml``; to remove it, delete that file. A file gives F
and the start as one types them after ``derive regularizer``, the verdict that is expected, keys
of ``sources.bib``, and any number of formulas as they were printed::

    title = "Squares (exponentiated gradient)"
    outputs = ["w**2"]
    start = "w=alpha"            # optional, as are positive, vector, matrix, parameter
    positive = "alpha"
    verdict = "PROVED"
    assumptions = "beta > 0"     # optional, in words
    cite = ["amid2020"]

    [[printed]]
    kind = "mirror potential"    # what it is a formula of: see derive.catalogue.audit.formula_kinds
    text = ["beta*log(beta)"]    # its components
    where = { e = "exp(1)" }     # optional: names that the text uses
    place = "Theorem 1"
    cite = "amid2020"
    read = "memory"              # page: typeset; text: as extracted, at hand; memory: of the paper
    quote = 'F(w) = ...'         # the whole passage, where it is not what is derived
    instance = "one output"      # optional: what the model is of what is printed

No code knows any model by name.

>>> from derive.catalogue import find
>>> find("tied-pair").outputs
('p**2 - m**2',)
"""

from derive.catalogue.library import Entry, Printed, entries, find
from derive.sources import bibtex

__all__ = ["Entry", "Printed", "bibtex", "entries", "find"]
