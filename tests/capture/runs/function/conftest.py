"""Calls of functions in a process of many tests, some of which left threads behind; what `origin` says of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from support.prompt import json_of, text_of

from tfdbg_cli.capture.state.writing_threads import WRITING_THREADS
from tfdbg_cli.model.decision import RunUntil


@pytest.fixture(autouse=True)
def _no_threads_of_other_tests(monkeypatch: pytest.MonkeyPatch) -> None:
    """No thread of another test counts as one that may write variables."""
    monkeypatch.setattr(WRITING_THREADS, "_begun", {})


@pytest.fixture
def origin(watched: Callable[..., Any]) -> Callable[..., dict[str, Any]]:
    """Calls a function under a watch: what `origin` says of the first bad run as JSON; empty where none was bad."""

    def find(function: Callable[..., Any], *given: Any, until: str = "has_inf_or_nan") -> dict[str, Any]:
        with watched(RunUntil(until)) as front:
            function(*given)
        if not front.ends:
            return {}
        command = "origin --nan" if until == "has_nan" else "origin"
        return {**json_of(command, front.ends[0]), "screen": text_of(command, front.ends[0], width=None)}

    return find
