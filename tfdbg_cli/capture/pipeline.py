"""The path of one intercepted call of any kind: ask the debugger, perform it once, hand over what it gave."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import nullcontext
from types import TracebackType
from typing import NamedTuple, TypeGuard
from weakref import WeakSet

from tfdbg_cli.capture.controller import Action, Controller, Plan, WrongAnswerError
from tfdbg_cli.capture.failures import remark, report
from tfdbg_cli.capture.interceptable import (
    Capture,
    DrawsAlike,
    Interceptable,
    SelfChecking,
    SelfReporting,
    StopsWithin,
)
from tfdbg_cli.capture.tf.op_errors import OpError, run_error
from tfdbg_cli.capture.tf.reentrancy import AT_WORK, INSIDE
from tfdbg_cli.capture.tf.types import RunResult
from tfdbg_cli.collection import COLLECTOR, count_as_old
from tfdbg_cli.config.settings import Settings
from tfdbg_cli.errors import words_of
from tfdbg_cli.model.calls import Call, RunError
from tfdbg_cli.model.runs import Run
from tfdbg_cli.process.interruptions import in_signal_handler, our_errors
from tfdbg_cli.process.own_frames import leave_out_our_frames

_AMID_OUR_WORK = (
    "A signal handler of the program ran TensorFlow while tfdbg was at work in the same thread: that run was made"
    " plainly, and nobody looked at it. Of later ones nothing is said."
)


_SHOWN: WeakSet[BaseException] = WeakSet()  # errors on which the prompt was open


def was_shown(error: BaseException) -> bool:
    """Whether the prompt was open on `error` already, or on one that it was raised from."""
    met: set[int] = set()
    at: BaseException | None = error
    while at is not None and id(at) not in met:
        if isinstance(at, OpError) and at in _SHOWN:
            return True
        met.add(id(at))
        at = at.__cause__ or at.__context__
    return False


class _LeftCall:
    """Which intercepted call raised the exception that is on its way up, so that the end of the program can show it.

    It is forgotten as soon as another call begins. It keeps the id and the words of the exception: the exception
    itself would keep alive whatever the frames of its traceback hold, and the id alone is that of another one once
    the program has caught it.
    """

    def __init__(self) -> None:
        self._left: tuple[_Identity, Plan, Interceptable] | None = None

    def forget(self) -> None:
        """Forget the last one, since another call begins."""
        self._left = None

    def note(self, error: Exception, plan: Plan, made: Interceptable) -> None:
        """Note that `error` comes out of the call `made`. Of nested calls the outermost is noted last, and stays."""
        if not was_shown(error):
            self._left = _identity(error), plan, made

    def by(self, error: Exception) -> tuple[Plan, Interceptable] | None:
        """The plan and the call that `error` came out of; None unless that is the last one noted."""
        if self._left is None or self._left[0] != _identity(error):
            return None
        return self._left[1:]


_Identity = tuple[int, type[Exception], str]


def _identity(error: Exception) -> _Identity:
    return id(error), type(error), words_of(error)


LEFT_CALL = _LeftCall()


def performed(controller: Controller, made: Interceptable) -> RunResult:
    """Perform the call `made` as `controller` wants it, and give back what it gives.

    It is performed once, whatever fails on our side. Its exceptions come out as they are, the same objects. A call
    that is made amid our work around another one, as by a signal handler, is made plainly.
    """
    if AT_WORK.holds():
        return _made_amid_our_work(made)
    LEFT_CALL.forget()
    plan, capture, failure = planned(controller, made)
    if failure is not None:
        return _left_alone(made, failure)
    assert plan is not None
    try:
        if capture is None and not plan.errors:
            return _left(made, plan, controller.settings)
        with Reported(controller, plan, made, capture):
            return _left(made, plan, controller.settings) if capture is None else _captured(capture)
    except Exception as error:
        LEFT_CALL.note(error, plan, made)
        raise


def _left(made: Interceptable, plan: Plan, settings: Settings) -> RunResult:
    """Perform a call of which nothing is taken."""
    if isinstance(made, DrawsAlike) and (plan.among_recorded or made.draws_apart):
        return made.as_captured(settings)
    return made.plain()


def _captured(capture: Capture) -> RunResult:
    """Perform a call by `capture`. What is run meanwhile, as by a signal handler, is left alone.

    Where the program's own Python is the run, that does so itself, as it notes what this calls.
    """
    with nullcontext() if _reports_itself(capture) else INSIDE:
        return capture.perform()


def _made_amid_our_work(made: Interceptable) -> RunResult:
    """Make the call `made` plainly: what it interrupts may hold a lock, or be half-way through a decision."""
    if in_signal_handler():
        remark(_AMID_OUR_WORK)
    return made.plain()


class Failure(NamedTuple):
    """An `error` of ours, and what we were `doing`."""

    doing: str
    error: Exception

    def report(self) -> None:
        """Say it on standard error."""
        report(self.doing, self.error)


def _left_alone(made: Interceptable, failure: Failure) -> RunResult:
    """Make the call `made` plainly, since nothing else could be done with it, and say why.

    Nothing is said of a call that is wrong in itself, such as one that fetches what is not there: the program hears
    of that, and it stood in our way, too.
    """
    try:
        result = made.plain()
    except OpError:
        failure.report()
        raise
    failure.report()
    return result


class Planned(NamedTuple):
    """What is to be done with a call.

    `plan` is None where tfdbg itself failed with `failure`: the call is then made plainly. `capture` carries the plan
    out; it is None where the plan leaves the call alone.
    """

    plan: Plan | None
    capture: Capture | None = None
    failure: Failure | None = None


def planned(controller: Controller, made: Interceptable) -> Planned:
    """The plan of `controller` for the call `made`, and the capture that carries it out.

    Raises:
        Exception: the error of a WrongAnswerError, for the program to see.

    """
    with AT_WORK:
        return _planned(controller, made)


def _planned(controller: Controller, made: Interceptable) -> Planned:
    plan: Plan | None = None
    try:
        plan = controller.run_starts(made.pending(controller))
    except WrongAnswerError as wrong:
        refusal = wrong.error
    except our_errors() as error:
        return Planned(None, failure=Failure("look at a run", error))
    if plan is None:
        raise refusal
    if plan.action is Action.LEAVE:
        if plan.errors and controller.sought is not None and isinstance(made, StopsWithin):
            return Planned(plan, made.stopping(controller, plan))
        return Planned(plan)
    try:
        with COLLECTOR.put_off():
            return Planned(plan, made.capture(controller, plan))
    except our_errors() as error:
        _abandon(controller, plan)
        return Planned(None, failure=Failure("prepare the capture of a run", error))


class Reported:
    """A context in which a call is performed. At its end the debugger is told what came of it."""

    def __init__(self, controller: Controller, plan: Plan, made: Interceptable, capture: Capture | None) -> None:
        self._controller = controller
        self._plan = plan
        self._made = made
        self._capture = capture

    def __enter__(self) -> None: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with AT_WORK:
            try:
                self._ends(error)
            except our_errors() as ours:  # the program gets its own exception, or the result that it has
                report("take in what came of a run", ours)
                _abandon(self._controller, self._plan)

    def _ends(self, error: BaseException | None) -> None:
        """Tell the debugger what came of the call, which gave `error`, if it failed."""
        capture, plan = self._capture, self._plan
        keep = False
        try:
            if isinstance(error, OpError):
                failure = run_error(error)
                keep = self._hand_over(
                    lambda call: (
                        self._made.uncaptured(call, failure) if capture is None else capture.run(call, failure)
                    )
                )
                if keep:
                    _SHOWN.add(error)
                leave_out_our_frames(error)
            elif error is not None:
                self._controller.run_abandoned(plan, self._so_far(error))
            elif capture is not None and _has_reported(capture):
                pass
            elif capture is not None and _has_passed(capture):
                self._passed(capture)
            elif capture is not None:
                keep = self._hand_over(lambda call: capture.run(call, None))
        finally:
            if capture is not None:
                _finish(capture, keep)

    def _so_far(self, error: BaseException) -> Callable[[], Run] | None:
        """What makes the run as far as it came when the program's `error` broke it off; None where nobody knows."""
        capture = self._capture
        if not isinstance(error, Exception) or capture is None or not _is_noted_as_it_runs(capture):
            return None
        failure = RunError(type(error).__name__, words_of(error))
        return lambda: self._made.with_inputs(capture.run(self._call(), failure))

    def _passed(self, capture: Capture) -> None:
        plan = self._plan
        exactness = capture.exactness if _checks_itself(capture) else None
        try:
            self._controller.run_passed(
                plan, lambda: self._made.with_inputs(capture.run(self._call(), None)), exactness, self._made.looks_at
            )
        except our_errors() as error:
            report("count a watched run", error)

    def _call(self) -> Call:
        return self._made.described(self._plan.number, threading.current_thread().name)

    def _hand_over(self, make: Callable[[Call], Run]) -> bool:
        """Hand the run over to the debugger. Gives whether its dump is to be kept."""
        plan = self._plan
        try:
            with COLLECTOR.put_off():
                run = self._made.with_inputs(make(self._call()))
                count_as_old()
            return self._controller.run_ends(plan, run)
        except our_errors() as error:
            report("show a run", error)
            _abandon(self._controller, plan)
            return False


def _abandon(controller: Controller, plan: Plan) -> None:
    """Tell `controller` that the run of `plan` ends without a report, where something of ours has failed already."""
    try:
        controller.run_abandoned(plan)
    except our_errors() as error:
        report("go on behind a run", error)


def _has_reported(capture: Capture) -> bool:
    return _reports_itself(capture) and capture.reported


def _is_noted_as_it_runs(capture: Capture) -> bool:
    """Whether `capture` can give a run that has not ended, and has not done so yet."""
    return _reports_itself(capture) and not capture.reported


def _has_passed(capture: Capture) -> bool:
    return _checks_itself(capture) and capture.passed


# By the class: `isinstance` of a protocol asks the object for all that is in the protocol, at every run of a watch.
def _reports_itself(capture: Capture) -> TypeGuard[SelfReporting]:
    return hasattr(type(capture), "reported")


def _checks_itself(capture: Capture) -> TypeGuard[SelfChecking]:
    return hasattr(type(capture), "passed")


def _finish(capture: Capture, keep: bool) -> None:
    try:
        capture.finish(keep)
    except our_errors() as error:
        report("put away a dump", error)
