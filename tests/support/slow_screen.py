"""The whole screen without a terminal and without a clock: a test says when work between two keys goes on."""

from __future__ import annotations

from typing import Any

from support import sample_run
from support.screen import Driven
from tfdbg_cli.commands.standard import standard_registry
from tfdbg_cli.model.runs import Stop

_REGISTRY = standard_registry()


class _Loop:
    """An event loop that calls nobody: the test says when work goes on."""

    def __init__(self, screen: Any) -> None:
        self.screen = screen

    def set_alarm_in(self, seconds: float, callback: Any) -> object:
        return callback

    def remove_alarm(self, alarm: object) -> bool:
        return True


class Slow:
    """The screen of a stop on which no work is done within a key: `step` does one step between two."""

    def __init__(self, opening: str = "lt", stop: Stop | None = None, size: tuple[int, int] = (120, 30)) -> None:
        shown = stop or sample_run.run_end()
        self.driven = Driven(shown, "", size=size, opening=opening, registry=_REGISTRY)
        self.app = self.driven.app
        self.size = size
        self.app.at_once = 0.0
        self.app.loop = _Loop(self.app.loop)  # type: ignore[assignment]
        self.state = self.app.state

    def press(self, *keys: str) -> None:
        for key in keys:
            self.app.key(key)

    def step(self, further: int = 0) -> None:
        """One step of what is most wanted, and `further` ones."""
        enough = iter([False] * further)
        self.app._between_keys._look(lambda: next(enough, True))

    def rest(self) -> None:
        """Go on until nothing is left to do, saying what goes wrong."""
        while next(self.app._between_keys._tasks(), None) is not None:
            self.app._guarded("looking", lambda: self.step(3))

    def finish(self) -> int:
        """Go on until there is nothing pending; how many steps it took."""
        steps = 0
        while self.state.pending is not None:
            self.step()
            steps += 1
            assert steps < 1000
        return steps

    @property
    def status(self) -> str:
        return "\n".join(row.decode() for row in self.app.view.render(self.size).text)
