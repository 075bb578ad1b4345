"""Modules of which the program's folder has others by the same names: tfdbg goes on with those that it means.

Most modules of tfdbg's are loaded when they are needed, with the program's folder first where Python looks. A file
`resource.py` of the program's would be executed then, and taken for Python's own.
"""

from __future__ import annotations

import builtins
import sys
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from importlib import import_module
from importlib.machinery import PathFinder
from types import ModuleType
from typing import Any

from tfdbg_cli.api.watched_imports import WatchedPackages
from tfdbg_cli.process.pythons_folders import before_pythons, pythons_first

# What the modules of these packages import of Python's, but for what the start of `tfdbg run` loads and TensorFlow
# loads, too. A test finds what is missing here.
PACKAGES = ("tfdbg_cli", "urwid", "wcwidth", "pygments", "tomlkit")
PYTHONS = (
    "array", "asyncio", "base64", "codeop", "concurrent.futures.thread", "contextvars", "csv", "ctypes", "difflib",
    "email.message", "fcntl", "glob", "heapq", "hmac", "html", "locale", "logging", "mmap", "numbers", "pdb",
    "platform", "pprint", "pty", "queue", "readline", "resource", "secrets", "select", "selectors", "signal",
    "socket", "sqlite3", "subprocess", "symtable", "sysconfig", "termios", "textwrap", "tomllib", "traceback",
    "tty", "unicodedata", "uuid",
)  # fmt: skip
OTHERS = ("pygments.lexers.python", "tomlkit", "urwid", "urwid.util", "wcwidth")  # that TensorFlow does without


def keep_shadowed(entries: Sequence[str], others: Sequence[str]) -> None:
    """Have tfdbg's modules import what they mean once `entries`, the program's folder, stand before `others`.

    The program gets its own. Where it has none of these names, as nearly always, nothing is done.
    """
    hiding = [*entries, *before_pythons(others)]
    names = [name for name in PYTHONS if _found(name, hiding)]
    names += [name for name in OTHERS if _found(name, entries)]  # of which others on PYTHONPATH are meant
    if names:
        kept = _Kept(vars(builtins).copy())
        sys.meta_path.insert(0, WatchedPackages(PACKAGES, kept.give_to, lambda _: None))
        kept.load(names, pythons_first(others), hiding)


def _found(name: str, places: Sequence[str]) -> bool:
    """Whether one of `places` has a module or package of the name; a folder without `__init__.py` hides none."""
    spec = PathFinder.find_spec(_top(name), places)
    return spec is not None and spec.loader is not None


def _top(name: str) -> str:
    return name.partition(".")[0]


@dataclass(frozen=True)
class _Kept:
    """Modules that stand in no `sys.modules`: the `__import__` of `given` knows them, and some modules go by that."""

    given: dict[str, Any]  # Python's builtins, but for that one
    modules: dict[str, ModuleType] = field(default_factory=dict)

    def load(self, names: Sequence[str], places: Sequence[str], hiding: Sequence[str]) -> None:
        """Import `names` from `places`; of what this loads the program does not see what `hiding` has others of."""
        wanted = {_top(name) for name in names}
        before, path = {name for name in sys.modules if _top(name) not in wanted}, sys.path[:]
        sys.path[:] = places
        try:
            for name in names:
                with suppress(ImportError):  # not every Python has readline, nor every installation pygments
                    import_module(name)
        finally:
            sys.path[:] = path
        loaded = set(sys.modules) - before
        hidden = {top for top in set(map(_top, loaded)) if _found(top, hiding)}
        self.modules.update((name, sys.modules.pop(name)) for name in loaded if _top(name) in hidden)
        self.given["__import__"] = self._import

    def give_to(self, module: ModuleType) -> None:
        """Have the import statements of `module`, whose code is not executed yet, find these modules."""
        vars(module)["__builtins__"] = self.given

    def _import(
        self, name: str, given: Any = None, local: Any = None, wanted: Any = (), level: int = 0
    ) -> ModuleType:
        """As `__import__`: the module, or the package that it is in where nothing is `wanted` of it."""
        if level or name not in self.modules:
            return builtins.__import__(name, given, local, wanted, level)
        return self.modules[name if wanted else _top(name)]
