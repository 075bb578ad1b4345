"""The garbage collector is not missed while a screen is up, and takes what is left of it at once."""

from __future__ import annotations

import gc
import weakref

import pytest
from support import sample_run
from support.screen import Driven

from tfdbg_cli.collection import count_as_old
from tfdbg_cli.commands.standard import standard_registry
from tfdbg_cli.config.settings import Settings
from tfdbg_cli.model.decision import Continue, Decision, StepOn
from tfdbg_cli.model.runs import Stop
from tfdbg_cli.tui.frontend import TuiFrontend

_SIZE = 200, 60
_MOVES = ["j", "j", "k", "page down", "page up", "G", "g", "j", "k"] * 10


def test_frames_leave_nothing_that_refers_to_itself() -> None:
    app = Driven(sample_run.run_end(), "jjkk", size=_SIZE, registry=standard_registry()).app

    def press(keys: list[str]) -> None:
        for key in keys:
            app.key(key)
            app.view.render(_SIZE)

    press(_MOVES)
    gc.collect()
    was_on = gc.isenabled()
    gc.disable()
    try:
        press(_MOVES)
        assert gc.collect() < len(_MOVES)
    finally:
        if was_on:
            gc.enable()


class _Screen:
    """It refers to itself, and holds what was looked at."""

    def __init__(self, event: Stop) -> None:
        self.itself, self.event = self, event


@pytest.mark.parametrize(
    ("decision", "on", "gone"), [(Continue(), True, True), (Continue(), False, False), (StepOn(), True, False)]
)
def test_a_screen_that_is_left_goes_at_once_but_between_steps_and_where_the_program_collects_nothing(
    monkeypatch: pytest.MonkeyPatch, decision: Decision, *, on: bool, gone: bool
) -> None:
    left: list[weakref.ref[_Screen]] = []

    def show(self: TuiFrontend, event: Stop) -> Decision:
        left.append(weakref.ref(_Screen(event)))
        count_as_old()
        return decision

    monkeypatch.setattr(TuiFrontend, "_stop", show)
    was_on = gc.isenabled()
    (gc.enable if on else gc.disable)()
    try:
        TuiFrontend(standard_registry(), Settings(), {}).stop(sample_run.run_end())
        assert (left[0]() is None) is gone
    finally:
        (gc.enable if was_on else gc.disable)()
