"""The gallery: scripts that derive what published figures show, as ``captions.toml`` says.

>>> find("diagonal-balls").cite
('Woodworth et al. (2020): Q_alpha and its limits in alpha',)
"""

from __future__ import annotations

import importlib
import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING

from derive.folder import find_record

if TYPE_CHECKING:
    from numerics.figures.display import Display


@dataclass(frozen=True, slots=True)
class Published:
    """A figure: what is said of it, where the like was printed, and what derives its panels."""

    id: str
    title: str
    caption: str
    cite: tuple[str, ...]
    panels: Callable[..., list[Display]]


@cache
def figures() -> tuple[Published, ...]:
    """Return all figures, by id."""
    tables = tomllib.loads((Path(__file__).parent / "captions.toml").read_text(encoding="utf-8"))
    found = [
        Published(
            name, said["title"], said["caption"], tuple(said["cite"]), partial(_run, kind, name)
        )
        for kind, table in tables.items()
        for name, said in table.items()
    ]
    return tuple(sorted(found, key=lambda figure: figure.id))


def find(name: str) -> Published:
    """Return the figure of that id; InputError, which names the nearest, where there is none."""
    return find_record(figures(), name, "figure", "`derive figure` lists them")


def _run(kind: str, name: str, **sizes: object) -> list[Display]:
    """Run a script with its own sizes, or others; the algebra is imported now."""
    script = getattr(importlib.import_module(f"{__name__}.{kind}"), name.replace("-", "_"))
    panels: list[Display] = script(**sizes)
    return panels
