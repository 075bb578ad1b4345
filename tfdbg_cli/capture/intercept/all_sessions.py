"""Debugs every session of a program that knows nothing of tfdbg (`tfdbg run SCRIPT`)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tfdbg_cli.capture.controller import Controller
from tfdbg_cli.capture.failures import remark
from tfdbg_cli.capture.intercept.debugged_session import debugged_options_runner, debugged_runner
from tfdbg_cli.capture.intercept.monitored import HookedCall
from tfdbg_cli.capture.runs.session.session_run import intercepted
from tfdbg_cli.capture.sessions.call_names import is_empty
from tfdbg_cli.capture.sessions.invocation import RunCall
from tfdbg_cli.capture.tf import base_classes, compat
from tfdbg_cli.capture.tf.deprecated import beneath_warning
from tfdbg_cli.capture.tf.patching import replace_methods
from tfdbg_cli.capture.tf.reentrancy import INSIDE, MONITORED
from tfdbg_cli.capture.tf.types import (
    CallableOptions,
    Feeds,
    Fetches,
    Method,
    RawRunner,
    RawSession,
    RunMetadata,
    RunOptions,
    RunResult,
    SymbolicTensor,
)
from tfdbg_cli.process.own_frames import WITHOUT_OUR_FRAMES

_IN_PARTS = "Runs that a program makes in parts, with Session.partial_run, are left alone: tfdbg does not watch them."
_MONITORED_CALLS = ("__init__", "run", "run_step_fn", "close", "__exit__")


def intercept_all_sessions(controller: Controller) -> Callable[[], None]:
    """Make every run of every session ask `controller`, until what this gives is called.

    Sessions that the program wrapped itself ask their own debugger, and only that. Within a monitored session only
    the program's own runs count, not those for initialization, hooks and savers.
    """
    plain, monitored = base_classes.plain_base(), base_classes.monitored_base()
    return replace_methods(
        (plain, "run", _run(controller)),
        (plain, "make_callable", _make_callable(controller)),
        (plain, compat.FROM_OPTIONS, _make_from_options(controller)),
        (plain, "partial_run", lambda original: beneath_warning(original, _partial_run)),
        *((monitored, name, _within_monitored) for name in _MONITORED_CALLS),
    )


def _left_alone(fetches: Fetches) -> bool:
    return INSIDE.holds() or is_empty(fetches) or (MONITORED.holds() and not compat.is_hooked_run(fetches))


def _run(controller: Controller) -> Callable[[Method], Method]:
    def wrap(original: Method) -> Method:
        def run(
            session: RawSession,
            fetches: Fetches,
            feed_dict: Feeds | None = None,
            options: RunOptions = None,
            run_metadata: RunMetadata = None,
        ) -> RunResult:
            with WITHOUT_OUR_FRAMES:
                if _left_alone(fetches):
                    return original(session, fetches, feed_dict, options, run_metadata)
                kind = HookedCall if MONITORED.holds() else RunCall
                call = kind(session, original.__get__(session), fetches, feed_dict, options, run_metadata)
                return intercepted(controller, call)

        return run

    return wrap


def _partial_run(original: Method) -> Method:
    def partial_run(session: RawSession, *arguments: Any, **keywords: Any) -> RunResult:
        with WITHOUT_OUR_FRAMES:
            if not INSIDE.holds():
                remark(_IN_PARTS)
            return original(session, *arguments, **keywords)

    return partial_run


def _make_callable(controller: Controller) -> Callable[[Method], Method]:
    def wrap(original: Method) -> Method:
        def make_callable(
            session: RawSession,
            fetches: Fetches,
            feed_list: Sequence[SymbolicTensor] | None = None,
            accept_options: bool = False,
        ) -> RawRunner:
            make: Callable[..., RawRunner] = original.__get__(session)
            with WITHOUT_OUR_FRAMES:
                if INSIDE.holds() or MONITORED.holds():
                    return make(fetches, feed_list, accept_options)
                return debugged_runner(session, make, controller, fetches, feed_list, accept_options)

        return make_callable

    return wrap


def _make_from_options(controller: Controller) -> Callable[[Method], Method]:
    def wrap(original: Method) -> Method:
        def make_from_options(session: RawSession, callable_options: CallableOptions) -> RawRunner:
            make: Callable[..., RawRunner] = original.__get__(session)
            with WITHOUT_OUR_FRAMES:
                if INSIDE.holds() or MONITORED.holds():
                    return make(callable_options)
                return debugged_options_runner(session, make, controller, callable_options)

        return make_from_options

    return wrap


def _within_monitored(original: Method) -> Method:
    def call(*arguments: Any, **keywords: Any) -> Any:
        with WITHOUT_OUR_FRAMES, MONITORED:
            return original(*arguments, **keywords)

    return call
