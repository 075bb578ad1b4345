"""A front end whose decisions are written beforehand, for tests of the debugger."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from tfdbg_cli.config.settings import Settings
from tfdbg_cli.model.decision import Continue, Decision
from tfdbg_cli.model.runs import RunEnd, RunStart, Stop
from tfdbg_cli.model.tensors import MemoryTensorStore


def _held(event: Stop) -> Stop:
    """`event` with its tensors in memory, since their files are deleted when the stop is left."""
    if not isinstance(event, RunEnd):
        return event
    store = event.run.tensors
    rows = range(len(store))
    held = MemoryTensorStore([store[row] for row in rows], [store.value(row) for row in rows])
    return replace(event, run=replace(event.run, tensors=held))


class ScriptedFrontend:
    """Answers each stop with the next of `script`: a decision, or what makes one of the event; then goes on."""

    failures = 0
    broken = False

    def __init__(self, *script: Decision | Callable[[Stop], Decision], settings: Settings | None = None) -> None:
        self.script = list(script)
        self.settings = settings or Settings()
        self.stops: list[Stop] = []
        self.said: list[str] = []

    def stop(self, event: Stop) -> Decision:
        event = _held(event)
        self.stops.append(event)
        step = self.script.pop(0) if self.script else Continue()
        return step(event) if callable(step) else step

    def notify(self, message: str) -> None:
        self.said.append(message)

    @property
    def ends(self) -> list[RunEnd]:
        return [stop for stop in self.stops if isinstance(stop, RunEnd)]

    @property
    def path(self) -> list[str]:
        """The stops in short: `start 1`, `end 3`."""
        return [
            f"start {stop.call.number}" if isinstance(stop, RunStart) else f"end {stop.run.call.number}"
            for stop in self.stops
        ]
