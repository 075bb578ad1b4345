"""The garbage collector is not missed while a screen is up."""

from __future__ import annotations

import gc

from support import sample_run
from support.screen import Driven

from tfdbg_cli.commands.standard import standard_registry

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
