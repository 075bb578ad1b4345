"""The files of the modules that this process has loaded."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from types import ModuleType
from typing import Any


def modules_with_files() -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The file of each module that is loaded, and its names; none is loaded further by that."""
    for module in list(sys.modules.values()):
        if issubclass(type(module), ModuleType):
            names = object.__getattribute__(module, "__dict__")
            file = names.get("__file__")
            if isinstance(file, str):
                yield file, names
