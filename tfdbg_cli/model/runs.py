"""Runs, and the moments (stops) at which a person looks at one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol, TypeAlias, runtime_checkable

from tfdbg_cli.model.calls import Call, RunError
from tfdbg_cli.model.decision import RunUntil
from tfdbg_cli.model.exactness import Exactness
from tfdbg_cli.model.frames import LiveFrame
from tfdbg_cli.model.graph import Graph, GraphKind
from tfdbg_cli.model.ignored import Ignored, IgnoredPlace
from tfdbg_cli.model.names import TensorName
from tfdbg_cli.model.pausing import Breakpoints, Replaceable
from tfdbg_cli.model.profile import Profile
from tfdbg_cli.model.replay import Replayable
from tfdbg_cli.model.sources import LiveSources, Sources, Traceback
from tfdbg_cli.model.stepping import Steppable
from tfdbg_cli.model.tensors import EMPTY_STORE, TensorStore
from tfdbg_cli.model.values import Array


@dataclass(frozen=True, slots=True)
class RunOutline:
    """What a list of runs tells of one."""

    call: Call
    error: RunError | None
    cut_off: bool


@dataclass(frozen=True)
class Run:
    """A finished run and everything that is known about it.

    `tracebacks` maps node names to creation stacks and may be lazy. `python_graph` is the program's graph,
    beside the one whose tensors these are, where both are known. `replayable` is there when the state from before the
    run is held, `what_if` when parts of it can be computed again with other values; `change` tells of a run that was
    made so, and `steppable` makes it anew, node by node. `notes` are sentences for the screen: which graph is shown,
    what could not be captured and why. `lacks` is the one that says why what the run computed is missing, `gaps` the
    one that says of which of its tensors nothing is known.
    `profile` is there after `run -p`. `caught` says that what a watch asks for was found by a check inside the run,
    so that nobody need ask the values again. `exactness` says whether the program's own numbers are those of an
    undebugged run; None where that was not asked (recordings, eager code, runs that were left alone). `frames`
    are the calls of Python that are running, outermost first, where the program stands in the middle of the run;
    `paused` is the op behind which it was stopped on demand. `ignored` is what counted as fine when it was saved.
    """

    call: Call
    tensors: TensorStore = EMPTY_STORE
    graph: Graph = field(default_factory=Graph)
    python_graph: Graph | None = None
    tracebacks: Mapping[str, Traceback] = field(default_factory=dict)
    sources: Sources = field(default_factory=LiveSources)
    error: RunError | None = None
    profile: Profile | None = None
    notes: tuple[str, ...] = ()
    lacks: str = ""
    gaps: str = ""
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
    ignored: Sequence[IgnoredPlace] = ()

    def __repr__(self) -> str:
        """For a notebook: a run with its graph, its tracebacks and its sources would fill pages."""
        tensors = len(self.tensors)
        return f"<{self.call.title}; {tensors:,} tensor{'s' * (tensors != 1)}>"

    @property
    def outline(self) -> RunOutline:
        """What a list of runs tells of it."""
        return RunOutline(self.call, self.error, self.cut_off)

    @property
    def graph_kind(self) -> GraphKind:
        return self.graph.kind


@dataclass(frozen=True)
class Change:
    """What sets a run apart from `base`, the run of the program: the tensors that were replaced.

    `recomputed` counts the tensors that were computed again.
    """

    base: Run
    replaced: tuple[TensorName, ...]
    recomputed: int

    @property
    def title(self) -> str:
        """`what if: loss/Log:0 replaced`."""
        names = ", ".join(map(str, self.replaced[:2]))
        more = f" and {len(self.replaced) - 2} more" if len(self.replaced) > 2 else ""
        return f"what if: {names}{more} replaced"


@runtime_checkable
class Growing(Protocol):
    """The runs of a recording that may still be written.

    `changed` counts how often there was more of runs that were there already, the last one left out.
    """

    @property
    def changed(self) -> int: ...

    def look(self) -> None:
        """Add, behind those that are there, the runs that were written since the last time. It may take its time.

        Raises:
            TfdbgError: they cannot be read now.

        """
        ...


class WhatIf(Protocol):
    """The means to compute a part of a run again, away from the program's state."""

    def require_replaceable(self, run: Run, name: TensorName) -> None:
        """Refuse a tensor of `run` that cannot be given another value.

        Raises:
            TfdbgError: it cannot; the message says why.

        """
        ...

    def again(self, run: Run, replaced: Mapping[TensorName, Array]) -> Run:
        """`run` with the values `replaced`, and everything that is computed from them computed again.

        Variables, random numbers and batches are those of the run; nothing is written anywhere. `Run.change` of the
        answer says what was done, its notes what was not.

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
class TellsOutlines(Protocol):
    """Runs that tell of each what lists of them need for less than reading it: very many on disk, say.

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


@dataclass(frozen=True)
class RunStart:
    """The prompt before a run. `graph` is the program's; nothing has been computed.

    `ignored` are the places that count as fine, which commands change, `breakpoints` those of the process, `watch`
    the last watch that there was.
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


@dataclass(frozen=True, slots=True)
class Hit:
    """Why a watched run stopped: the filter that passed, and after how many runs under watch.

    `last_passed` is the number of the last run before it that was watched, that read the same variables, and in which
    nothing was found: its inputs, its values and the variables as it left them. None when this is the first such run.
    `others_passed` says whether there were other runs meanwhile, which may have read other variables; if not, and
    this is the first run of the watch, what is bad in its variables was so before the watch began.
    """

    filter_name: str
    exclude_node_names: str
    runs: int
    last_passed: int | None = None
    others_passed: bool = False


@dataclass(frozen=True)
class RunEnd:
    """The prompt after a run. `hit` when a watch led here; `run.error` when it raised.

    `earlier` are runs before it whose values are kept, the oldest first. `notes` say what was done at the stop: a
    bundle written, variables put back, runs that are kept no more. `ignored` are the places that count as fine,
    `breakpoints` those of the process, `watch` the last watch that there was.
    """

    run: Run
    hit: Hit | None = None
    earlier: Sequence[Run] = ()
    notes: tuple[str, ...] = ()
    ignored: Ignored = field(default_factory=Ignored)
    breakpoints: Breakpoints = field(default_factory=Breakpoints)
    watch: RunUntil | None = None


@dataclass(frozen=True)
class Opened:
    """The prompt on a recording: `runs` of it, each loaded when it is looked at, first the one at `current`.

    `opening` is the command whose answer a person sees first; without one the kind of the run says. `ignored` are
    the places that count as fine, beside those that came with a run. `noun` is what the runs are called: graphs,
    where nothing ran. `workers` are those of a job whose runs these are, where several recorded together.
    `went_bad` says that a number of the only run is known not to be finite. `growing` looks for new runs, where the
    recording is to be followed. `opened_by` are the words of the command line that lead here again, before the path.
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


Stop: TypeAlias = RunStart | RunEnd | Opened
