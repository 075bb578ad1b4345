"""Runs, and the moments (stops) at which a user looks at one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Protocol, TypeAlias, runtime_checkable

from tfdbg_cli.model.calls import Call, RunError, RunKind, what_if_title
from tfdbg_cli.model.decision import RunUntil
from tfdbg_cli.model.exactness import Exactness
from tfdbg_cli.model.frames import LiveFrame
from tfdbg_cli.model.graph import Graph, GraphKind
from tfdbg_cli.model.ignored import Ignored, IgnoredPlace
from tfdbg_cli.model.names import TensorName, tensor_name_of
from tfdbg_cli.model.pausing import Breakpoints, Replaceable
from tfdbg_cli.model.profile import Profile
from tfdbg_cli.model.replay import Replayable
from tfdbg_cli.model.sources import Frame, LiveSources, Sources, Traceback
from tfdbg_cli.model.tensors import EMPTY_STORE, TensorStore
from tfdbg_cli.model.units import count_text
from tfdbg_cli.model.values import Array

if TYPE_CHECKING:  # a recording, which needs none of them, opens without
    from tfdbg_cli.model.beside import Observations
    from tfdbg_cli.model.gone_on_with import GoneOnWith
    from tfdbg_cli.model.stepping import Steppable
    from tfdbg_cli.model.traces import TracesSeen
    from tfdbg_cli.model.variables import TellsVariables


@dataclass(frozen=True, slots=True)
class RunOutline:
    """What a list of runs shows of each run."""

    call: Call
    error: RunError | None
    cut_off: bool


@dataclass(frozen=True)
class Run:
    """A finished run and everything that is known about it.

    `graph` is the graph that the tensors belong to; `python_graph` is the program's own, if it is another one and
    known. `tracebacks` maps node names to creation stacks and may be lazy. `replayable` is set if the state from
    before the run is held, `what_if` if parts of it can be computed again with other values, `steppable` if it can be
    made again node by node; `change` describes a run that `what_if` made. `notes` are sentences for the screen: which
    graph is shown, what could not be captured and why; `lacks` is the one about values that are missing altogether,
    `gaps` the one about tensors of which nothing is known, `inside_lacks` the one about what called functions
    computed, where only what stands around them was kept, `lost` those about what is damaged or missing of a saved
    run. `profile` is set by `run -p`. `caught` says that a check
    inside the run has found what its watch looks for, so the values need not be tested again. `exactness` says
    whether the program got the numbers of an undebugged run; None where that was not examined (eager code, runs left
    alone). If the program is stopped in the middle of the run, `frames` are its Python calls,
    outermost first, and `paused` the op it was stopped after on demand; `unfinished` says so of a saved run, too.
    `ignored` are the places that were ignored when the run was saved. `variables` tells what is known of variables
    beside their values; None where nothing is. `no_replay` is a sentence that says why a run that was saved cannot be
    made again; empty where nobody found that out. `found_finite` says that a watch looked at each of its numbers as
    they came, those that are not held included, and found no NaN or infinity.
    """

    call: Call
    tensors: TensorStore = EMPTY_STORE
    graph: Graph = field(default_factory=Graph)
    python_graph: Graph | None = None
    tracebacks: Mapping[str, Traceback] = field(default_factory=dict)
    sources: Sources = field(default_factory=LiveSources)
    error: RunError | None = None
    profile: Profile | None = None
    notes: Sequence[str] = ()
    lacks: str = ""
    gaps: str = ""
    inside_lacks: str = ""
    lost: Sequence[str] = ()
    origin_path: str = ""  # the directory it was read from; empty for a live run
    replayable: Replayable | None = None
    what_if: WhatIf | None = None
    steppable: Steppable | None = None
    change: Change | None = None
    caught: bool = False
    exactness: Exactness | None = None
    cut_off: bool = False  # the process that wrote it did not come to the end of the run
    frames: Sequence[LiveFrame] = ()
    paused: Replaceable | None = None
    unfinished: bool = False
    ignored: Sequence[IgnoredPlace] = ()
    variables: TellsVariables | None = None
    no_replay: str = ""
    found_finite: bool = False

    @property
    def shortcomings(self) -> str:
        """What lists of its tensors say that they cannot tell; empty for nothing."""
        return " ".join(filter(None, (self.gaps, *self.lost)))

    @property
    def replaced(self) -> tuple[TensorName, ...]:
        """The tensors, and variables, that `set` gave other values, if it is a run of `again`, not of the program."""
        if self.change is not None:
            return self.change.replaced
        return tuple(map(tensor_name_of, self.call.replaced))

    @property
    def what_if_title(self) -> str:
        """`what if: loss/Log:0 replaced`, of what `again` made, be it read from a recording; else empty."""
        return self.call.what_if_title if self.change is None else self.change.title

    @property
    def is_graph_alone(self) -> bool:
        """Whether it is a graph out of a file of which no tensor is held: all that there is to see are its nodes."""
        return self.call.kind is RunKind.GRAPH and not len(self.tensors)

    def __repr__(self) -> str:
        """Short, for notebooks: the dataclass's own repr would print graph, tracebacks and sources."""
        tensors = len(self.tensors)
        return f"<{self.call.title}; {count_text(tensors, 'tensor')}>"

    @property
    def outline(self) -> RunOutline:
        """What a list of runs tells of it."""
        return RunOutline(self.call, self.error, self.cut_off)

    @property
    def graph_kind(self) -> GraphKind:
        return self.graph.kind


@dataclass(frozen=True)
class Change:
    """How a run made by `WhatIf` differs from `base`, the program's run: what it was `given` in place of values.

    `recomputed` is how many tensors were computed again because of that.
    """

    base: Run
    given: Mapping[TensorName, Array]
    recomputed: int

    @property
    def replaced(self) -> tuple[TensorName, ...]:
        """The tensors, and variables, that were given other values."""
        return tuple(self.given)

    @property
    def title(self) -> str:
        """`what if: loss/Log:0 replaced`."""
        return what_if_title([*map(str, self.replaced)])


@runtime_checkable
class Growing(Protocol):
    """The runs of a recording that may still be being written.

    `changed` counts how often a run other than the last one turned out to have grown; results cached for all runs
    are valid as long as it stays the same.
    """

    @property
    def changed(self) -> int: ...

    def look(self) -> None:
        """Append the runs that were written since the last call. May block on a slow file system.

        Raises:
            TfdbgError: they cannot be read now.

        """
        ...


class WhatIf(Protocol):
    """Computes a part of a run again with other values, without touching the program's state."""

    def require_replaceable(self, run: Run, name: TensorName) -> None:
        """Refuse a tensor of `run` that cannot be given another value.

        Raises:
            TfdbgError: it cannot; the message says why.

        """
        ...

    def again(self, run: Run, replaced: Mapping[TensorName, Array]) -> Run:
        """A copy of `run` with the tensors `replaced`, and everything downstream of them computed again.

        Variables, random numbers and batches are those of `run`; nothing is written anywhere. `change` of the new run
        says what was replaced, its `notes` what was left as it was.

        Raises:
            TfdbgError: it cannot be computed; the message names the tensor in the way.

        """
        ...


@dataclass(frozen=True, slots=True)
class Estimate:
    """What a full capture of the coming run would take, and what it may take, in bytes.

    `nbytes` is None when shapes are too unknown to tell; `unknown` counts the tensors left out of it.
    """

    tensors: int
    nbytes: int | None
    unknown: int
    budget: int
    medium: str  # "disk" or "memory"


@runtime_checkable
class HoldsMade(Protocol):
    """A sequence of runs on disk that knows whether the last ones may be of `again`, and not of the program."""

    @property
    def holds_made(self) -> bool: ...


@runtime_checkable
class TellsOutlines(Protocol):
    """A sequence of runs, many and on disk, that can tell what a list shows of each without reading the whole run.

    All methods raise TfdbgError where the run cannot be read.
    """

    def tensor_count(self, place: int) -> int:
        """How many tensors the run at `place` has."""
        ...

    def number(self, place: int) -> int:
        """The number of its call."""
        ...

    def outline(self, place: int) -> RunOutline:
        """What a list tells of it."""
        ...


def outline_of(runs: Sequence[Run], place: int) -> RunOutline:
    """What a list tells of the run at `place`. Raises TfdbgError where it cannot be read."""
    return runs.outline(place) if isinstance(runs, TellsOutlines) else runs[place].outline


def number_of(runs: Sequence[Run], place: int) -> int:
    """The number of the run at `place`. Raises TfdbgError where it cannot be read."""
    return runs.number(place) if isinstance(runs, TellsOutlines) else runs[place].call.number


@dataclass(frozen=True)
class RunStart:
    """The prompt before a run. `graph` is the program's; nothing has been computed.

    `ignored` are the places that count as fine, which commands change, `breakpoints` those of the process, `watch`
    the last watch that there was. `frames` are the calls of the program that make the run, outermost first. `beside`
    is what was gathered of the runs so far, if anything, `traces` the traces of the tf.functions that the program
    called; `variables` tells what is known of variables, None where nothing is.
    """

    call: Call
    graph: Graph = field(default_factory=Graph)
    tracebacks: Mapping[str, Traceback] = field(default_factory=dict)
    sources: Sources = field(default_factory=LiveSources)
    estimate: Estimate | None = None
    notes: tuple[str, ...] = ()
    steppable: Steppable | None = None
    ignored: Ignored = field(default_factory=Ignored)
    breakpoints: Breakpoints = field(default_factory=Breakpoints)
    watch: RunUntil | None = None
    frames: tuple[LiveFrame, ...] = ()
    beside: Observations | None = None
    traces: TracesSeen | None = None
    variables: TellsVariables | None = None


@dataclass(frozen=True, slots=True)
class StopBefore:
    """The stop at which a watch began, after the run `number`, which may have written the `variables` of these names.

    They are None where that is not known.
    """

    number: int
    variables: frozenset[str] | None

    def wrote(self, variable: str) -> bool:
        """Whether that run may have written `variable`."""
        return self.variables is None or variable in self.variables


@dataclass(frozen=True, slots=True)
class LeftVariable:
    """A `variable`, as the run `number` calls it, that this left not finite: a watch did not stop there.

    `held` is a fingerprint of what it left there; `frame` is the line that wrote it, if that is known.
    """

    number: int
    variable: str
    held: bytes
    frame: Frame | None = None


@dataclass(frozen=True, slots=True)
class RunUnderWay:
    """A watched run of another thread that had begun by then, and of which it was not known yet what it did."""

    number: int
    thread: str


@dataclass(frozen=True, slots=True)
class Hit:
    """Why a watched run stopped: the filter that passed, and after how many runs under watch.

    `last_passed` is the number of the last watched run before it that read the same variables and held nothing bad,
    or nothing harmful: not in its inputs, nor in the variables as it left them. None if there was no such run.
    `others_passed` says that runs of other variables were watched without a hit since then. If it is false and
    `last_passed` is None, whatever is bad in the variables was so before the watch began. `behind` is the stop at
    which it began; None if it began before any run. `under_way` are the runs of other threads that may have written
    what this one read. `left` are variables that runs of this watch left not finite without a stop.
    """

    filter_name: str
    exclude_node_names: str
    runs: int
    last_passed: int | None = None
    others_passed: bool = False
    behind: StopBefore | None = None
    under_way: tuple[RunUnderWay, ...] = ()
    left: tuple[LeftVariable, ...] = ()

    def noted(self, run: Run) -> Run:
        """`run`, at which a watch stopped so, with a note that says it to who looks at the run elsewhere."""
        watched = count_text(self.runs, "run")
        note = f"A watch stopped here: the run passed {self.filter_name}, after {watched}."
        return replace(run, notes=(note, *run.notes))


@dataclass(frozen=True)
class RunEnd:
    """The prompt after a run. `hit` when a watch led here; `run.error` when it raised.

    `earlier` are runs before it whose values are kept, the oldest first. `notes` say what was done at the stop: a
    bundle written, variables put back, runs that are kept no more. `ignored` are the places that count as fine,
    `breakpoints` those of the process, `watch` the last watch that there was. `frames` are the calls of the program
    that made the run and wait for it; those of a run that it stands in are the run's own. `beside` is what was
    gathered of the runs so far, this one included, if anything, `traces` the traces of the
    tf.functions that the program called. `sent` says that a program elsewhere sent the run: there is nothing of it to
    step through or to time. `gone_on_with` is what `set` gave the program at stops before.
    """

    run: Run
    hit: Hit | None = None
    earlier: Sequence[Run] = ()
    notes: tuple[str, ...] = ()
    ignored: Ignored = field(default_factory=Ignored)
    breakpoints: Breakpoints = field(default_factory=Breakpoints)
    watch: RunUntil | None = None
    frames: tuple[LiveFrame, ...] = ()
    beside: Observations | None = None
    traces: TracesSeen | None = None
    sent: bool = False
    gone_on_with: GoneOnWith | None = None


@dataclass(frozen=True)
class Opened:
    """The prompt on a recording: its `runs`, read on access; `current` is the index of the one looked at first.

    `opening` is the command shown first; if empty, it depends on the kind of run. `ignored` are the ignored places,
    besides those saved with a run. `noun` is what to call the runs: "graph" where nothing ran. `workers` are the
    workers of the job that recorded the runs, if it was one. `went_bad` says that the recording consists of one run
    that is known to hold NaN or an infinity. `growing` looks for new runs if the recording is to be followed.
    `opened_by` are the words of tfdbg's command line that open this again, without the path.
    """

    path: str
    runs: Sequence[Run]
    current: int = 0
    notes: Sequence[str] = ()
    opening: str = ""
    ignored: Ignored = field(default_factory=Ignored)
    noun: str = "run"
    workers: Sequence[str] = ()
    growing: Growing | None = None
    opened_by: Sequence[str] = ("open",)
    went_bad: bool = False

    @property
    def is_replay(self) -> bool:
        """Whether the run was made again from a bundle, and not only read."""
        return self.opened_by[0] == "replay"

    @property
    def is_far(self) -> bool:
        """Whether it lies in another file system, where each look takes its time."""
        return "://" in self.path


Stop: TypeAlias = RunStart | RunEnd | Opened
