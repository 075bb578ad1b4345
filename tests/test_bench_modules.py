"""What measures is run by hand: what it needs of the package is there all the same."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

import pytest

pytestmark = pytest.mark.tf
_MODULES = sorted(path.stem for path in (Path(__file__).parents[1] / "bench").glob("[a-z]*.py"))


@pytest.mark.parametrize("name", _MODULES)
def test_a_module_of_the_benchmarks_finds_what_it_imports(name: str) -> None:
    assert import_module(f"bench.{name}").__doc__
