"""Imports that are watched while they happen: the modules are found and loaded as ever, by their own loaders."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType


class WatchedPackages(MetaPathFinder):
    """Calls `begins(module)` before the code of each module of some packages, and `ends(loaded)` after it.

    It sees what is imported while it stands in `sys.meta_path`.
    """

    def __init__(
        self, packages: Sequence[str], begins: Callable[[ModuleType], None], ends: Callable[[bool], None]
    ) -> None:
        self._packages = frozenset(packages)
        self._begins = begins
        self._ends = ends

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """The spec of a module of the packages, as the other finders have it; None for any other."""
        if fullname.partition(".")[0] not in self._packages:
            return None
        for finder in sys.meta_path[sys.meta_path.index(self) + 1 :] if self in sys.meta_path else ():
            spec = finder.find_spec(fullname, path, target)
            if spec is not None:
                if spec.loader is not None:
                    spec.loader = WatchedLoader(spec, spec.loader, self._begins, self._ends)
                return spec
        return None


class WatchedLoader(Loader):
    """Wraps a loader: calls `begins` before and `ends(loaded)` after a module's code, which does not see it."""

    def __init__(
        self,
        spec: ModuleSpec,
        loader: Loader,
        begins: Callable[[ModuleType], None],
        ends: Callable[[bool], None],
    ) -> None:
        self._spec = spec
        self._loader = loader
        self._begins = begins
        self._ends = ends

    def __getattr__(self, name: str) -> object:
        """Hand on the optional loader methods: `python -m` needs `get_code`, importlib.resources the readers."""
        return getattr(self._loader, name)

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        """The module as its own loader makes it; None where Python is to make it."""
        return self._loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        """Execute the code of `module` by its own loader, which it names from then on."""
        self._spec.loader = self._loader
        module.__loader__ = self._loader
        loaded = False
        self._begins(module)
        try:
            self._loader.exec_module(module)
            loaded = True
        finally:
            self._ends(loaded)
