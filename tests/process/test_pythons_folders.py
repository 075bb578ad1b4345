"""Python's own modules among the places where modules are looked for."""

from __future__ import annotations

import resource
import sqlite3
import sys
from pathlib import Path

from tfdbg_cli.process.pythons_folders import before_pythons, pythons_first


def _places_of_pythons() -> list[str]:
    """Where modules of Python's lie: one of its library, and one that is built, where that is a file."""
    files = [sqlite3.__file__.removesuffix("/__init__.py"), getattr(resource, "__file__", None)]
    return [str(Path(file).parent) for file in files if file is not None]


def test_what_stands_before_pythons_own_modules_hides_them() -> None:
    for place in _places_of_pythons():
        assert before_pythons(["/mine", "/of the path", place, "/packages"]) == ["/mine", "/of the path"]
    assert before_pythons(sys.path[sys.path.index(_places_of_pythons()[0]) :]) == []


def test_the_others_keep_their_order_behind_pythons_own() -> None:
    places = _places_of_pythons()
    assert pythons_first(["/b", *places, "/a"]) == [*places, "/b", "/a"]
