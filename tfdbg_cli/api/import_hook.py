"""Doing something right after a module was imported, without importing it first."""

from __future__ import annotations

import importlib.util
import sys
import threading
from collections.abc import Callable, Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType

from tfdbg_cli.api.watched_imports import WatchedLoader, WatchedPackages

PACKAGE = __name__.partition(".")[0]


def after_import(name: str, action: Callable[[], None], package: str = PACKAGE) -> None:
    """Call `action` once, as soon as the top-level module `name` is imported; at once if it already is.

    The import is not changed: the module is loaded by its own loader, which is also its `__loader__`.
    If modules of `package` are being imported at that moment, in any thread, `action` is put off until they are
    complete: it may need them, and blocking here could deadlock with a thread that itself waits for `name`.
    """
    if name in sys.modules:
        action()
    else:
        package_imports = _PackageImports(package)
        sys.meta_path[:0] = [_Finder(name, action, package_imports), package_imports]


class _PackageImports(WatchedPackages):
    """Counts the imports of a package's modules that are in progress, and puts off an action until there is none."""

    def __init__(self, package: str) -> None:
        super().__init__((package,), lambda _: self._one_begins(), lambda _: self._one_ends())
        self._lock = threading.Lock()
        self._under_way = 0  # of all threads
        self._waiting: Callable[[], None] | None = None

    def when_complete(self, action: Callable[[], None]) -> None:
        """Call `action` when no import of the package is under way, in the thread that ends the last one."""
        with self._lock:
            if self._under_way:
                self._waiting = action
                return
        action()

    def _one_begins(self) -> None:
        with self._lock:
            self._under_way += 1

    def _one_ends(self) -> None:
        with self._lock:
            self._under_way -= 1
            action = None if self._under_way else self._waiting
            if action is not None:
                self._waiting = None
        if action is not None:
            action()


class _Finder(MetaPathFinder):
    """Finds one module by way of the other finders, and calls the action after its loader has executed it."""

    def __init__(self, name: str, action: Callable[[], None], package_imports: _PackageImports) -> None:
        self._name = name
        self._action = action
        self._package_imports = package_imports
        self._asking = False

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """The spec of the one module; None for any other."""
        if fullname != self._name or self._asking:
            return None
        self._asking = True
        try:
            spec = importlib.util.find_spec(fullname)
        finally:
            self._asking = False
        if spec is None or spec.loader is None:
            return None
        spec.loader = WatchedLoader(spec, spec.loader, lambda _: None, self._ends)
        return spec

    def _ends(self, loaded: bool) -> None:
        if loaded and self in sys.meta_path:
            sys.meta_path.remove(self)
            sys.meta_path.remove(self._package_imports)
            self._package_imports.when_complete(self._action)
