"""The seam between capture and the debugger: what capture asks about every run, and what it is told to do."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from pathlib import Path
from typing import Protocol

from tfdbg_cli.analysis.layers.node_selection import NodeSelection
from tfdbg_cli.analysis.watch.filter import TensorFilter
from tfdbg_cli.capture.debug_options import WatchOptions
from tfdbg_cli.config.settings import Settings
from tfdbg_cli.errors import words_of
from tfdbg_cli.model.decision import CaptureRequest, Values
from tfdbg_cli.model.exactness import Exactness
from tfdbg_cli.model.ignored import IgnoredPlace
from tfdbg_cli.model.pausing import Sought
from tfdbg_cli.model.runs import Estimate, Run, RunStart

EVERYTHING = CaptureRequest()
UNCOUNTED = 0  # in place of the number of a run that is left alone in a thread that only supplies input


class Action(Enum):
    """What to do with one run."""

    LEAVE = auto()  # as if the debugger were not there
    CAPTURE = auto()  # with its tensors
    PROFILE = auto()  # with its times


@dataclass(frozen=True, slots=True)
class WatchRequest:
    """What a watched run is checked for.

    The user calls `tensor_filter` by `filter_name`; a filter of tfdbg's own can be checked by ops inside the run.
    `values` says where the values of a hit come from; `replayable` asks for a run that can be made again or undone.
    `all_runs` asks for the values of every run, hit or not. `ignored` are nodes that are not checked, as pairs of the
    calls that they are in and their name: of a function (empty for a session), or by `Call.looks_at`. With
    `skips_intended` eager code does not stop at infinities that look intended (a mask, say); they are judged at the
    end of the run. `by_hand` are the places that the user ignores: in eager code, bad values that follow from these
    alone count as fine, too.
    """

    filter_name: str
    tensor_filter: TensorFilter
    exclude_node_names: str = ""
    values: Values = Values.AUTO
    replayable: bool = False
    all_runs: bool = False
    ignored: frozenset[tuple[Hashable, str]] = frozenset()
    skips_intended: bool = False
    by_hand: tuple[IgnoredPlace, ...] = ()

    def asks_as(self, other: WatchRequest) -> bool:
        """Whether `other` has the same filter and exclusions."""
        return (self.filter_name, self.exclude_node_names) == (other.filter_name, other.exclude_node_names)

    def ignored_in(self, function: str, looks_at: Hashable = None) -> frozenset[str]:
        """The nodes that are left out in calls of `function` with that `Call.looks_at`."""
        return frozenset(node for calls, node in self.ignored if calls in (function, looks_at))


@dataclass(frozen=True, slots=True)
class Plan:
    """How one run is to be made. `number` is the number of the run, from 1; UNCOUNTED if it has none.

    `errors` asks that an error of an op be reported by `run_ends`, also where the run is left alone. `watched` says
    what the run is checked for; such runs are many, so a cheap way to check is preferred to a complete one.
    `directory` is the folder to make for the dump, which stays if `run_ends` returns True; None for values that are
    only kept until then. `watch_options` are the debug ops and tensors that a `watch_fn` asked for. `values` says
    where the values of a run that is not watched come from. `statistics` asks for statistics of the tensors in place
    of values, where these are cheaper to have; the nodes that it selects give their values all the same. `recorded`
    says that the values are written to a recording, and that nobody looks at them now; `among_recorded` that this run
    is one of many of which some are: random ops that count inside their kernels must be the same ones in all of them.
    """

    number: int
    action: Action = Action.LEAVE
    errors: bool = False
    capture: CaptureRequest = EVERYTHING
    watched: WatchRequest | None = None
    directory: Path | None = None
    watch_options: WatchOptions | None = None
    values: Values = Values.AUTO
    statistics: NodeSelection | None = None
    recorded: bool = False
    among_recorded: bool = False

    @property
    def watching(self) -> bool:
        """Whether this run is one of many that are checked."""
        return self.watched is not None


class WrongAnswerError(Exception):
    """The program's own `watch_fn` raised, or returned something that is no answer.

    `error` is raised to the program in place of the run.
    """

    def __init__(self, error: Exception) -> None:
        super().__init__(words_of(error))
        self.error = error


class PendingRun(Protocol):
    """A run that is about to happen. What describes it is built only when it is asked for."""

    def start(self, number: int) -> RunStart:
        """What the prompt before this run shows; `number` is the run's."""
        ...

    def estimate(self, capture: CaptureRequest, watching: bool = False, directory: Path | None = None) -> Estimate:
        """What capturing `capture` would take; a dump would be made in `directory`, or among the temporary files."""
        ...

    def arguments(self) -> tuple[object, object]:
        """The fetches and the feeds as the program gave them, for a `watch_fn`."""
        ...


class Controller(Protocol):
    """Decides about runs. Called from whichever thread makes the run, several at a time."""

    @property
    def settings(self) -> Settings:
        """The settings that hold now."""
        ...

    @property
    def watched(self) -> WatchRequest | None:
        """What the watch that is on asks of runs; None while there is none."""
        ...

    @property
    def sought(self) -> Sought | None:
        """What eager code is to stop at; None for nothing. Compared by identity: a change gives another object."""
        ...

    def run_paused(self, run: Run) -> None:
        """Open the prompt in the middle of `run`, which runs eagerly, at what was sought.

        Raises:
            KeyboardInterrupt: the user ended the program.

        """
        ...

    def run_starts(self, pending: PendingRun) -> Plan:
        """What to do with a run. It takes a few microseconds when the run is left alone.

        Raises:
            WrongAnswerError: the program's own function failed to decide about it; the run is not made.
            KeyboardInterrupt: the user ended the program.

        """
        ...

    def run_ends(self, plan: Plan, run: Run) -> bool:
        """Take in a run that was captured or profiled, or that raised an error of an op.

        True when a dump in `plan.directory` is to be kept.

        Raises:
            KeyboardInterrupt: the user ended the program.

        """
        ...

    def run_passed(
        self, plan: Plan, make: Callable[[], Run], exactness: Exactness | None = None, looked_at: Hashable = None
    ) -> None:
        """Note that a watched run was checked while it happened, and nothing was found.

        `make` returns the run with its values, and makes it again where these were not kept. `exactness` is
        what is known of its numbers; `looked_at` is the `Call.looks_at` of the run.

        Raises:
            KeyboardInterrupt: the user ended the program.

        """
        ...

    def run_abandoned(self, plan: Plan, make: Callable[[], Run] | None = None) -> None:
        """Note that no `run_ends` will come for `plan`: the call was wrong, or capture failed.

        Where an exception of the program broke it off, `make` gives the run as far as it came, if that is known.
        """
        ...


class Attendant(Protocol):
    """Divides what runs outside of every function and session into runs."""

    def attend(self, wanted: bool) -> None:
        """Begin to divide ops into runs if that is `wanted`, else stop."""
        ...

    @property
    def left_out(self) -> Sequence[str]:
        """What of loops of eager code was in no run though others of their turns were, a sentence each."""
        ...

    @property
    def outside(self) -> int:
        """How many ops of the program ran eagerly in no run while they were divided."""
        ...

    def run_begins(self, pending: PendingRun) -> None:
        """Note that a run begins in this thread."""
        ...

    def end(self) -> None:
        """End the eager run that this thread is in: nothing in the program marks where it is over."""
        ...
