"""The library that files are compiled with, and the page that says what to read of it."""

from __future__ import annotations

from importlib.resources import files

TEXTS = ("Mirror.v", "Radial.v", "REFEREE.md")
PROJECT = '-Q . ""\nMirror.v\nRadial.v\n'


def library() -> dict[str, str]:
    """Return the files of the library by name: Mirror.v, Radial.v, _CoqProject, and REFEREE.md."""
    room = files("derive.rocq")
    texts = {name: (room / name).read_text(encoding="utf-8") for name in TEXTS}
    return {**texts, "_CoqProject": PROJECT}
