"""What a command sees: the stop, the run looked at, filters and settings."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, overload

from tfdbg_cli.analysis.watch.filter import TensorFilter
from tfdbg_cli.analysis.watch.filters import BUILT_IN_FILTERS, filter_named
from tfdbg_cli.commands.folds import Folds
from tfdbg_cli.commands.memory import Memory
from tfdbg_cli.commands.said import Said
from tfdbg_cli.config.settings import Settings, changed
from tfdbg_cli.config.settings_file import save_setting
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.model.calls import Call
from tfdbg_cli.model.graph import Graph
from tfdbg_cli.model.ignored import Ignored
from tfdbg_cli.model.names import TensorName
from tfdbg_cli.model.runs import HoldsMade, Opened, Run, RunEnd, RunStart, Stop
from tfdbg_cli.model.sources import Sources, Traceback
from tfdbg_cli.model.statistics import Summary
from tfdbg_cli.model.tensors import summary_in_steps, summary_of
from tfdbg_cli.model.values import LOST, Array, Lack, NoValue

if TYPE_CHECKING:
    from tfdbg_cli.analysis.choosing.known_figures import Known
    from tfdbg_cli.analysis.watch.answers import Answers
    from tfdbg_cli.document.document import Document
    from tfdbg_cli.model.stepping import Stepper

HOW_TO_KEEP_RUNS = "`run -f FILTER --keep N` (or `tfdbg run --keep N`) keeps the N runs before the hit."
_PROGRAM_HERE = "`tfdbg run` begins a program here; `tfdbg attach` goes to one that tfdbg runs elsewhere."
_LOOKED_UP = 256  # summaries looked up per step, where they are known already


class _Behind(Sequence[Run]):
    """The runs of a recording, followed by others; a run is loaded on access."""

    def __init__(self, first: Sequence[Run], more: Sequence[Run]) -> None:
        self._first = first
        self._more = more

    def __len__(self) -> int:
        return len(self._first) + len(self._more)

    @overload
    def __getitem__(self, at: int) -> Run: ...

    @overload
    def __getitem__(self, at: slice) -> Sequence[Run]: ...

    def __getitem__(self, at: int | slice) -> Run | Sequence[Run]:
        if isinstance(at, slice):
            return [self[i] for i in range(*at.indices(len(self)))]
        place = range(len(self))[at]
        return self._first[place] if place < len(self._first) else self._more[place - len(self._first)]


@dataclass
class Context:
    """The state of one prompt. `width` is the terminal's in columns; None if output is not laid out for one.

    `later` says that the front end can fill in table cells later: only then lists have columns that are slow to
    compute. `on_setting` is called with the new settings after `config set`, so that a front end can apply them.
    """

    stop: Stop
    settings: Settings = field(default_factory=Settings)
    filters: Mapping[str, TensorFilter] = field(default_factory=lambda: BUILT_IN_FILTERS)
    width: int | None = None
    interactive: bool = True
    later: bool = False
    on_setting: Callable[[Settings], None] = lambda settings: None
    current: int = field(init=False)
    memory: Memory = field(default_factory=Memory, repr=False)
    made: list[Run] = field(default_factory=list, repr=False)  # what `again` made of runs of this stop
    replaced: dict[int, dict[TensorName, Array]] = field(default_factory=dict, repr=False)  # by `set`, for each run
    folds: dict[str, Folds] = field(default_factory=dict, repr=False)  # by the list that shows a tree
    said: Said = field(default_factory=Said, repr=False)
    on_show: tuple[str, Document] | None = None  # the page on which a command is asked for, and what that answers
    frame: int | None = None  # the call of Python looked at, where the program stands in the middle of a run
    stepper: Stepper | None = field(default=None, repr=False)
    _stepped: Run | None = field(default=None, repr=False)
    _counted: tuple[int, int] | None = field(default=None, repr=False)  # runs of a recording, and those of `again`
    _adopted: set[int] = field(default_factory=set, repr=False)  # runs of a recording whose ignored places count

    def __post_init__(self) -> None:
        self.current = self.stop.current if isinstance(self.stop, Opened) else max(0, len(self.runs) - 1)

    @property
    def runs(self) -> Sequence[Run]:
        """The runs that can be looked at, the oldest first, and after them those that `again` made of them.

        Empty at a stop before a run. Runs of a recording are loaded on access.
        """
        if isinstance(self.stop, Opened):
            return _Behind(self.stop.runs, self.made) if self.made else self.stop.runs
        return (*self.stop.earlier, self.stop.run, *self.made) if isinstance(self.stop, RunEnd) else ()

    @property
    def runs_of_program(self) -> Sequence[Run]:
        """Those of `runs` that happened; behind them stand those that were made of them with other values."""
        if isinstance(self.stop, Opened):
            count = self.made_count - len(self.made)
            return self.stop.runs[:-count] if count else self.stop.runs
        return self.runs[: len(self.runs) - len(self.made)]

    @property
    def made_count(self) -> int:
        """How many of `runs`, at the end, were made of others with other values, here or before they were saved."""
        return len(self.made) + (self._saved_what_ifs(self.stop.runs) if isinstance(self.stop, Opened) else 0)

    def _saved_what_ifs(self, runs: Sequence[Run]) -> int:
        """How many of `runs`, at the end, the program never made; asked once, since that reads them."""
        if self._counted is None or self._counted[0] != len(runs):
            self._counted = len(runs), count_made(runs)
        return self._counted[1]

    @property
    def asks_what_if(self) -> bool:
        """Whether the run looked at was made with other values."""
        return self.current >= len(self.runs) - self.made_count > 0

    def to_save(self, run: Run) -> Run:
        """`run`, one of `runs`, as it is taken home: where a watch stopped at it, a note of it says so."""
        hit = self.stop.hit if isinstance(self.stop, RunEnd) and run is self.stop.run else None
        return run if hit is None else hit.noted(run)

    @property
    def ignored(self) -> Ignored:
        """The ignored places, including those that were saved with the run looked at. Raises TfdbgError as `run`."""
        ignored = self.stop.ignored
        if isinstance(self.stop, Opened) and self.runs and self.current not in self._adopted:
            told = self.run.ignored
            self._adopted.add(self.current)
            ignored.adopt(told)
        return ignored

    def look_at_made(self, run: Run) -> None:
        """Add `run`, made of a run of this stop, and look at it."""
        self.made.append(run)
        self.current = len(self.runs) - 1

    @property
    def run(self) -> Run:
        """The run looked at.

        Raises:
            TfdbgError: the run has not happened yet, or the recording holds none.

        """
        if self._stepped is not None:
            return self._stepped
        runs = self.runs
        if isinstance(self.stop, RunStart):
            raise TfdbgError("This run has not happened yet, so there are no tensors.", hint="`run` (r) runs it.")
        if isinstance(self.stop, Opened) and not runs:
            raise _no_run(self.stop)
        return runs[self.current]

    def require_program(self, who_needs: str, *, hint: str = "") -> None:
        """Nothing where the program itself is here. `who_needs` it is the beginning of a sentence: "Steps need".

        Raises:
            TfdbgError: it is elsewhere, and sends runs; the hint says how to have it here, behind `hint`.

        """
        if isinstance(self.stop, RunEnd) and self.stop.sent:
            raise TfdbgError(
                f"{who_needs} the program itself; this one is elsewhere, and sends what a run computed.",
                hint=f"{hint} {_PROGRAM_HERE}".strip(),
            )

    def begin_stepping(self) -> Stepper:
        """Make the run looked at node by node from now on.

        Raises:
            TfdbgError: it cannot be made so.

        """
        self.end_stepping()
        self.require_program("Steps need")
        steppable = self.stop.steppable if isinstance(self.stop, RunStart) else self.run.steppable
        if steppable is None and isinstance(self.stop, Opened):
            from tfdbg_cli.commands.replaying import how_to_replay  # few of those who open a recording come here

            raise TfdbgError("A recording cannot be made node by node.", hint=how_to_replay(self.run))
        if steppable is None:
            raise TfdbgError(
                "This run cannot be made node by node: it ran eagerly, or the state from before it is not held.",
                hint="At the start of the run of a session or a tf.function, `invoke_stepper` can.",
            )
        self.stepper = steppable.stepper()
        self.look_at_steps()
        return self.stepper

    def look_at_steps(self) -> None:
        """Make `run` show the tensors that the stepper has computed by now."""
        if self.stepper is None:
            return
        self._stepped = None
        stop = self.stop
        run = (
            Run(stop.call, graph=stop.graph, tracebacks=stop.tracebacks, sources=stop.sources)
            if isinstance(stop, RunStart)
            else self.run
        )
        self._stepped = replace(run, tensors=self.stepper.tensors, notes=self.stepper.notes, error=None)
        self.memory = Memory()

    def end_stepping(self) -> None:
        """Close the stepper, and let `run` be that of the stop again."""
        if self.stepper is not None:
            self.stepper.close()
        self.stepper, self._stepped, self.memory = None, None, Memory()

    def earlier_of_same(self) -> Run | None:
        """The run of the same function before the one looked at, if it was kept. A recording is not searched."""
        if not isinstance(self.stop, RunEnd):
            return None
        kind = self.run.call.same
        return next((run for run in reversed(self.runs[: self.current]) if run.call.same == kind), None)

    @property
    def call(self) -> Call:
        """The call stopped at, before or after it ran."""
        return self.stop.call if isinstance(self.stop, RunStart) else self.run.call

    @property
    def graph(self) -> Graph:
        """The graph on show: before a run the program's, after it the one the tensors belong to."""
        return self.stop.graph if isinstance(self.stop, RunStart) else self.run.graph

    @property
    def tracebacks(self) -> Mapping[str, Traceback]:
        """Creation stacks by node name."""
        return self.stop.tracebacks if isinstance(self.stop, RunStart) else self.run.tracebacks

    @property
    def sources(self) -> Sources:
        """The source files on show."""
        return self.stop.sources if isinstance(self.stop, RunStart) else self.run.sources

    def answers(self, tensor_filter: TensorFilter) -> Answers:
        """The cache of `tensor_filter`'s answers for the tensors of the run looked at, by index; to be filled."""
        return self.memory.answers.setdefault((self.current, id(tensor_filter)), (tensor_filter, {}))[1]

    def summary(self, index: int) -> Summary | None:
        """The summary of the tensor at `index`, recorded or computed, and cached; None if there is no array."""
        key = self.current, index
        if key not in self.memory.summaries:
            self.memory.summaries[key] = summary_of(self.run.tensors, index)
        return self.memory.summaries[key]

    def lack(self, index: int) -> Lack | None:
        """Why the tensor at `index` has neither value nor statistics; None if it has a `summary`."""
        if self.summary(index) is not None:
            return None
        key = self.current, index
        if key not in self.memory.lacks:
            value = self.run.tensors.value(index)
            self.memory.lacks[key] = value.lack if isinstance(value, NoValue) else None
        return self.memory.lacks[key]

    def nonfinite(self, index: int) -> int | None:
        """How many elements of the tensor at `index` are NaN or infinite; None if that is not known."""
        summary = self.summary(index)
        if summary is None:
            return None if self.lack(index) in LOST else 0
        return summary.nonfinite if summary.tells_nonfinite else None

    def count(self, index: int, name: str) -> Known:
        """What is known of the count called `name` (`conditions.FIGURES`) of the tensor at `index`; 0 of a handle."""
        from tfdbg_cli.analysis.choosing.known_figures import ANY_COUNT, known_figure  # what queries ask alone

        summary = self.summary(index)
        if summary is None:
            return ANY_COUNT if self.lack(index) in LOST else 0
        return known_figure(summary, name)

    def summary_in_steps(self, index: int) -> Iterator[None]:
        """Compute and cache `summary(index)` in steps, a large value slice by slice."""
        key = self.current, index
        if key not in self.memory.summaries:
            for found in summary_in_steps(self.run.tensors, index):
                yield
                last = found
            self.memory.summaries[key] = last

    def summaries_in_steps(self, indices: Sequence[int]) -> Iterator[float]:
        """Compute and cache the summaries of the tensors at `indices` in steps, each of which yields the share done.

        Even looking up a million summaries that are known takes its time, so these are taken some per step, too.
        """
        for number, index in enumerate(indices):
            if number % _LOOKED_UP == 0:
                yield number / len(indices)
            for _ in self.summary_in_steps(index):
                yield number / len(indices)

    def filter(self, name: str) -> TensorFilter:
        """The filter called `name`.

        Raises:
            TfdbgError: there is none; the hint lists them.

        """
        return filter_named(self.filters, name)

    def select_run(self, index: int) -> None:
        """Look at the run at `index` (0-based) of those that were kept, or of a recording.

        Raises:
            TfdbgError: there is no such run, or it cannot be read.

        """
        runs = self.runs
        if isinstance(self.stop, RunEnd) and len(runs) == 1 and index:
            raise TfdbgError("No other run was kept.", hint=HOW_TO_KEEP_RUNS)
        if not 0 <= index < len(runs):
            holder = "this recording holds" if isinstance(self.stop, Opened) else "there are"
            raise TfdbgError(f"There is no run {index + 1}: {holder} {len(runs)}.")
        runs[index]  # where it cannot be read, the run looked at stays the one before
        self.current = index

    def step(self, runs: int, *, same: bool = False) -> None:
        """Look at the run `runs` later (negative: earlier), of the same function only if `same`.

        Raises:
            TfdbgError: there is none, or it cannot be read.

        """
        found = range(len(self.runs))
        if isinstance(self.stop, Opened) and not found:
            raise _no_run(self.stop)
        places = [i for i in found if self._is_same(i)] if same else found
        at = places.index(self.current) + runs
        if not 0 <= at < len(places):
            end = "first" if runs < 0 else "last"
            what = "run of this function that was kept" if same else "run that was kept"
            if isinstance(self.stop, Opened):
                what = "run of this function in the recording" if same else "run of the recording"
            alone = isinstance(self.stop, RunEnd) and len(found) == 1
            hint = HOW_TO_KEEP_RUNS if alone else "`runs` lists them."
            raise TfdbgError(f"This is the {end} {what}.", hint=hint)
        self.select_run(places[at])

    def _is_same(self, index: int) -> bool:
        """Whether the run at `index` calls what the one looked at calls; one that cannot be read does not."""
        if index == self.current:
            return True
        try:
            return self.runs[index].call.same == self.run.call.same
        except TfdbgError:
            return False

    def set(self, name: str, text: str | None) -> None:
        """Change a setting for this program and keep it in the file; None puts its default back.

        Raises:
            TfdbgError: no such setting, not a value of its type or one that the front end cannot follow, or the file
                cannot be written.

        """
        before, self.settings = self.settings, changed(self.settings, name, text)
        try:
            self.on_setting(self.settings)
        except TfdbgError:
            self.settings = before
            raise
        save_setting(self.settings, name)


def _no_run(opened: Opened) -> TfdbgError:
    return TfdbgError(f"No run of {opened.path} was written.", hint="`tfdbg doctor` says what is there.")


def count_made(runs: Sequence[Run]) -> int:
    """How many of the `runs` of a recording, at the end, are of `again`; reads these and one more.

    One that cannot be read is taken for the program's.
    """
    count = 0
    if not isinstance(runs, HoldsMade) or not runs.holds_made:
        return count
    try:
        while count < len(runs) and runs[len(runs) - 1 - count].what_if_title:
            count += 1
    except TfdbgError:
        pass
    return count
