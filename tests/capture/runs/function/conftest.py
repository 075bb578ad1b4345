"""Calls of functions in a process of many tests, some of which left threads behind."""

from __future__ import annotations

import pytest

from tfdbg_cli.capture.state.writing_threads import WRITING_THREADS


@pytest.fixture(autouse=True)
def _no_threads_of_other_tests(monkeypatch: pytest.MonkeyPatch) -> None:
    """No thread of another test counts as one that may write variables."""
    monkeypatch.setattr(WRITING_THREADS, "_begun", {})
