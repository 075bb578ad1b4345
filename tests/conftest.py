"""Shared by every test: the folder of sample data on the path, and a home of its own for each test."""

from __future__ import annotations

import gc
import os
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

# TensorFlow takes kernels from oneDNN or not by what the CPU can do. One answer everywhere makes tests repeatable: op
# types and last digits differ. `TF_ENABLE_ONEDNN_OPTS=1 make test` tests with them; what a test then leaves out, and
# why, stands where it asks `one_dnn.ON`.
os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "0")

# The programs that tests start use the tfdbg beside these tests, whichever is installed.
_ROOT = str(Path(__file__).parent.parent)
os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [_ROOT, os.environ.get("PYTHONPATH")]))


def pytest_collection_finish() -> None:
    """Have the garbage collector pass over TensorFlow and the tests themselves, millions of objects that stay."""
    gc.collect()
    gc.freeze()


@pytest.fixture(autouse=True)
def _own_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No test reads or writes the settings of the person who runs it."""
    home = tmp_path / "home"
    monkeypatch.setenv("HOME", str(home))
    for name in ("XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME", "NO_COLOR", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)
