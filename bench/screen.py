"""How long a person waits after a captured run: from its last op to the first screen, drawn at 80 by 24."""

from __future__ import annotations

import statistics
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import urwid
import urwid.testing

from bench import gpt
from tfdbg_cli.analysis.watch.filters import BUILT_IN_FILTERS
from tfdbg_cli.capture.functions.rewrite import original_names
from tfdbg_cli.capture.tf import compat
from tfdbg_cli.commands.standard import standard_registry
from tfdbg_cli.commands.typed_commands import History
from tfdbg_cli.commands.views.opening import opening_command
from tfdbg_cli.config.settings import Settings
from tfdbg_cli.debugger.debugger import Debugger
from tfdbg_cli.model.decision import DebugRun, Decision
from tfdbg_cli.model.runs import RunEnd, Stop
from tfdbg_cli.tui.app import App

GOAL = 0.1  # seconds, for 2000 tensors
_SIZE = (80, 24)


class _FirstDraw(urwid.testing.ScriptedScreen):  # type: ignore[misc]
    """A screen that ends the loop once it has been drawn."""

    drawn = 0.0

    def draw_screen(self, *arguments: Any) -> None:
        super().draw_screen(*arguments)
        self.drawn = time.perf_counter()
        raise urwid.ExitMainLoop


class _Drawing:
    """A front end that draws the screen of every captured run, and notes when it was there."""

    def __init__(self) -> None:
        self.settings = Settings()
        self.registry = standard_registry()
        self.drawn: list[float] = []
        self.tensors = 0
        self.text = ""

    def stop(self, event: Stop) -> Decision:
        if isinstance(event, RunEnd):
            screen = _FirstDraw(size=_SIZE, inputs=[])
            App(event, self.registry, self.settings, BUILT_IN_FILTERS, History(()), opening_command(event)).run(
                screen
            )
            self.drawn.append(screen.drawn)
            self.tensors = len(event.run.tensors)
            self.text = "\n".join(screen.last_text)
        return DebugRun()

    def notify(self, message: str) -> None: ...


@contextmanager
def _ends_of_runs() -> Iterator[list[float]]:
    """The times at which captured functions ended."""
    ended: list[float] = []
    original = compat.run_function

    def timed(name: str, *arguments: Any) -> Any:
        try:
            return original(name, *arguments)
        finally:
            if original_names(name) != name:  # other calls read variables
                ended.append(time.perf_counter())

    compat.run_function = timed
    try:
        yield ended
    finally:
        compat.run_function = original


def waits(rounds: int) -> tuple[list[float], _Drawing]:
    """Seconds from the end of a captured GPT step to its screen, for each of `rounds` steps, and what drew them."""
    from tfdbg_cli.capture.intercept.all_functions import intercept_all_functions

    step = gpt.build_step()
    step()
    front = _Drawing()
    found: list[float] = []
    with _ends_of_runs() as ended:
        undo = intercept_all_functions(Debugger(lambda: front))
        try:
            for _ in range(rounds):
                step()
                found.append(front.drawn[-1] - ended[-1])
        finally:
            undo()
    return found, front


def measure(rounds: int) -> None:
    """Measure and print."""
    found, front = waits(max(5, rounds // 2))
    print(f"\nFrom the end of a captured run of {front.tensors} tensors to its first screen, 80x24")
    print(f"  {'the first one':<44} {found[0] * 1e3:>10.1f} ms  goal ≤ {GOAL * 1e3:.0f} ms")
    print(f"  {'each further one':<44} {statistics.median(found[1:]) * 1e3:>10.1f} ms")
