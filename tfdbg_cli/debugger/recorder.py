"""Recording the runs of a program, every one or some of them, while it goes on."""

from __future__ import annotations

import os
import shlex
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from tfdbg_cli.analysis.layers.node_selection import NodeSelection
from tfdbg_cli.analysis.watch.kept_runs import values_size
from tfdbg_cli.capture.budget import disk_budget, memory_budget, share_of_disk
from tfdbg_cli.config.job import worker_of, workers_beside
from tfdbg_cli.config.settings import Settings
from tfdbg_cli.debugger.one_in_many import OneInMany
from tfdbg_cli.debugger.recorded_part import lasting_copy, named, nodes_of, selection_of
from tfdbg_cli.debugger.unique_numbers import UniqueNumbers
from tfdbg_cli.errors import TfdbgError, reason_of
from tfdbg_cli.formats.container.background import BackgroundWriter
from tfdbg_cli.formats.container.run_rows import Selection
from tfdbg_cli.formats.container.writer import RecordingWriter
from tfdbg_cli.formats.jobs.root import folder_for, recording_beside
from tfdbg_cli.formats.recording.waiting import PATIENCE, answer, give_up
from tfdbg_cli.model.decision import Continue, Full, RecordRuns, StopAtStart
from tfdbg_cli.model.runs import Run
from tfdbg_cli.model.tensors import Tensor
from tfdbg_cli.model.units import bytes_text
from tfdbg_cli.process.interruptions import our_errors
from tfdbg_cli.process.liveness import has_ended
from tfdbg_cli.process.program_end import at_the_end, not_at_the_end
from tfdbg_cli.process.streams import to_stderr

_SHARE = 4  # runs that wait to be written may take a quarter of the memory budget


class Recorder:
    """The recording that is on, if there is one. Used by every thread whose runs are recorded."""

    def __init__(
        self,
        settings: Callable[[], Settings],
        say: Callable[[str], None] | None = None,
        patience: float = PATIENCE,
    ) -> None:
        """Make one; `settings()` gives the current settings, and `say` (by default standard error) gets messages.

        `begin` gives up on a file system that does not answer within `patience` seconds.
        """
        self._settings = settings
        self._patience = patience
        self._say = say or to_stderr
        self._lock = threading.RLock()  # again by a signal handler that runs what is recorded
        self._beginning = threading.RLock()  # `begin` ends what was on before
        self._asked: RecordRuns | None = None
        self._awaited: RecordRuns | None = None  # begins with the first run of the process
        self._begins = False  # whether that recording begins right now
        self._process = os.getpid()
        self._writer: BackgroundWriter | None = None
        self._which = OneInMany(1)
        self._numbers = UniqueNumbers()
        self._selected = False  # whether the value of some tensor is among those that are asked for
        self._reported = False
        self._failure_told = False
        self.taken = 0  # runs of the recording that is on
        self.unattended = False  # whether the program records and nothing else: nobody asked for a prompt
        self.on_change: Callable[[], None] = lambda: None
        self.before_end: Callable[[], None] = lambda: None

    @property
    def on(self) -> bool:
        """Whether runs are recorded."""
        return self._records or self._awaited is not None or self._begins

    @property
    def asked(self) -> RecordRuns | None:
        """What the recording that has begun was asked for: another object for each; None where none is on."""
        return self._asked

    @property
    def _records(self) -> bool:
        return self._asked is not None and self._writer is not None and not self._writer.failed

    @property
    def statistics(self) -> NodeSelection | None:
        """With `stats_only`, the nodes of which values are recorded nevertheless; else None."""
        asked = self._asked or self._awaited
        return nodes_of(asked) if asked is not None and asked.stats_only else None

    @property
    def takes_some(self) -> bool:
        """Whether runs are left between those that are recorded."""
        asked = self._asked or self._awaited
        return asked is not None and asked.every > 1

    def begin_with_first_run(self, asked: RecordRuns, process: int | None = None) -> None:
        """Begin the recording at the first run: until then the program may set TF_CONFIG, which names the worker.

        `process` is the one whose runs are asked for, by default this one. What was forked from it records nothing.

        Raises:
            TfdbgError: the regex is invalid.

        """
        selection_of(asked)
        self.end()
        self._awaited, self._process = asked, process or os.getpid()
        at_the_end(self.end)
        self.on_change()

    def _begin_awaited(self) -> None:
        """Begin the recording that waits for the first run, if there is one; on failure, say so."""
        if self._awaited is None and not self._begins:
            return
        with self._beginning:  # if another thread has come first, its recording is this one's, too
            asked = self._awaited
            if asked is None:
                return
            self._begins, self._awaited = True, None
            try:
                self.begin(asked)
            except TfdbgError as error:
                reason = str(error)
                end = "" if reason.endswith((".", "!", "?")) else "."
                self._say(f"{reason}{end} Nothing is recorded; the program goes on.")
                self.on_change()
            finally:
                self._begins = False

    def begun(self, asked: RecordRuns, settings: Settings) -> Continue | StopAtStart:
        """Begin a recording, and return the next state: go on, or stop again with the reason if it cannot begin."""
        try:
            self.begin(asked, settings)
        except TfdbgError as error:
            self._say(str(error))  # without a prompt, the note of the stop would not be seen
            return StopAtStart((str(error),))
        return Continue()

    def begin(self, asked: RecordRuns, settings: Settings | None = None) -> None:
        """Begin a recording, and end the current one. `settings` are those of the prompt that asked for it, if any.

        Raises:
            TfdbgError: the regex is invalid, the folder cannot be written, or the file system does not answer.

        """
        selection = self._noting(selection_of(asked))
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
            self._process = os.getpid()
            self._which = OneInMany(asked.every)
            self._numbers = UniqueNumbers()
            self._reported = self._failure_told = False
            self.taken = 0
            self._selected = False
            self._writer = BackgroundWriter(writer, room, self._say)
            self._asked = replace(asked, path=str(path), worker=worker)
        at_the_end(self.end)
        then = "then the oldest runs give way" if asked.full is Full.DROP else "then no more is recorded"
        which = "Runs are" if asked.every == 1 else f"One run in {asked.every} is"
        among = f" as those of the worker {worker}" if worker else ""
        self._say(f"{which} recorded in {path}{among}, which may take {bytes_text(budget)}; {then}.")
        self.on_change()

    def settle(self) -> None:
        """Block until all runs taken so far are written."""
        if self._writer is not None:
            self._writer.settle()

    def end(self) -> None:
        """End the recording: end the eager run under way, write all that waits, and say how many runs there are.

        In a process that was forked from the one that records it only goes on without: the recording is not its own.
        """
        if self._is_forked:
            self._leave_to_parent()
            return
        self._begin_awaited()
        if self._records:
            self.before_end()
        with self._lock:
            asked, writer = self._asked, self._writer
            self._asked = self._writer = None
        if asked is None or writer is None:
            return
        not_at_the_end(self.end)
        self.on_change()
        missing = writer.close() + writer.left_out
        count = "1 run was" if writer.written == 1 else f"{writer.written:,} runs were"
        kept = writer.kept
        few = "the last is" if kept == 1 else f"the last {kept:,} are"
        rest = f", of which {few} kept" if 0 < kept < writer.written else ""
        shown = f"{rest}: `tfdbg open {shlex.quote(asked.path)}` shows what is there" if kept else ""
        shown = ", and went with its index" if writer.gone and writer.written else shown
        if writer.folder_gone and writer.written:
            shown = ", a folder that somebody renamed or removed since: `tfdbg open` shows it under a new name"
        lost = f" {missing:,} more are missing: for a while nothing could be written there." if missing else ""
        self._say(f"{count} recorded in {asked.path}{shown}.{lost}")
        if writer.written and (asked.only or asked.layer) and not self._selected:
            self._say(f"None of them shows a tensor of an op {named(asked)}: no value was recorded.")

    def wants(self, kind: object) -> bool:
        """Count a run that begins now, separately for each `kind`; whether it is an n-th one, to be recorded.

        In a forked process none is; the first time that is said.
        """
        if self._is_forked and not self._inherits():
            self._leave_to_parent(say=True)
            return False
        self._begin_awaited()
        asked = self._asked
        if asked is None or not self._records:
            return False
        return self._which.next(kind)

    @property
    def _is_forked(self) -> bool:
        return os.getpid() != self._process

    def _inherits(self) -> bool:
        """Whether a recording that has not begun is this process's now: the one that was launched has ended.

        So it does where a program goes into the background by forking itself.
        """
        if self._awaited is None or not has_ended(self._process):
            return False
        self._process = os.getpid()
        return True

    def _leave_to_parent(self, *, say: bool = False) -> None:
        """Forget what the process records from which this one was forked, and `say` so if anything was on."""
        theirs = self._asked or self._awaited
        if theirs is None:
            return
        self._asked = self._awaited = None
        self._begins = False
        self._lock, self._beginning = (
            threading.RLock(),
            threading.RLock(),
        )  # a thread of the parent may have held them
        self.on_change()
        if say:
            self._say(
                f"Process {os.getpid()} was forked from the one whose runs are recorded in {theirs.path}; its own are"
                " not recorded."
            )

    def take(self, run: Run) -> None:
        """Queue `run` for writing. Never raises: the first failure is reported, and the program goes on."""
        writer = self._writer
        if writer is None:
            return
        self.taken += 1
        try:
            numbered = self._numbered(lasting_copy(run, self.statistics))
            writer.add(numbered, values_size(numbered))
        except our_errors() as error:
            self.missed(f"Run #{run.call.number} was not recorded: {reason_of(error)}")

    def _noting(self, selection: Selection | None) -> Selection | None:
        """`selection`, which notes whether any tensor is in it."""
        if selection is None:
            return None

        def selected(run: Run) -> Callable[[Tensor], bool]:
            chosen = selection(run)

            def noted(tensor: Tensor) -> bool:
                found = chosen(tensor)
                self._selected = self._selected or found
                return found

            return noted

        return selected

    def failed(self, run: Run) -> None:
        """Report that `run`, which is recorded without a stop, raised an error; the first time only."""
        if self.on and not self._failure_told and run.error is not None:
            self._failure_told = True
            self._say(
                f"Run #{run.call.number} failed with {run.error.type_name}, which is recorded; the program gets the "
                "error. Of later ones nothing is said."
            )

    def _numbered(self, run: Run) -> Run:
        """`run` with a number unique in the recording: wrapped sessions count their runs separately."""
        with self._lock:
            number = self._numbers.give(run.call.number)
        return run if number == run.call.number else replace(run, call=replace(run.call, number=number))

    def missed(self, sentence: str) -> None:
        """Report why a run is missing from the recording; the first time only."""
        if not self._reported:
            self._reported = True
            self._say(sentence)


def _budget(settings: Settings, path: Path, worker: str) -> int:
    """The default budget of a recording, in bytes."""
    if not worker:
        return disk_budget(settings, path)
    return share_of_disk(settings, path, workers_beside(os.environ), recording_beside(path, worker))


def _close(made: tuple[RecordingWriter, int]) -> None:
    """Close a writer that was created after `begin` had given up; it leaves a recording without runs."""
    with suppress(TfdbgError):
        made[0].close()
