"""Libraries that tests need beside TensorFlow, and that there may not yet be for a new one.

`make test-matrix` says in TFDBG_TESTS_WITHOUT which it found none of. Their tests are skipped there; anywhere else a
library that is missing is an error, so that no test is left out unseen.
"""

from __future__ import annotations

import importlib
import os
from typing import Any

import pytest

WITHOUT = frozenset(os.environ.get("TFDBG_TESTS_WITHOUT", "").split())


def require(name: str) -> None:
    """Skip the test where the environment was set up without this library."""
    if name in WITHOUT:
        pytest.skip(f"there is no {name} for this TensorFlow (TFDBG_TESTS_WITHOUT)")


def library(name: str) -> Any:
    """The module of that name, or the test is skipped, as by `require`."""
    require(name)
    return importlib.import_module(name)
