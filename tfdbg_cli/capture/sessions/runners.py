"""Calls of the runners that `make_callable` and `_make_callable_from_options` make of a session."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from typing import Any

import numpy as np
import tensorflow as tf

from tfdbg_cli.capture.sessions.graphs_that_ran import GraphsThatRan
from tfdbg_cli.capture.sessions.invocation import Invocation, options_of
from tfdbg_cli.capture.sessions.redirection import Redirection, named_by, redirected
from tfdbg_cli.capture.tf.memo import Memos
from tfdbg_cli.capture.tf.reentrancy import INSIDE
from tfdbg_cli.capture.tf.types import (
    CallableOptions,
    Feeds,
    FetchedValue,
    Fetches,
    GraphElement,
    Op,
    RawRunner,
    RawSession,
    RunMetadata,
    RunOptions,
    RunResult,
    SymbolicTensor,
)
from tfdbg_cli.model.calls import RunKind

# The runners that fetch more than one of the program's: threads may need several at a time.
_MORE: Memos[RawRunner] = Memos(keep=4)


class Runner:
    """What `make_callable` gave: the runner itself, and the means to make it again with more to fetch."""

    def __init__(
        self,
        session: RawSession,
        make: Callable[..., RawRunner],
        fetches: Fetches,
        feed_list: Sequence[SymbolicTensor] | None,
        accept_options: bool,
    ) -> None:
        self.session = session
        self.fetches = fetches
        self.feed_list = feed_list
        with INSIDE:
            self.original = make(fetches, feed_list, accept_options)
        self._make = make
        self._with_options: RawRunner | None = None

    def with_options(self) -> RawRunner:
        """The runner that takes options."""
        if self._with_options is None:
            self._with_options = self._make(self.fetches, self.feed_list, True)
        return self._with_options

    def with_extra(self, extra: Sequence[GraphElement]) -> RawRunner:
        """The runner that fetches `extra` too; those made last are kept for the next runs."""
        names = tuple(element.name for element in extra)
        return _MORE.of(self, names, lambda: self._make((self.fetches, list(extra)), self.feed_list, True))


def _feed_names(feeds: Feeds) -> dict[str, Any]:
    return {key if isinstance(key, str) else key.name: value for key, value in feeds.items()}


def _not_fed(extra: Sequence[SymbolicTensor], feeds: Feeds) -> list[SymbolicTensor]:
    """The tensors of `extra` that a runner can fetch: unlike Session.run it refuses to fetch what it is fed."""
    names = _feed_names(feeds)
    return [tensor for tensor in extra if tensor.name not in names]


def _with_fed(extra: Sequence[SymbolicTensor], feeds: Feeds, values: Sequence[FetchedValue]) -> list[FetchedValue]:
    """The values of all of `extra`: `values` of those that were fetched, and of the others what was fed."""
    names = _feed_names(feeds)
    fetched = iter(values)
    return [
        np.asarray(names[tensor.name], tensor.dtype.as_numpy_dtype) if tensor.name in names else next(fetched)
        for tensor in extra
    ]


class RunnerCall(Invocation):
    """A call of what `make_callable` gave."""

    kind = RunKind.CALLABLE

    def __init__(self, runner: Runner, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> None:
        self.session = runner.session
        self.fetches = runner.fetches
        self._runner = runner
        self._arguments = arguments
        self._keywords = keywords
        # Without feeds the runner takes its options as positional arguments, too.
        positional = () if runner.feed_list is not None else arguments
        given = dict(zip(("options", "run_metadata"), positional, strict=False)) | keywords
        self.options = given.get("options")
        self.run_metadata = given.get("run_metadata")
        self._fed = arguments if runner.feed_list is not None else ()

    @property
    def feeds(self) -> Feeds:
        return dict(zip(self._runner.feed_list or (), self._fed, strict=False))

    def plain(self) -> RunResult:
        with INSIDE:
            return self._runner.original(*self._arguments, **self._keywords)

    def with_options(self, options: RunOptions, run_metadata: RunMetadata) -> RunResult:
        with INSIDE:
            return self._runner.with_options()(*self._fed, options=options, run_metadata=run_metadata)

    def with_extra(
        self,
        extra: Sequence[SymbolicTensor],
        targets: Sequence[Op] = (),
        instead: Redirection | None = None,
        graphs: GraphsThatRan | None = None,
    ) -> tuple[RunResult, Sequence[FetchedValue]]:
        fetched = _not_fed(extra, self.feeds)
        with INSIDE, redirected(self.session, instead):
            runner = self._runner.with_extra([*fetched, *targets])
            options, run_metadata = options_of(self, graphs)
            result, values = runner(*self._fed, options=options, run_metadata=run_metadata)
        return result, _with_fed(extra, self.feeds, values[: len(fetched)])


class OptionsRunner:
    """What `_make_callable_from_options` gave; Keras 2 makes its train step so."""

    def __init__(
        self, session: RawSession, make: Callable[..., RawRunner], callable_options: CallableOptions
    ) -> None:
        self.session = session
        self.message = deepcopy(callable_options)
        with INSIDE:
            self.original = make(callable_options)
        self._make = make

    def with_options(self, options: RunOptions) -> RawRunner:
        """The runner that runs under `options`."""
        message = deepcopy(self.message)
        message.run_options.CopyFrom(options)
        return self._make(message)

    def with_extra(
        self, extra: Sequence[SymbolicTensor], targets: Sequence[Op], instead: Redirection | None
    ) -> RawRunner:
        """The runner that fetches `extra` and runs `targets` too; those made last are kept for the next runs."""
        message = deepcopy(self.message)
        message.fetch.extend(tensor.name for tensor in extra)
        message.target.extend(op.name for op in targets)
        if instead is not None:
            message.fetch[:] = [self._instead(name, instead) for name in message.fetch]
            message.target[:] = [self._instead(name, instead) for name in message.target]
        key = tuple(message.fetch), tuple(message.target)
        return _MORE.of(self, key, lambda: self._make(message))

    def _instead(self, name: str, instead: Redirection) -> str:
        element = self.session.graph.as_graph_element(name)
        return str((instead.op if isinstance(element, tf.Operation) else instead.tensor)(element).name)


class OptionsRunnerCall(Invocation):
    """A call of what `_make_callable_from_options` gave; feeds are positional."""

    kind = RunKind.CALLABLE

    def __init__(self, runner: OptionsRunner, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> None:
        self.session = runner.session
        self.fetches = [*runner.message.fetch, *runner.message.target]
        self.options = runner.message.run_options
        self.run_metadata = keywords.get("run_metadata")
        self._runner = runner
        self._arguments = arguments
        self._keywords = keywords

    @property
    def feeds(self) -> Feeds:
        return dict(zip(self._runner.message.feed, self._arguments, strict=False))

    def plain(self) -> RunResult:
        with INSIDE:
            return self._runner.original(*self._arguments, **self._keywords)

    def with_options(self, options: RunOptions, run_metadata: RunMetadata) -> RunResult:
        with INSIDE:
            return self._runner.with_options(options)(*self._arguments, run_metadata=run_metadata)

    def with_extra(
        self,
        extra: Sequence[SymbolicTensor],
        targets: Sequence[Op] = (),
        instead: Redirection | None = None,
        graphs: GraphsThatRan | None = None,
    ) -> tuple[RunResult, Sequence[FetchedValue]]:
        with INSIDE:
            fetches = list(self._runner.message.fetch)
            more = [tensor for tensor in _not_fed(extra, self.feeds) if tensor.name not in fetches]
            runner = self._runner.with_extra(more, targets, instead)
            with named_by(instead):
                found = runner(*self._arguments, **self._keywords)
        known = dict(zip([*fetches, *(tensor.name for tensor in more)], found, strict=False))
        values = [known[tensor.name] for tensor in _not_fed(extra, self.feeds)]
        return found[: len(fetches)], _with_fed(extra, self.feeds, values)

    def recorded(
        self, extra: Sequence[SymbolicTensor], targets: Sequence[Op] = ()
    ) -> tuple[RunResult, Sequence[FetchedValue], Mapping[str, FetchedValue]]:
        result, values = self.with_extra(extra, targets) if extra or targets else (self.plain(), ())
        return result, values, dict(zip(self._runner.message.fetch, result, strict=False))

    def answered(self, values: Mapping[str, FetchedValue]) -> RunResult:
        return [values[name] for name in self._runner.message.fetch]
