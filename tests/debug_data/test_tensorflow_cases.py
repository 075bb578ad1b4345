"""TensorFlow's own cases for its debugger, with our classes in the place of its own."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from support.launched import python

pytestmark = pytest.mark.tf


def test_every_case_of_tensorflow_holds_for_our_classes() -> None:
    """All apply, none is left out. The process is one of version 1, where the cases do not skip themselves."""
    pytest.importorskip("tensorflow.python.debug.lib.session_debug_testlib")
    done = python(Path(__file__).parents[1] / "support" / "tensorflow_cases.py")
    assert done.returncode == 0, done.stderr
    outcomes = json.loads(done.stdout.splitlines()[-1])
    assert {name: text for name, text in outcomes.items() if text != "ok"} == {}
    assert len(outcomes) >= 34
