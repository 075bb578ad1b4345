"""Debugs the raw session inside a monitored one, so that the prompt opens before its hooks see what a run gave."""

from __future__ import annotations

from typing import Any

from tfdbg_cli.capture.controller import Controller
from tfdbg_cli.capture.runs.session.session_run import intercepted
from tfdbg_cli.capture.sessions.invocation import RunCall
from tfdbg_cli.capture.tf import base_classes, compat
from tfdbg_cli.capture.tf.reentrancy import INSIDE
from tfdbg_cli.capture.tf.types import (
    Feeds,
    Fetches,
    MonitoredSession,
    RawSession,
    RunMetadata,
    RunOptions,
    RunResult,
)
from tfdbg_cli.process.own_frames import WITHOUT_OUR_FRAMES

v1 = compat.v1


class HookedCall(RunCall):
    """A call of a monitored session, to whose fetches its hooks have added theirs."""

    @property
    def arguments(self) -> tuple[Fetches, Feeds | None]:
        return compat.callers_fetches(self.fetches), self.feed_dict


def debug_raw_session(session: RawSession, controller: Controller) -> None:
    """Make the user's own runs of the monitored session around `session` ask `controller`.

    Runs that hooks make for their own affairs (saving, summaries) are left alone. It is done by an attribute of
    this one session, which `restore_raw_session` takes away.
    """
    original = type(session).run.__get__(session)

    def run(
        fetches: Fetches,
        feed_dict: Feeds | None = None,
        options: RunOptions = None,
        run_metadata: RunMetadata = None,
    ) -> RunResult:
        with WITHOUT_OUR_FRAMES:
            if INSIDE.holds() or not compat.is_hooked_run(fetches):
                return original(fetches, feed_dict, options, run_metadata)
            call = HookedCall(session, original, fetches, feed_dict, options, run_metadata)
            return intercepted(controller, call)

    session.run = run


def restore_raw_session(session: RawSession) -> None:
    """Take back what `debug_raw_session` did."""
    if session is not None:
        session.__dict__.pop("run", None)


class RawSessionHook(v1.train.SessionRunHook):  # type: ignore[misc,name-defined]
    """A hook that debugs each raw session which a monitored session makes, as long as it lives."""

    def __init__(self, controller: Controller) -> None:
        self._controller = controller

    def after_create_session(self, session: RawSession, coord: Any) -> None:
        """Begin with the session that the monitored session has just made."""
        debug_raw_session(session, self._controller)

    def before_run(self, run_context: Any) -> None:
        """Begin with a session that was made before the hook was added; its next run is the first."""
        session = run_context.session
        if isinstance(session, base_classes.plain_base()) and "run" not in vars(session):
            debug_raw_session(session, self._controller)

    def end(self, session: RawSession) -> None:
        """Leave the session as it was."""
        restore_raw_session(session)


def debug_monitored(monitored: MonitoredSession, controller: Controller) -> None:
    """Debug the raw session in the session `monitored`, and those that it makes after a worker went away."""
    compat.add_hook(monitored, RawSessionHook(controller))
    raw = compat.raw_session_of(monitored)
    if raw is not None:
        debug_raw_session(raw, controller)
