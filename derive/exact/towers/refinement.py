"""The request for a finer unit, with which a tower is built again."""

from __future__ import annotations


class Refine(Exception):
    """A generator exists already with too coarse a unit: build again with a finer one."""

    def __init__(self, key: str, index: int) -> None:
        super().__init__(key)
        self.key, self.index = key, index
