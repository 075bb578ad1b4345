"""Recording the runs of a program, every one or some of them, while it goes on."""

from __future__ import annotations

import atexit
import re
import shlex
import sys
import threading
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from tfdbg_cli.analysis.layers import layers_of
from tfdbg_cli.analysis.watch.kept_runs import values_size
from tfdbg_cli.capture.budget import disk_budget, memory_budget
from tfdbg_cli.capture.state.held_values import in_memory
from tfdbg_cli.config.settings import Settings
from tfdbg_cli.debugger.run_saving import reason_of
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.formats.container.background import BackgroundWriter
from tfdbg_cli.formats.container.run_rows import Selection
from tfdbg_cli.formats.container.writer import RecordingWriter
from tfdbg_cli.formats.recording.writing import size_text
from tfdbg_cli.model.calls import Call, RunKind
from tfdbg_cli.model.decision import Continue, Full, RecordRuns, StopAtStart
from tfdbg_cli.model.runs import Run
from tfdbg_cli.model.tensors import Tensor
from tfdbg_cli.model.values import NoValue

_SHARE = 4  # of the memory for values, the part that runs may take that wait to be written


class Recorder:
    """The recording that is on, if there is one. Used by every thread whose runs are recorded."""

    def __init__(self, settings: Callable[[], Settings], say: Callable[[str], None] | None = None) -> None:
        """Make one for a program whose settings are told by `settings`; sentences for the person go to `say`."""
        self._settings = settings
        self._say = say or _to_stderr
        self._lock = threading.Lock()
        self._asked: RecordRuns | None = None
        self._writer: BackgroundWriter | None = None
        self._counts: dict[object, int] = {}
        self._numbers: set[int] = set()
        self._reported = False
        self.on_change: Callable[[], None] = lambda: None
        self.before_end: Callable[[], None] = lambda: None

    @property
    def on(self) -> bool:
        """Whether runs are recorded."""
        return self._asked is not None and self._writer is not None and not self._writer.failed

    @property
    def statistics(self) -> bool:
        """Whether statistics alone are recorded."""
        asked = self._asked
        return asked is not None and asked.stats_only

    def begun(self, asked: RecordRuns, settings: Settings) -> Continue | StopAtStart:
        """Begin with a recording, and how the program goes on: it stops again where that cannot be done."""
        try:
            self.begin(asked, settings)
        except TfdbgError as error:
            self._say(str(error))  # where nobody is at a prompt, nobody sees the note
            return StopAtStart((str(error),))
        return Continue()

    def begin(self, asked: RecordRuns, settings: Settings | None = None) -> None:
        """Begin with a recording; one that is on ends. `settings` are those that hold where it was asked for.

        Raises:
            TfdbgError: the regex cannot be read, or nothing can be written there.

        """
        selection = selection_of(asked)
        self.end()
        path = Path(asked.path).expanduser().absolute()
        settings = settings or self._settings()
        budget = asked.budget or disk_budget(settings, path)
        writer = RecordingWriter(
            path,
            selection=selection,
            compressed=asked.compress,
            budget=budget,
            ring=asked.full is Full.DROP,
        )
        room = memory_budget(settings) // _SHARE
        with self._lock:
            self._counts.clear()
            self._numbers.clear()
            self._reported = False
            self._writer = BackgroundWriter(writer, room, self._say)
            self._asked = replace(asked, path=str(path))
        atexit.register(self.end)
        then = "then the oldest runs give way" if asked.full is Full.DROP else "then no more is recorded"
        which = "Runs are" if asked.every == 1 else f"One run in {asked.every} is"
        self._say(f"{which} recorded in {path}, which may take {size_text(budget)}; {then}.")
        self.on_change()

    def settle(self) -> None:
        """Wait until all that was taken is written."""
        if self._writer is not None:
            self._writer.settle()

    def end(self) -> None:
        """Write what is still to be written, a run that is under way included, and say what there is."""
        if self.on:
            self.before_end()
        with self._lock:
            asked, writer = self._asked, self._writer
            self._asked = self._writer = None
        if asked is None or writer is None:
            return
        atexit.unregister(self.end)
        self.on_change()
        writer.close()
        count = "1 run was" if writer.written == 1 else f"{writer.written:,} runs were"
        shown = f": `tfdbg open {shlex.quote(asked.path)}` shows what is there" if writer.written else ""
        self._say(f"{count} recorded in {asked.path}{shown}.")

    def wants(self, kind: object) -> bool:
        """Whether a run that begins now is to be recorded; runs of each `kind` are counted by themselves."""
        asked = self._asked
        if asked is None or not self.on:
            return False
        with self._lock:
            count = self._counts[kind] = self._counts.get(kind, -1) + 1
        return count % asked.every == 0

    def take(self, run: Run) -> None:
        """Have `run` written. Whatever fails is said once, and the program goes on."""
        writer = self._writer
        if writer is None:
            return
        try:
            kept = self._numbered(_kept(run, self.statistics))
            writer.add(kept, values_size(kept))
        except Exception as error:  # noqa: BLE001
            self.missed(f"Run #{run.call.number} was not recorded: {reason_of(error)}")

    def _numbered(self, run: Run) -> Run:
        """`run` with a number of its own: sessions that a program wraps count their runs by themselves."""
        with self._lock:
            number = run.call.number
            if number in self._numbers:
                number = max(self._numbers) + 1
            self._numbers.add(number)
        return run if number == run.call.number else replace(run, call=replace(run.call, number=number))

    def missed(self, sentence: str) -> None:
        """Say why a run is not in the recording, the first time that one is not."""
        if not self._reported:
            self._reported = True
            self._say(sentence)


def _to_stderr(sentence: str) -> None:
    if sys.stderr is not None and not sys.stderr.closed:
        print(f"tfdbg: {sentence}", file=sys.stderr, flush=True)


def selection_of(asked: RecordRuns) -> Selection | None:
    """Which tensors have their values recorded; None for all.

    Raises:
        TfdbgError: the regex cannot be read.

    """
    if asked.stats_only:
        return lambda run: lambda tensor: False
    if not asked.only and not asked.layer:
        return None
    try:
        pattern = re.compile(asked.only)
    except re.error as error:
        raise TfdbgError(f"Cannot read the regex {asked.only!r}: {error}.") from None

    def selected(run: Run) -> Callable[[Tensor], bool]:
        within = _within(run, asked.layer)
        return lambda tensor: bool(pattern.search(tensor.node)) and within(tensor.node)

    return selected


def _within(run: Run, layer: str) -> Callable[[str], bool]:
    if not layer:
        return lambda node: True
    layers = layers_of(run.graph)
    try:
        return layers.tester(layers.resolve(layer))
    except TfdbgError:
        return lambda node: False  # a run of other code has no such layer


def _kept(run: Run, statistics: bool) -> Run:
    """`run` as it is written later: nothing of it changes when the program goes on; without what it was fed, if only
    `statistics` are recorded.
    """
    run = in_memory(run)
    call = replace(run.call, feeds=dict.fromkeys(run.call.feeds) if statistics else _fed(run.call))
    return replace(run, call=call, what_if=None, frames=(), paused=None)


def _fed(call: Call) -> Mapping[str, Any]:
    """What `call` was fed. A session is fed arrays of the program's own, which it may fill anew."""
    own = call.kind in {RunKind.SESSION, RunKind.CALLABLE}
    fed: dict[str, Any] = {}
    for name in call.feeds:
        value = call.feeds[name]
        fed[name] = value.copy() if own and isinstance(value, np.ndarray) else value
        if isinstance(value, NoValue):
            fed[name] = None
    return fed
