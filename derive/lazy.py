"""Packages that import a name when it is asked for: SymPy takes a third of a second."""

from __future__ import annotations

import ast
import importlib
import pkgutil
import sys
from collections.abc import Mapping
from itertools import chain
from types import ModuleType


class LazyPackage(ModuleType):
    """A package that finds names in its modules; a room of the same name takes none's place."""

    __lazy__: Mapping[str, str]

    def __getattr__(self, name: str) -> object:
        if name not in self.__lazy__:
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        return getattr(importlib.import_module(self.__lazy__[name]), name)

    def __dir__(self) -> list[str]:
        """Return the public names, imported or not."""
        return sorted({*self.__dict__["__all__"], "__doc__", "__name__"})

    def __setattr__(self, name: str, value: object) -> None:
        if not (isinstance(value, ModuleType) and name in self.__lazy__):
            super().__setattr__(name, value)


def make_lazy(package: str) -> None:
    """Let a package import each name when it is first used, as it imports it for types alone."""
    module = sys.modules[package]
    source = pkgutil.get_data(package, "__init__.py") or b""
    blocks = (node.body for node in ast.parse(source).body if isinstance(node, ast.If))
    imports = (x for x in chain(*blocks) if isinstance(x, ast.ImportFrom))
    module.__dict__["__lazy__"] = {name.name: str(x.module) for x in imports for name in x.names}
    module.__class__ = LazyPackage
