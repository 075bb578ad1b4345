"""One call of a session that the program made, not yet performed (of runners see `runners`)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence

from tfdbg_cli.capture.sessions.graphs_that_ran import GraphsThatRan
from tfdbg_cli.capture.sessions.redirection import Redirection, answered, recorded, redirected
from tfdbg_cli.capture.tf.reentrancy import INSIDE
from tfdbg_cli.capture.tf.types import (
    Feeds,
    FetchedValue,
    Fetches,
    Method,
    Op,
    RawSession,
    RunMetadata,
    RunOptions,
    RunResult,
    SymbolicTensor,
)
from tfdbg_cli.model.calls import RunKind


class Invocation(ABC):
    """What capture needs to know of a call, and the ways to perform it: one of them, once."""

    kind: RunKind
    session: RawSession
    fetches: Fetches  # the caller's: tensors, operations, names, in any nesting
    options: RunOptions  # the caller's own, or None
    run_metadata: RunMetadata  # the caller's own, or None

    @property
    @abstractmethod
    def feeds(self) -> Feeds:
        """What the caller feeds."""

    @property
    def arguments(self) -> tuple[Fetches, Feeds | None]:
        """Fetches and feed_dict as the program gave them; no feeds are None."""
        return self.fetches, self.feeds or None

    @property
    def is_traced(self) -> bool:
        """Whether the caller has TensorFlow tell which ops ran, so that ops of ours would show."""
        asked = self.options
        traced = asked is not None and (asked.trace_level > 0 or asked.output_partition_graphs)
        return traced and self.run_metadata is not None

    @abstractmethod
    def plain(self) -> RunResult:
        """Perform the call exactly as the program made it."""

    @abstractmethod
    def with_options(self, options: RunOptions, run_metadata: RunMetadata) -> RunResult:
        """Perform the call under `options`; `run_metadata` is filled."""

    @abstractmethod
    def with_extra(
        self,
        extra: Sequence[SymbolicTensor],
        targets: Sequence[Op] = (),
        instead: Redirection | None = None,
        graphs: GraphsThatRan | None = None,
    ) -> tuple[RunResult, Sequence[FetchedValue]]:
        """Perform the call with the caller's options and fetch the tensors `extra` too: the result, their values.

        The operations `targets` are run besides. `instead` names what is to run in the place of all these. With
        `graphs` the graphs that ran are collected there, unless the caller has options of its own.
        """

    def recorded(
        self, extra: Sequence[SymbolicTensor], targets: Sequence[Op] = ()
    ) -> tuple[RunResult, Sequence[FetchedValue], Mapping[str, FetchedValue]]:
        """Perform the call, and fetch `extra` and run `targets` besides, if there are any.

        Gives the result, the values of `extra`, and by name the value of every tensor that was fetched.
        """
        with recorded(self.session) as found:
            result, values = self.with_extra(extra, targets) if extra or targets else (self.plain(), ())
        return result, values, found

    def answered(self, values: Mapping[str, FetchedValue]) -> RunResult:
        """What the call would give if the tensors that it fetches had `values`, by name. Nothing is run."""
        with answered(self.session, values):
            return self.plain()


class RunCall(Invocation):
    """A call of `Session.run`. `run` is the raw session's own method."""

    kind = RunKind.SESSION

    def __init__(
        self,
        session: RawSession,
        run: Method,
        fetches: Fetches,
        feed_dict: Feeds | None,
        options: RunOptions,
        run_metadata: RunMetadata,
    ) -> None:
        self.session = session
        self.fetches = fetches
        self.feed_dict = feed_dict
        self.options = options
        self.run_metadata = run_metadata
        self._run = run

    @property
    def feeds(self) -> Feeds:
        return self.feed_dict or {}

    @property
    def arguments(self) -> tuple[Fetches, Feeds | None]:
        return self.fetches, self.feed_dict

    def plain(self) -> RunResult:
        with INSIDE:
            return self._run(self.fetches, self.feed_dict, self.options, self.run_metadata)

    def with_options(self, options: RunOptions, run_metadata: RunMetadata) -> RunResult:
        with INSIDE:
            return self._run(self.fetches, self.feed_dict, options, run_metadata)

    def with_extra(
        self,
        extra: Sequence[SymbolicTensor],
        targets: Sequence[Op] = (),
        instead: Redirection | None = None,
        graphs: GraphsThatRan | None = None,
    ) -> tuple[RunResult, Sequence[FetchedValue]]:
        fetches = (self.fetches, [*extra, *targets])
        with INSIDE, redirected(self.session, instead):
            result, values = self._run(fetches, self.feed_dict, *options_of(self, graphs))
        return result, values[: len(extra)]


def options_of(call: Invocation, graphs: GraphsThatRan | None) -> tuple[RunOptions, RunMetadata]:
    """The options and the metadata with which `call` is made."""
    if graphs is None or call.options is not None or call.run_metadata is not None:
        return call.options, call.run_metadata
    return graphs.options, graphs.metadata
