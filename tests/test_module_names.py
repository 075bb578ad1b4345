"""Modules of tests in folders that are no packages have one name each: pytest takes two for one, and runs neither."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

TESTS = Path(__file__).parent


def test_no_two_modules_of_tests_have_one_name() -> None:
    found: defaultdict[str, list[str]] = defaultdict(list)
    for path in TESTS.rglob("test_*.py"):
        if not (path.parent / "__init__.py").exists():
            found[path.name].append(str(path.relative_to(TESTS)))
    assert len(found) > 500
    assert {name: places for name, places in found.items() if len(places) > 1} == {}
