"""A base for session wrappers of one's own, which decide about each run, and are told when it has ended."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from typing import Any

from tfdbg_cli.api.asked_runs import AskedCall, AskedRuns, Given
from tfdbg_cli.api.run_callbacks import (
    OnRunEndRequest,
    OnRunEndResponse,
    OnRunStartAction,
    OnRunStartRequest,
    OnRunStartResponse,
    OnSessionInitAction,
    OnSessionInitRequest,
    OnSessionInitResponse,
)
from tfdbg_cli.api.session_debuggers import recorded
from tfdbg_cli.capture.debug_options import WatchOptions, watch_options
from tfdbg_cli.capture.intercept.debugged_session import DebuggedSession
from tfdbg_cli.capture.intercept.unattended import WatchFunction
from tfdbg_cli.capture.tf import compat
from tfdbg_cli.capture.tf.op_errors import OpError
from tfdbg_cli.capture.tf.types import RunMetadata
from tfdbg_cli.debug_data.dump_dir import DebugDumpDir


class BaseDebugWrapperSession(DebuggedSession, ABC):
    """A session whose every run is asked about by `on_run_start` and told of by `on_run_end`.

    A DEBUG_RUN is dumped into the folders that the answer names, as by `DumpingDebugWrapperSession`, beside the dumps
    of other runs there: what the program gets is what it would get without that. Exceptions of callbacks leave `run`;
    errors of ops are told to `on_run_end`, and then raised, always. Attributes that are set stay with the wrapper.
    """

    def __init__(
        self, sess: Any, thread_name_filter: str | None = None, pass_through_operrors: bool | None = False
    ) -> None:
        """Wrap `sess`, a `tf.compat.v1` Session, InteractiveSession or MonitoredSession.

        Args:
            sess: the session.
            thread_name_filter: matched from the start of a thread's name; of runs of other threads nobody is told.
            pass_through_operrors: has no effect: errors of ops are raised, always.

        Raises:
            TypeError: `sess` is no session, or `on_session_init` answers something else.
            ValueError: `on_session_init` answers an unknown action.
            NotImplementedError: it asks for REMOTE_INSTR_LOOP, which TensorFlow does not have, either.

        """
        self._tfdbg_runs = AskedRuns(self.on_run_start, thread_name_filter)
        super().__init__(sess, recorded(self._tfdbg_runs))
        answer = self.on_session_init(OnSessionInitRequest(sess))
        if not isinstance(answer, OnSessionInitResponse):
            raise TypeError(f"on_session_init must return an OnSessionInitResponse, not {type(answer).__name__}.")
        if answer.action == OnSessionInitAction.REMOTE_INSTR_LOOP:
            raise NotImplementedError("There is no REMOTE_INSTR_LOOP; answer PROCEED.")
        if answer.action != OnSessionInitAction.PROCEED:
            raise ValueError(f"on_session_init returned the unknown action {answer.action!r}; PROCEED is one.")

    def __setattr__(self, name: str, value: Any) -> None:
        object.__setattr__(self, name, value)

    def __delattr__(self, name: str) -> None:
        object.__delattr__(self, name)

    @abstractmethod
    def on_session_init(self, request: OnSessionInitRequest) -> OnSessionInitResponse:
        """Called once, at the end of `__init__`."""

    @abstractmethod
    def on_run_start(self, request: OnRunStartRequest) -> OnRunStartResponse:
        """Called before each run."""

    @abstractmethod
    def on_run_end(self, request: OnRunEndRequest) -> OnRunEndResponse:
        """Called after each run, before its result or its error reaches the program."""

    @property
    def run_call_count(self) -> int:
        """How many runs have begun."""
        return self._tfdbg_runs.run_count

    def increment_run_call_count(self) -> None:
        """Count a run."""
        self._tfdbg_runs.count_run()

    @property
    def _sess(self) -> Any:
        return self._tfdbg_original

    def run(
        self,
        fetches: Any,
        feed_dict: Any = None,
        options: Any = None,
        run_metadata: Any = None,
        callable_runner: Callable[..., Any] | None = None,
        callable_runner_args: Sequence[Any] | None = None,
        callable_options: Any = None,
    ) -> Any:
        """As `DebuggedSession.run`; the callbacks are told of the runs of callables that this wrapper made."""
        if callable_runner is not None or callable_options is not None:
            called = callable_runner, callable_runner_args, callable_options
            return super().run(fetches, feed_dict, options, run_metadata, *called)
        return self._told(Given(options, run_metadata), partial(super().run, fetches, feed_dict, options))

    def make_callable(
        self, fetches: Any, feed_list: Sequence[Any] | None = None, accept_options: bool = False
    ) -> Any:
        """As `tf.compat.v1.Session.make_callable`."""
        return self._telling(super().make_callable(fetches, feed_list, accept_options))

    def _make_callable_from_options(self, callable_options: Any) -> Any:
        return self._telling(super()._make_callable_from_options(callable_options))

    def _telling(self, runner: Callable[..., Any]) -> Callable[..., Any]:
        """`runner`, of whose runs the callbacks are told."""

        def run(*arguments: Any, **keywords: Any) -> Any:
            given = Given(keywords.get("options"), keywords.get("run_metadata"), is_runner=True)
            return self._told(given, lambda metadata: runner(*arguments, **keywords))

        return run

    def _told(self, given: Given, perform: Callable[[RunMetadata], Any]) -> Any:
        """What `perform` gives, once `on_run_end` was told of the run in it and of the metadata that it filled."""
        metadata = compat.v1.RunMetadata() if given.run_metadata is None else given.run_metadata
        with self._tfdbg_runs.within(given) as call:
            try:
                result = perform(metadata)
            except OpError as error:
                self._end(call, metadata, error)
                raise
            self._end(call, metadata, None)
            return result

    def _end(self, call: AskedCall, metadata: RunMetadata, error: Exception | None) -> None:
        if not call.action:  # nobody is told of a run of another thread, or of one that fetches nothing
            return
        graph = self._tfdbg_original.graph.as_graph_def()
        if call.action == OnRunStartAction.NON_DEBUG_RUN:
            self.on_run_end(OnRunEndRequest(call.action, call.given.run_metadata, graph, error))
            return
        if call.place is not None:
            if call.given.run_metadata is None and not metadata.partition_graphs:
                with suppress(LookupError):  # a run that failed before there was a graph
                    metadata.partition_graphs.extend(DebugDumpDir(str(call.place.folder)).partition_graphs())
            call.place.deliver()
        self.on_run_end(OnRunEndRequest(call.action, metadata, graph, error))


class NonInteractiveDebugWrapperSession(BaseDebugWrapperSession):
    """A session whose every run is dumped where `prepare_run_debug_urls` says; `watch_fn` may choose what."""

    def __init__(
        self,
        sess: Any,
        watch_fn: WatchFunction | None = None,
        thread_name_filter: str | None = None,
        pass_through_operrors: bool | None = False,
    ) -> None:
        """Wrap `sess`; for the arguments see `DumpingDebugWrapperSession` and `BaseDebugWrapperSession`.

        Raises:
            TypeError: `sess` is no session, or `watch_fn` cannot be called.

        """
        if watch_fn is not None and not callable(watch_fn):
            raise TypeError(f"watch_fn is not callable: a function of fetches and feeds is wanted, not {watch_fn!r}.")
        self._watch_fn = watch_fn
        super().__init__(sess, thread_name_filter, pass_through_operrors)

    def on_session_init(self, request: OnSessionInitRequest) -> OnSessionInitResponse:
        """Goes on."""
        return OnSessionInitResponse(OnSessionInitAction.PROCEED)

    @abstractmethod
    def prepare_run_debug_urls(self, fetches: Any, feed_dict: Any) -> str | Sequence[str]:
        """The `file://` URL of the folder for the dump of this run, or those of several; runs may share one."""

    def on_run_start(self, request: OnRunStartRequest) -> OnRunStartResponse:
        """Asks for a dump."""
        urls = self.prepare_run_debug_urls(request.fetches, request.feed_dict)
        chosen = WatchOptions()
        if self._watch_fn is not None:
            chosen = watch_options(self._watch_fn(request.fetches, request.feed_dict))
        return OnRunStartResponse(
            OnRunStartAction.DEBUG_RUN,
            urls,
            chosen.debug_ops,
            chosen.node_name_regex_allowlist,
            chosen.op_type_regex_allowlist,
            chosen.tensor_dtype_regex_allowlist,
            chosen.tolerate_debug_op_creation_failures,
        )

    def on_run_end(self, request: OnRunEndRequest) -> OnRunEndResponse:
        """Does nothing."""
        return OnRunEndResponse()
