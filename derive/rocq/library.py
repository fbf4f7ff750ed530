"""The library that files are compiled with, and the page that says what to read of it."""

from __future__ import annotations

from importlib.resources import files

PROJECT = '-Q . ""\nMirror.v\n'


def library() -> dict[str, str]:
    """Return the files of the library by name: Mirror.v, _CoqProject, and REFEREE.md."""
    room = files("derive.rocq")
    texts = {name: (room / name).read_text(encoding="utf-8") for name in ("Mirror.v", "REFEREE.md")}
    return {**texts, "_CoqProject": PROJECT}
