"""A session that asks the debugger before every run, and in all else is the session that it wraps."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

from tfdbg_cli.capture.controller import Controller
from tfdbg_cli.capture.intercept.monitored import debug_monitored
from tfdbg_cli.capture.runs.session.session_run import intercepted
from tfdbg_cli.capture.sessions.call_names import is_empty
from tfdbg_cli.capture.sessions.invocation import RunCall
from tfdbg_cli.capture.sessions.runners import OptionsRunner, OptionsRunnerCall, Runner, RunnerCall
from tfdbg_cli.capture.tf import base_classes, compat
from tfdbg_cli.capture.tf.proxy import Proxy
from tfdbg_cli.capture.tf.types import (
    CallableOptions,
    Feeds,
    Fetches,
    RawRunner,
    RawSession,
    RunMetadata,
    RunOptions,
    RunResult,
    SymbolicTensor,
)
from tfdbg_cli.process.own_frames import WITHOUT_OUR_FRAMES

v1 = compat.v1


class DebuggedSession(Proxy):
    """A proxy of a Session, InteractiveSession or MonitoredSession.

    `run` and the runners that it makes are debugged; everything else, attributes that are set included, is the
    wrapped session's. A monitored session is debugged at the session inside it, before its hooks see what came out.
    """

    _tfdbg_original: RawSession

    def __init__(self, session: RawSession, controller: Controller) -> None:
        """Wrap `session`.

        Raises:
            TypeError: not a session; the message says what to pass.

        """
        _require_session(session)
        super().__init__(session)
        self._tfdbg_controller = controller
        self._tfdbg_is_monitored = isinstance(session, base_classes.monitored_base())
        # What each `with` of this wrapper entered: what the session keeps for its own `with`, or one of `as_default`.
        self._tfdbg_entered: list[Any] = []
        self._tfdbg_runners: dict[bytes, RawRunner] = {}  # by the CallableOptions that `run` was given
        if self._tfdbg_is_monitored:
            debug_monitored(session, controller)

    @property
    def session(self) -> RawSession:
        """The wrapped session."""
        return self._tfdbg_original

    def run(
        self,
        fetches: Fetches,
        feed_dict: Feeds | None = None,
        options: RunOptions = None,
        run_metadata: RunMetadata = None,
        callable_runner: RawRunner | None = None,
        callable_runner_args: Sequence[Any] | None = None,
        callable_options: CallableOptions = None,
    ) -> RunResult:
        """As `tf.compat.v1.Session.run`, debugged; or the run of a callable, as TensorFlow's wrappers make it.

        Args:
            fetches: what to fetch; None with a callable.
            feed_dict: what to feed; None with a callable.
            options: TensorFlow's options of the run.
            run_metadata: what TensorFlow tells of the run.
            callable_runner: what `make_callable` gave. One that this wrapper made is debugged; one that the session
                itself made does not tell what it fetches, and is called as it is.
            callable_runner_args: what `callable_runner`, or the callable of `callable_options`, is called with.
            callable_options: what to make a callable of, which is debugged.

        Raises:
            ValueError: it is told to run more than one thing.

        """
        if callable_runner is not None or callable_options is not None:
            _require_one_thing(fetches, feed_dict, callable_runner, callable_options)
            runner = callable_runner or self._runner_of(callable_options)
            given = {"run_metadata": run_metadata}
            if callable_runner is not None:  # what is made of CallableOptions has those in them
                given["options"] = options
            known = {name: value for name, value in given.items() if value is not None}
            return runner(*(callable_runner_args or ()), **known)
        session = self._tfdbg_original
        with WITHOUT_OUR_FRAMES:
            if self._tfdbg_is_monitored or is_empty(fetches):
                return session.run(fetches, feed_dict, options, run_metadata)
            call = RunCall(session, session.run, fetches, feed_dict, options, run_metadata)
            return intercepted(self._tfdbg_controller, call)

    def run_step_fn(self, step_fn: Callable[[Any], RunResult]) -> RunResult:
        """As `MonitoredSession.run_step_fn`; on a plain session, `step_fn` is called with a context of its own."""
        with WITHOUT_OUR_FRAMES:
            if self._tfdbg_is_monitored:
                return self._tfdbg_original.run_step_fn(step_fn)
            return step_fn(v1.train.MonitoredSession.StepContext(self._tfdbg_original, self.run))

    def should_stop(self) -> bool:
        """As `MonitoredSession.should_stop`.

        Raises:
            ValueError: the wrapped session is no monitored one.

        """
        if self._tfdbg_is_monitored:
            return bool(self._tfdbg_original.should_stop())
        raise ValueError(
            "Only a MonitoredSession knows should_stop(); this is a "
            f"{type(self._tfdbg_original).__name__}. Wrap the MonitoredSession, or pass a hook to it."
        )

    def make_callable(
        self, fetches: Fetches, feed_list: Sequence[SymbolicTensor] | None = None, accept_options: bool = False
    ) -> RawRunner:
        """As `tf.compat.v1.Session.make_callable`; what the runner runs is debugged."""
        session = self._tfdbg_original
        with WITHOUT_OUR_FRAMES:
            return debugged_runner(
                session, session.make_callable, self._tfdbg_controller, fetches, feed_list, accept_options
            )

    def _make_callable_from_options(self, callable_options: CallableOptions) -> RawRunner:
        session = self._tfdbg_original
        make = compat.maker_from_options(session)
        with WITHOUT_OUR_FRAMES:
            return debugged_options_runner(session, make, self._tfdbg_controller, callable_options)

    def _runner_of(self, callable_options: CallableOptions) -> RawRunner:
        """The callable that `callable_options` describe, made once."""
        key = callable_options.SerializeToString(deterministic=True)
        if key not in self._tfdbg_runners:
            self._tfdbg_runners[key] = self._make_callable_from_options(callable_options)
        return self._tfdbg_runners[key]

    def as_default(self) -> Any:
        """As `tf.compat.v1.Session.as_default`: `tensor.eval()` in this context is debugged."""
        return vars(base_classes.plain_base())["as_default"](self)

    def __enter__(self) -> Any:
        kind = type(self._tfdbg_original)
        own: dict[str, Any] = self._tfdbg_original.__dict__
        if hasattr(kind, "__enter__") and not self._tfdbg_entered:
            before = dict(own)
            # One that was entered cannot be entered once more; TensorFlow's own wrapper of it can.
            with suppress(RuntimeError):
                entered = kind.__enter__(self)
                # Kept here, so that the session itself can be entered within, as within TensorFlow's own wrapper.
                kept = {name: value for name, value in own.items() if before.get(name) is not value}
                own.update({name: before.get(name) for name in kept})
                self._tfdbg_entered.append(kept)
                return entered
        # An InteractiveSession is no context; TensorFlow's own wrapper of one is.
        self._tfdbg_entered.append(self.as_default())
        return self._tfdbg_entered[-1].__enter__()

    def __exit__(self, kind: Any, error: Any, trace: Any) -> Any:
        entered = self._tfdbg_entered.pop()
        if not isinstance(entered, dict):
            return entered.__exit__(kind, error, trace)
        self._tfdbg_original.__dict__.update(entered)
        return type(self._tfdbg_original).__exit__(self, kind, error, trace)

    def close(self) -> None:
        """Close the wrapped session."""
        self._tfdbg_original.close()


def debugged_runner(
    session: RawSession,
    make: Callable[..., RawRunner],
    controller: Controller,
    fetches: Fetches,
    feed_list: Sequence[SymbolicTensor] | None,
    accept_options: bool,
) -> RawRunner:
    """What `make` (a make_callable) gives for these arguments, with its runs debugged."""
    runner = Runner(session, make, fetches, feed_list, accept_options)

    def run(*arguments: Any, **keywords: Any) -> RunResult:
        with WITHOUT_OUR_FRAMES:
            return intercepted(controller, RunnerCall(runner, arguments, keywords))

    return run


def debugged_options_runner(
    session: RawSession, make: Callable[..., RawRunner], controller: Controller, callable_options: CallableOptions
) -> RawRunner:
    """What `make` (a _make_callable_from_options) gives for these options, with its runs debugged."""
    runner = OptionsRunner(session, make, callable_options)

    def run(*arguments: Any, **keywords: Any) -> RunResult:
        with WITHOUT_OUR_FRAMES:
            return intercepted(controller, OptionsRunnerCall(runner, arguments, keywords))

    return run


def _require_one_thing(
    fetches: Fetches, feed_dict: Feeds | None, callable_runner: RawRunner | None, callable_options: CallableOptions
) -> None:
    if callable_runner is not None and callable_options is not None:
        raise ValueError("callable_runner and callable_options exclude each other: give one of both.")
    name = "callable_options" if callable_runner is None else "callable_runner"
    if feed_dict or not (fetches is None or is_empty(fetches)):
        raise ValueError(f"{name} tells what is fetched and fed: fetches and feed_dict have to be None beside it.")


def _require_session(session: RawSession) -> None:
    if isinstance(session, (base_classes.plain_base(), base_classes.monitored_base())):
        return
    if isinstance(session, type) and issubclass(session, (base_classes.plain_base(), base_classes.monitored_base())):
        raise TypeError(f"A session is wanted, not its class {session.__name__}: write {session.__name__}().")
    raise TypeError(
        f"A tf.compat.v1 Session, InteractiveSession or MonitoredSession is wanted, not {type(session).__name__}. "
        "A tf.function, a Keras model of TensorFlow 2 and eager code make no Session.run, so there is none to debug."
    )
