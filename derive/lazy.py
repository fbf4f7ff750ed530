"""Packages that import a name when it is asked for: SymPy takes a third of a second."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Mapping
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


def make_lazy(package: str, modules: Mapping[str, str]) -> None:
    """Let a package import each name from its module when it is first used."""
    sys.modules[package].__dict__["__lazy__"] = modules
    sys.modules[package].__class__ = LazyPackage
