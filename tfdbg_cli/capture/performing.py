"""The path of one intercepted call of any kind: ask the debugger, perform it once, hand over what it gave."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, Protocol

from tfdbg_cli.capture.controller import Action, Controller, PendingRun, Plan
from tfdbg_cli.capture.mishaps import report
from tfdbg_cli.capture.op_errors import OpError, run_error
from tfdbg_cli.model.runs import Call, Run, RunError
from tfdbg_cli.own_frames import without_our_frames


class Capture(Protocol):
    """One way to take what a run does. Used once: `perform`, then `run`, then `finish`."""

    def perform(self) -> Any:
        """Make the call. Raises what the call raises."""
        ...

    def run(self, call: Call, error: RunError | None) -> Run:
        """What was taken."""
        ...

    def finish(self, keep: bool) -> None:
        """Leave nothing behind, or what was asked to be kept."""
        ...


class Interceptable(Protocol):
    """A call that the program made, not yet performed."""

    def plain(self) -> Any:
        """Perform the call exactly as the program made it."""
        ...

    def pending(self, controller: Controller) -> PendingRun:
        """The run about to happen, as `controller` sees it."""
        ...

    def described(self, number: int, thread: str) -> Call:
        """The description of the call for the screen."""
        ...

    def capture(self, controller: Controller, plan: Plan) -> Capture:
        """The way to take what `plan` asks for. Nothing of the call has been performed when this raises."""
        ...

    def uncaptured(self, call: Call, failure: RunError) -> Run:
        """The run of a call that was left alone and failed."""
        ...

    def with_inputs(self, run: Run) -> Run:
        """`run`, which may have failed, with the values that its failing op was given."""
        ...


def performed(controller: Controller, made: Interceptable) -> Any:
    """Perform the call `made` as `controller` wants it, and give back what it gives.

    It is performed once, whatever fails on our side. Its exceptions come out as the very same objects.
    """
    try:
        plan = controller.run_starts(made.pending(controller))
    except Exception as error:  # noqa: BLE001
        report("look at a run", error)
        return made.plain()
    if plan.action is Action.LEAVE:
        return _left_alone(controller, plan, made)
    try:
        capture = made.capture(controller, plan)
    except Exception as error:  # noqa: BLE001
        report("prepare the capture of a run", error)
        controller.run_abandoned(plan)
        return made.plain()
    return _captured(controller, plan, made, capture)


def _left_alone(controller: Controller, plan: Plan, made: Interceptable) -> Any:
    if not plan.errors:
        return made.plain()
    try:
        return made.plain()
    except OpError as error:
        failure = run_error(error)
        _hand_over(controller, plan, made, lambda call: made.uncaptured(call, failure))
        error.__traceback__ = without_our_frames(error.__traceback__)
        raise


def _captured(controller: Controller, plan: Plan, made: Interceptable, capture: Capture) -> Any:
    keep = False
    try:
        result = capture.perform()
        keep = _hand_over(controller, plan, made, lambda call: capture.run(call, None))
    except OpError as error:
        failure = run_error(error)
        keep = _hand_over(controller, plan, made, lambda call: capture.run(call, failure))
        error.__traceback__ = without_our_frames(error.__traceback__)
        raise
    except BaseException:
        controller.run_abandoned(plan)
        raise
    finally:
        _finish(capture, keep)
    return result


def _hand_over(controller: Controller, plan: Plan, made: Interceptable, make: Callable[[Call], Run]) -> bool:
    """Report the run to the debugger; whether its dump is to be kept."""
    try:
        run = made.with_inputs(make(made.described(plan.number, threading.current_thread().name)))
        return controller.run_ends(plan, run)
    except Exception as error:  # noqa: BLE001
        report("show a run", error)
        controller.run_abandoned(plan)
        return False


def _finish(capture: Capture, keep: bool) -> None:
    try:
        capture.finish(keep)
    except Exception as error:  # noqa: BLE001
        report("put away a dump", error)
