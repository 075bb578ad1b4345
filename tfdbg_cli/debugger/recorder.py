"""Recording the runs of a program, every one or some of them, while it goes on."""

from __future__ import annotations

import atexit
import os
import shlex
import sys
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from tfdbg_cli.analysis.node_selection import NodeSelection
from tfdbg_cli.analysis.watch.kept_runs import values_size
from tfdbg_cli.capture.budget import disk_budget, memory_budget, share_of_disk
from tfdbg_cli.capture.state.held_values import in_memory
from tfdbg_cli.config.job import worker_of, workers_beside
from tfdbg_cli.config.settings import Settings
from tfdbg_cli.debugger.run_saving import reason_of
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.formats.container.background import BackgroundWriter
from tfdbg_cli.formats.container.run_rows import Selection
from tfdbg_cli.formats.container.writer import RecordingWriter
from tfdbg_cli.formats.jobs.root import folder_for, recording_beside
from tfdbg_cli.formats.recording.waiting import PATIENCE, answer, give_up
from tfdbg_cli.formats.recording.writing import size_text
from tfdbg_cli.model.calls import Call
from tfdbg_cli.model.decision import Continue, Full, RecordRuns, StopAtStart
from tfdbg_cli.model.names import node_of
from tfdbg_cli.model.runs import Run
from tfdbg_cli.model.tensors import Tensor
from tfdbg_cli.model.values import NoValue

_SHARE = 4  # of the memory for values, the part that runs may take that wait to be written


class Recorder:
    """The recording that is on, if there is one. Used by every thread whose runs are recorded."""

    def __init__(
        self,
        settings: Callable[[], Settings],
        say: Callable[[str], None] | None = None,
        patience: float = PATIENCE,
    ) -> None:
        """Make one for a program whose settings are told by `settings`; sentences for the person go to `say`.

        A file system that has not answered for `patience` seconds when a recording begins is waited for no longer.
        """
        self._settings = settings
        self._patience = patience
        self._say = say or _to_stderr
        self._lock = threading.Lock()
        self._beginning = threading.RLock()  # `begin` ends what was on before
        self._asked: RecordRuns | None = None
        self._awaited: RecordRuns | None = None  # begins with the first run of the process
        self._process = os.getpid()
        self._writer: BackgroundWriter | None = None
        self._counts: dict[object, int] = {}
        self._numbers: set[int] = set()
        self._reported = False
        self._failure_told = False
        self.unattended = False  # whether the program records and nothing else: nobody asked for a prompt
        self.on_change: Callable[[], None] = lambda: None
        self.before_end: Callable[[], None] = lambda: None

    @property
    def on(self) -> bool:
        """Whether runs are recorded."""
        recording = self._asked is not None and self._writer is not None and not self._writer.failed
        return recording or self._awaited is not None

    @property
    def statistics(self) -> NodeSelection | None:
        """Where statistics suffice, the nodes of which values are recorded all the same; None where they do not."""
        asked = self._asked or self._awaited
        return nodes_of(asked) if asked is not None and asked.stats_only else None

    def begin_with_first_run(self, asked: RecordRuns) -> None:
        """Begin with a recording when the first run does: a program may say until then which worker of a job it is.

        Raises:
            TfdbgError: the regex cannot be read.

        """
        selection_of(asked)
        self.end()
        self._awaited, self._process = asked, os.getpid()
        atexit.register(self.end)
        self.on_change()

    def _begin_awaited(self) -> None:
        """Begin with the recording that waits for the first run, if there is one; where it cannot, that is said."""
        if self._awaited is None:
            return
        with self._beginning:
            asked, self._awaited = self._awaited, None
            if asked is None or os.getpid() != self._process:  # one that was forked off records nothing
                return
            try:
                self.begin(asked)
            except TfdbgError as error:
                self._say(f"{error} Nothing is recorded; the program goes on.")
                self.on_change()

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
            TfdbgError: the regex cannot be read, nothing can be written there, or the file system does not answer.

        """
        selection = selection_of(asked)
        self._awaited = None
        self.end()
        path = Path(asked.path).expanduser().absolute()
        settings = settings or self._settings()
        worker = asked.worker or worker_of(os.environ)

        def made() -> tuple[RecordingWriter, int]:
            budget = asked.budget or _budget(settings, path, worker)
            folder, ring = folder_for(path, worker), asked.full is Full.DROP
            writer = RecordingWriter(folder, selection=selection, compressed=asked.compress, budget=budget, ring=ring)
            return writer, budget

        writer, budget = answer(made, lambda: give_up(path, self._patience), self._patience, _close)
        room = memory_budget(settings) // _SHARE
        with self._lock:
            self._counts.clear()
            self._numbers.clear()
            self._reported = self._failure_told = False
            self._writer = BackgroundWriter(writer, room, self._say)
            self._asked = replace(asked, path=str(path), worker=worker)
        atexit.register(self.end)
        then = "then the oldest runs give way" if asked.full is Full.DROP else "then no more is recorded"
        which = "Runs are" if asked.every == 1 else f"One run in {asked.every} is"
        among = f" as those of the worker {worker}" if worker else ""
        self._say(f"{which} recorded in {path}{among}, which may take {size_text(budget)}; {then}.")
        self.on_change()

    def settle(self) -> None:
        """Wait until all that was taken is written."""
        if self._writer is not None:
            self._writer.settle()

    def end(self) -> None:
        """Write what is still to be written, a run that is under way included, and say what there is."""
        self._begin_awaited()
        if self.on:
            self.before_end()
        with self._lock:
            asked, writer = self._asked, self._writer
            self._asked = self._writer = None
        if asked is None or writer is None:
            return
        atexit.unregister(self.end)
        self.on_change()
        missing = writer.close() + writer.left_out
        count = "1 run was" if writer.written == 1 else f"{writer.written:,} runs were"
        shown = f": `tfdbg open {shlex.quote(asked.path)}` shows what is there" if writer.kept else ""
        lost = f" {missing:,} more are missing: for a while nothing could be written there." if missing else ""
        self._say(f"{count} recorded in {asked.path}{shown}.{lost}")

    def wants(self, kind: object) -> bool:
        """Whether a run that begins now is to be recorded; runs of each `kind` are counted by themselves."""
        self._begin_awaited()
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

    def failed(self, run: Run) -> None:
        """Say that `run` failed where the prompt does not open on it, the first time that one did."""
        if self.on and not self._failure_told and run.error is not None:
            self._failure_told = True
            self._say(
                f"Run #{run.call.number} failed with {run.error.type_name}, which is recorded; the program gets the "
                "error. Of later ones nothing is said."
            )

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


def _budget(settings: Settings, path: Path, worker: str) -> int:
    """Bytes that a recording may take for which nobody said it."""
    if not worker:
        return disk_budget(settings, path)
    return share_of_disk(settings, path, workers_beside(os.environ), recording_beside(path, worker))


def _close(made: tuple[RecordingWriter, int]) -> None:
    """End a recording that nobody has waited for: it is there, without runs."""
    with suppress(TfdbgError):
        made[0].close()


def _to_stderr(sentence: str) -> None:
    if sys.stderr is not None and not sys.stderr.closed:
        print(f"tfdbg: {sentence}", file=sys.stderr, flush=True)


def selection_of(asked: RecordRuns) -> Selection | None:
    """Which tensors have their values recorded; None for all.

    Raises:
        TfdbgError: the regex cannot be read.

    """
    nodes = nodes_of(asked)
    nodes.check()
    if nodes == NodeSelection():
        return None

    def selected(run: Run) -> Callable[[Tensor], bool]:
        chosen = nodes.tester(run.graph)
        return lambda tensor: chosen(tensor.node)

    return selected


def nodes_of(asked: RecordRuns) -> NodeSelection:
    """The nodes whose values are recorded."""
    return NodeSelection(asked.only, asked.layer, none=asked.stats_only and not asked.only and not asked.layer)


def _kept(run: Run, statistics: NodeSelection | None) -> Run:
    """`run` as it is written later: nothing of it changes when the program goes on. Where `statistics` suffice, it is
    without what it was fed, but for nodes of which values are recorded.
    """
    run = in_memory(run)
    chosen = None if statistics is None else statistics.tester(run.graph)
    call = replace(run.call, feeds=_fed(run.call, chosen))
    return replace(run, call=call, what_if=None, frames=(), paused=None)


def _fed(call: Call, chosen: Callable[[str], bool] | None) -> Mapping[str, Any]:
    """What `call` was fed, for nodes that are `chosen` (None: all).

    A session is fed arrays of the program's own, which it may fill anew.
    """
    own = call.kind.of_session
    fed: dict[str, Any] = {}
    for name in call.feeds:
        if chosen is not None and not chosen(node_of(name)):
            fed[name] = None
            continue
        value = call.feeds[name]
        fed[name] = value.copy() if own and isinstance(value, np.ndarray) else value
        if isinstance(value, NoValue):
            fed[name] = None
    return fed
