"""The published models as data: what was printed, and where; deriving it is left to the program.

To add a model, add one file ``entries/<id>.toml``; to remove it, delete that file.

>>> from derive.catalogue import find
>>> find("tied-pair").outputs
('p**2 - m**2',)
"""

from derive.catalogue.entry import Entry, Printed
from derive.catalogue.library import bibtex, entries, find

__all__ = ["Entry", "Printed", "bibtex", "entries", "find"]
