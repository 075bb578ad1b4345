"""How long a person waits after a captured run: from its last op to the first screen, and to its rows' health."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import urwid
import urwid.testing

from bench import gpt
from bench.goals import Goals, Wait
from tfdbg_cli.analysis.watch.filters import BUILT_IN_FILTERS
from tfdbg_cli.capture.functions.definition.own_names import original_names
from tfdbg_cli.capture.tf import compat
from tfdbg_cli.collection import COLLECTOR
from tfdbg_cli.commands.standard import standard_registry
from tfdbg_cli.commands.typed_commands import History
from tfdbg_cli.commands.views.opening import opening_command
from tfdbg_cli.config.settings import Settings
from tfdbg_cli.debugger.debugger import Debugger
from tfdbg_cli.model.decision import DebugRun, Decision
from tfdbg_cli.model.runs import RunEnd, Stop
from tfdbg_cli.tui.app import App
from tfdbg_cli.tui.frontend import load_first_screen

_GOAL = 0.1  # seconds to the first screen
_HEALTH_GOAL = 0.15  # to the health of all its rows


def _now() -> tuple[float, float]:
    """The time, and how long this process has had a processor so far."""
    return time.perf_counter(), time.process_time()


class _Draws(urwid.testing.ScriptedScreen):  # type: ignore[misc]
    """A screen without keys that notes when it was drawn, and ends the loop once it shows all that is wanted."""

    def __init__(self, size: tuple[int, int], complete: Callable[[], bool]) -> None:
        super().__init__(size=size)
        self._complete = complete
        self.drawn: list[tuple[float, float]] = []

    def hook_event_loop(self, *arguments: Any) -> None:
        """No keys come, so there is nothing to end with them."""

    def draw_screen(self, *arguments: Any) -> None:
        super().draw_screen(*arguments)
        if threading.current_thread() is threading.main_thread():  # another draws that work goes on
            self.drawn.append(_now())
            if self._complete():
                raise urwid.ExitMainLoop


class _Drawing:
    """A front end that draws the screen of every captured run until its rows have their health.

    It notes when the first frame was there, and when the last one was.
    """

    failures = 0
    broken = False

    def __init__(self, size: tuple[int, int]) -> None:
        self.settings = Settings()
        self.registry = standard_registry()
        self.drawn: list[tuple[tuple[float, float], tuple[float, float]]] = []
        self.tensors = 0
        self.text = ""
        self._size = size

    def stop(self, event: Stop) -> Decision:
        if isinstance(event, RunEnd):
            screen = _Draws(self._size, lambda: not app.state.page.late.running)
            app = App(event, self.registry, self.settings, BUILT_IN_FILTERS, History(()), opening_command(event))
            with COLLECTOR.seldom():  # as TuiFrontend does
                app.run(screen)
            self.drawn.append((screen.drawn[0], screen.drawn[-1]))
            self.tensors = len(event.run.tensors)
            self.text = "\n".join(screen.last_text)
        return DebugRun()

    def notify(self, message: str) -> None: ...


@contextmanager
def _ends_of_runs() -> Iterator[list[tuple[float, float]]]:
    """The times at which captured functions ended."""
    ended: list[tuple[float, float]] = []
    original = compat.run_function

    def timed(name: str, *arguments: Any, **options: Any) -> Any:
        try:
            return original(name, *arguments, **options)
        finally:
            if original_names(name) != name:  # other calls read variables
                ended.append(_now())

    compat.run_function = timed
    try:
        yield ended
    finally:
        compat.run_function = original


def waits(step: Callable[[], Any], size: tuple[int, int], rounds: int) -> tuple[list[tuple[Wait, Wait]], _Drawing]:
    """For each of `rounds` captured steps the wait from its end to its screen, and to the health of its rows.

    With them comes what drew them.
    """
    from tfdbg_cli.capture.intercept.all_functions import intercept_all_functions

    step()
    load_first_screen()  # a program has that done beside its beginning
    front = _Drawing(size)
    found: list[tuple[Wait, Wait]] = []
    with _ends_of_runs() as ended:
        undo = intercept_all_functions(Debugger(lambda: front))
        try:
            for _ in range(rounds):
                step()
                first, last = (Wait(seconds - ended[-1][0], used - ended[-1][1]) for seconds, used in front.drawn[-1])
                found.append((first, last))
        finally:
            undo()
    return found, front


def measure(rounds: int) -> None:
    """Measure small screens of a GPT step, and print."""
    goals = Goals("From the end of a captured run to its screen, 80x24")
    _measure(goals, "GPT step", gpt.build_step(), (80, 24), rounds)
    goals.close()


def measure_deep_model(rounds: int) -> None:
    """Measure small and large screens of a deep Keras model, and print."""
    from bench import deep_model

    goals = Goals("From the end of a captured step of a Keras 3 model to its screen")
    step = deep_model.build_step()
    for size in ((80, 24), (200, 60)):
        _measure(goals, f"{size[0]}x{size[1]}", step, size, rounds)
    goals.close()


def _measure(goals: Goals, what: str, step: Callable[[], Any], size: tuple[int, int], rounds: int) -> None:
    """Add the rows of `size`: the first stop of a debugger prepares much of what the later ones find prepared."""
    found, front = waits(step, size, max(5, rounds))
    what = f"{what}, {front.tensors:,} tensors"
    for name, some in (("the first stop", found[:1]), ("each further one", found[1:])):
        firsts, healthy = zip(*some, strict=True)
        goals.add(f"{what}: {name}, the screen", firsts, _GOAL)
        goals.add(f"{what}: {name}, with the health of its rows", healthy, _HEALTH_GOAL)
