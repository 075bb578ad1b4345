"""Runs, and the moments (stops) at which a person looks at one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any, TypeAlias

from tfdbg_cli.model.exactness import Exactness
from tfdbg_cli.model.frames import LiveFrame
from tfdbg_cli.model.graph import Graph, GraphKind
from tfdbg_cli.model.pausing import Breakpoints, Replaceable
from tfdbg_cli.model.profile import Profile
from tfdbg_cli.model.sources import LiveSources, Sources, Traceback
from tfdbg_cli.model.tensors import EMPTY_STORE, TensorStore

if TYPE_CHECKING:
    from tfdbg_cli.model.decision import RunUntil
    from tfdbg_cli.model.ignored import IgnoredPlace
    from tfdbg_cli.model.repetition import Repeatable
    from tfdbg_cli.model.stepping import Steppable
    from tfdbg_cli.model.what_if import Change, WhatIf


class RunKind(StrEnum):
    """What was called."""

    SESSION = "Session.run"
    CALLABLE = "callable"  # the runner made by Session.make_callable
    FUNCTION = "tf.function"
    EAGER = "eager"


@dataclass(frozen=True, slots=True)
class Argument:
    """What a function was given under `name`, a key of the call's feeds.

    `captured` marks what it did not get from its caller: variables, and tensors from around it. `shape` is None
    where the value has none (a table, an iterator).
    """

    name: str
    dtype: str
    shape: tuple[int | None, ...] | None
    captured: bool = False


@dataclass(frozen=True, slots=True)
class Call:
    """The call that a run intercepts: its 1-based number in the program, what it fetches and is fed.

    `fetches` and the keys of `feeds` are tensor or operation names. A recording made by TensorFlow keeps the
    keys only: their values are then None. `targets` are fetched operations (no value).

    Of a function, `function` is the name, `fetches` are the tensors that it returns, and `feeds` its arguments and
    what it captured, described by `arguments`. `notes` then say whether this call traced it anew, and why.

    Of a session, `fetches_text` and `feed_keys_text` are what Python shows of the program's own fetches and keys.

    Of a turn of a loop that runs eagerly `function` is what it is called, and `loop` the place of the loop.
    """

    number: int
    kind: RunKind
    fetches: tuple[str, ...]
    feeds: Mapping[str, Any] = field(default_factory=dict)
    targets: tuple[str, ...] = ()
    thread: str = ""
    notes: tuple[str, ...] = ()
    function: str = ""
    arguments: tuple[Argument, ...] = ()
    fetches_text: str = ""
    feed_keys_text: str = ""
    loop: str = ""

    @property
    def given(self) -> Mapping[str, Any]:
        """The feeds without what a function captured from around it (variables): where a batch can come from."""
        captured = {argument.name for argument in self.arguments if argument.captured}
        return {name: value for name, value in self.feeds.items() if name not in captured}

    @property
    def results_known(self) -> bool:
        """Whether `fetches` are all that the program got: a runner or a recording may not tell, nor eager code."""
        return self.kind is RunKind.FUNCTION or bool(self.fetches or self.targets)

    @property
    def same(self) -> tuple[object, ...]:
        """Equal for calls of one function, with the same fetches, or turns of one loop, whatever they are given."""
        return self.kind, self.loop or self.function, self.fetches, self.targets

    @property
    def title(self) -> str:
        """One line: `run #3: 1 fetch (loss:0); 2 feeds`, or `run #3: train_step(x, y)`."""
        if " " in self.function:  # a part of a program that has no name, in words
            return f"run #{self.number}: {self.function}"
        if self.function:
            given = ", ".join(argument.name for argument in self.arguments if not argument.captured)
            return f"run #{self.number}: {self.function}({given})"
        if self.kind is RunKind.CALLABLE and not self.fetches:
            return f"run #{self.number}: runner from make_callable()"
        fetched = (*self.fetches, *self.targets)
        shown = fetched[0] if len(fetched) == 1 else f"{fetched[0]}, …" if fetched else ""
        feeds = f"{len(self.feeds)} feed{'s' * (len(self.feeds) != 1)}"
        return f"run #{self.number}: {len(fetched)} fetch{'es' * (len(fetched) != 1)} ({shown}); {feeds}"


@dataclass(frozen=True, slots=True)
class RunError:
    """An exception of the run: `type_name` and `message` as the program will see them; the failing node if known.

    `inputs_note` says why input values are missing, when they are.
    """

    type_name: str
    message: str
    node: str | None = None
    inputs_note: str = ""


@dataclass(frozen=True)
class Run:
    """A finished run and everything that is known about it.

    `tracebacks` maps node names to creation stacks and may be lazy. `python_graph` is the program's graph,
    beside the one whose tensors these are, where both are known. `repeatable` is there when the state from before the
    run is held, `what_if` when parts of it can be computed again with other values; `change` tells of a run that was
    made so, and `steppable` makes it anew, node by node. `notes` are sentences for the screen: which graph is shown,
    what could not be captured and why.
    `profile` is there after `run -p`. `caught` says that what a watch asks for was found by a check inside the run,
    so that nobody need ask the values again. `exactness` says whether the program's own numbers are those of an
    undebugged run; None where that was not asked (recordings, eager code, runs that were left alone). `frames`
    are the calls of Python that are running, outermost first, where the program stands in the middle of the run;
    `paused` is the op behind which it was stopped on demand.
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
    origin_path: str = ""  # the directory it was read from; empty for a live run
    repeatable: Repeatable | None = None
    what_if: WhatIf | None = None
    steppable: Steppable | None = None
    change: Change | None = None
    caught: bool = False
    exactness: Exactness | None = None
    cut_off: bool = False  # the process that wrote it did not come to the end of the run
    frames: Sequence[LiveFrame] = ()
    paused: Replaceable | None = None

    @property
    def graph_kind(self) -> GraphKind:
        return self.graph.kind


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


@dataclass(frozen=True)
class RunStart:
    """The prompt before a run. `graph` is the program's; nothing has been computed.

    `ignored` are the places that watches left out so far, `breakpoints` those of the process, `watch` the last watch
    that there was.
    """

    call: Call
    graph: Graph = field(default_factory=Graph)
    tracebacks: Mapping[str, Traceback] = field(default_factory=dict)
    sources: Sources = field(default_factory=LiveSources)
    estimate: Estimate | None = None
    notes: tuple[str, ...] = ()
    steppable: Steppable | None = None
    ignored: Sequence[IgnoredPlace] = ()
    breakpoints: Breakpoints = field(default_factory=Breakpoints)
    watch: RunUntil | None = None


@dataclass(frozen=True, slots=True)
class Hit:
    """Why a watched run stopped: the filter that passed, and after how many runs under watch.

    `last_passed` is the number of the last run before it that was watched and in which nothing was found: its
    inputs, its values and the variables as it left them. None when this is the first run of the watch: what is bad
    in its variables was so before the watch began.
    """

    filter_name: str
    exclude_node_names: str
    runs: int
    last_passed: int | None = None


@dataclass(frozen=True)
class RunEnd:
    """The prompt after a run. `hit` when a watch led here; `run.error` when it raised.

    `earlier` are runs before it whose values are kept, the oldest first. `notes` say what was done at the stop: a
    bundle written, variables put back, runs that are kept no more. `ignored` are the places that watches left out,
    `breakpoints` those of the process, `watch` the last watch that there was.
    """

    run: Run
    hit: Hit | None = None
    earlier: Sequence[Run] = ()
    notes: tuple[str, ...] = ()
    ignored: Sequence[IgnoredPlace] = ()
    breakpoints: Breakpoints = field(default_factory=Breakpoints)
    watch: RunUntil | None = None


@dataclass(frozen=True)
class Opened:
    """The prompt on a recording: `runs` of it, each loaded when it is looked at, first the one at `current`.

    `opening` is the command whose answer a person sees first; without one the kind of the run says.
    """

    path: str
    runs: Sequence[Run]
    current: int = 0
    notes: tuple[str, ...] = ()
    opening: str = ""


Stop: TypeAlias = RunStart | RunEnd | Opened
