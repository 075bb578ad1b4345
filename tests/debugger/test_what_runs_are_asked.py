"""What the watch that is on asks of runs, which each op that runs eagerly is told without a call."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from support.scripted import ScriptedFrontend

from tfdbg_cli.debugger.debugger import Debugger
from tfdbg_cli.model.decision import RunUntil


def test_runs_are_asked_what_the_watch_asks_now(monkeypatch: pytest.MonkeyPatch) -> None:
    debugger = Debugger(ScriptedFrontend)
    assert debugger.watched is None
    debugger.set_watch(RunUntil("has_inf_or_nan"))
    watching = debugger.active_watch
    assert watching is not None
    assert debugger.watched is watching.watched
    less = replace(watching.watched, ignored=frozenset({("", "log")}))

    def leaves_out(_run: Any) -> None:
        watching.watched = less

    monkeypatch.setattr(watching, "sees", leaves_out)
    debugger._watch.hit(watching, Any)  # type: ignore[arg-type]  # any run
    assert debugger.watched is less
    debugger.end_watch()
    assert debugger.watched is None
