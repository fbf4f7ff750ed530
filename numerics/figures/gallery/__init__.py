"""The gallery: functions, each of which derives the displays of one figure.

The first paragraph of a docstring is the title, the second the caption; the paragraphs after these
say where the like was printed. The id of a figure is the name of its function.

>>> find("diagonal-balls").cite
('Woodworth et al. (2020): Q_alpha and its limits in alpha',)
"""

from __future__ import annotations

import ast
import importlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from derive.folder import find_record

if TYPE_CHECKING:
    from numerics.figures.display import Display


@dataclass(frozen=True, slots=True)
class Published:
    """A figure: what is said of it, and what derives its panels."""

    id: str
    title: str
    caption: str
    cite: tuple[str, ...]
    panels: Callable[..., list[Display]]


@cache
def figures() -> tuple[Published, ...]:
    """Return all figures, by id, without the algebra that it takes to derive them."""
    scripts = Path(__file__).parent.glob("[!_]*.py")
    return tuple(sorted(chain(*map(_read, scripts)), key=lambda figure: figure.id))


def find(name: str) -> Published:
    """Return the figure of that id; InputError, which names the nearest, where there is none."""
    return find_record(figures(), name, "figure", "`derive figure` lists them")


def _read(script: Path) -> Iterator[Published]:
    for node in ast.parse(script.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.FunctionDef) and not node.name.startswith("_"):
            texts = (ast.get_docstring(node) or "").split("\n\n")
            title, caption, *cite = (" ".join(text.split()).removesuffix(".") for text in texts)
            places = tuple(place.removeprefix("See ") for place in cite)
            panels = _panels(f"{__name__}.{script.stem}", node.name)
            yield Published(node.name.replace("_", "-"), title, f"{caption}.", places, panels)


def _panels(module: str, name: str) -> Callable[..., list[Display]]:
    def panels(**sizes: object) -> list[Display]:
        found: list[Display] = getattr(importlib.import_module(module), name)(**sizes)
        return found

    return panels
