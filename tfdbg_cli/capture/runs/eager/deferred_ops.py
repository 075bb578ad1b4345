"""Ops of a tape that are shown to a listener in batches, not one by one.

While a tape computes gradients, TensorFlow runs op after op, and no Python of the program runs between them: nobody
can tell whether an op is looked at right away or a little later. It is faster in batches: all these ops belong to one
turn, which then need not be found for each, and our Python stays in the processor's caches.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import wraps
from typing import Any, TypeAlias

from tfdbg_cli.capture.failures import report_once
from tfdbg_cli.capture.runs.eager.program.name_scopes import SCOPE_CHANGES
from tfdbg_cli.capture.runs.eager.program.stacks import Stack, stack_here, under_here
from tfdbg_cli.capture.runs.eager.unseen_ops import report_unseen
from tfdbg_cli.capture.tf import compat
from tfdbg_cli.capture.tf.callers import is_tensorflows
from tfdbg_cli.capture.tf.compat import EagerTensor, eager_context, elements_of, thread_data
from tfdbg_cli.capture.tf.types import Method, OpOutputs
from tfdbg_cli.ops.kinds import PYTHON
from tfdbg_cli.process.interruptions import our_errors
from tfdbg_cli.process.own_frames import WITHOUT_OUR_FRAMES

# What each op put off costs of the room, counted in elements, beside those of its outputs: 100 ops at most.
_ONE = 10_000
_MOST_TAPES = 10_000
_MOST_ROOM = 100 * _ONE

# An op that has run: the arguments of `fast` (see `ops.EagerOps`), its outputs or `Failed`, its stack and its scope.
RanOp: TypeAlias = "tuple[tuple[Any, ...], OpOutputs | Failed, Stack, str]"


@dataclass(frozen=True, slots=True)
class Failed:
    """In place of the outputs of an op that failed: what it said."""

    message: str


def _nobody(ops: Sequence[RanOp]) -> None:
    """Looks at nothing."""


def _nowhere() -> str:
    return ""


class DeferredOps:
    """What one thread has put off."""

    __slots__ = ("_changes", "_room", "_scope_now", "_show", "_under", "allowed", "is_open", "ops", "scope", "thread")

    def __init__(self) -> None:
        self.allowed = False  # whether a tape computes gradients, and no Python of the program runs in between
        self.is_open = False  # whether the next op is put off without asking a listener
        self.ops: list[RanOp] = []
        self.thread = thread_data(eager_context())  # what TensorFlow knows of it, such as its `op_callbacks`
        self.scope = ""
        self._room = 0
        self._changes = -1
        self._under = under_here()
        self._show: Callable[[Sequence[RanOp]], None] = _nobody
        self._scope_now: Callable[[], str] = _nowhere

    def begin(self, show: Callable[[Sequence[RanOp]], None], scope_now: Callable[[], str], room: int) -> None:
        """Put off ops from now on, which `show` gets later: when their tensors exceed `room` elements, or earlier."""
        self._show, self._scope_now, self._room = show, scope_now, min(room, _MOST_ROOM)
        self._changes = -1
        self.is_open = True

    def add(self, arguments: tuple[Any, ...], outputs: OpOutputs) -> None:
        """Put off an op that `fast`, which calls this, has run with these `arguments`."""
        if self._changes != SCOPE_CHANGES.latest:
            self._changes, self.scope = SCOPE_CHANGES.latest, self._scope_now()
        self.ops.append((arguments, outputs, stack_here(4, self._under), self.scope))
        if type(outputs) is EagerTensor:
            self._room -= elements_of(outputs) + _ONE
        else:
            self._room -= sum(map(elements_of, outputs or ())) + _ONE
        if self._room < 0 or not self.is_open:  # the op may have called Python that made us show the others
            self.show()

    def fails(self, arguments: tuple[Any, ...], message: str) -> None:
        """Show what was put off, and behind it the op that `fast`, which calls this, has run in vain."""
        try:
            self.ops.append((arguments, Failed(message), stack_here(4, self._under), self._scope_now()))
        except our_errors() as error:
            report_once("look at an op that failed", error)
        self.show()

    def scope_changes(self) -> None:
        """Note that the next op is in another scope, though TensorFlow's name scope has not changed."""
        self._changes = -1

    def show(self) -> None:
        """Show what was put off, and put off nothing more until `begin` says so."""
        self.is_open = False
        if self.ops:
            ops, self.ops = self.ops, []
            show, self._show, self._scope_now = self._show, _nobody, _nowhere  # they hold the log of a run
            try:
                show(ops)
            except our_errors() as error:  # must not become one of the program's
                report_unseen(error, *(given for arguments, *_ in ops for given in arguments), ops[-1][1])

    def within(self, *, tape: bool) -> _Within:
        """A context in which ops may be put off (`tape`), or in which they may not, since the program's Python runs.

        What was put off is shown on entering and on leaving it.
        """
        return _Within(self, tape)


class _Within:
    """See `DeferredOps.within`. A class: a generator would add frames of contextlib to the stacks that are shown."""

    __slots__ = ("_before", "_deferred", "_tape")

    def __init__(self, deferred: DeferredOps, tape: bool) -> None:
        self._deferred = deferred
        self._tape = tape
        self._before = deferred.allowed

    def __enter__(self) -> None:
        self._deferred.show()
        self._deferred.allowed = self._tape

    def __exit__(self, *_: object) -> None:
        try:
            self._deferred.show()
        finally:
            self._deferred.allowed = self._before


class _Threads(threading.local):
    def __init__(self) -> None:
        self.here = DeferredOps()


THREADS = _Threads()
_RUNS_PROGRAM: dict[str, bool] = {}  # what `runs_program` said


class Tapes:
    """The tapes whose ops may be put off: those that we have seen from their beginning.

    A tape calls Python of the program for gradients that were recorded as functions, as by `tf.custom_gradient`. Such
    a function is wrapped when it is recorded, so that what was put off is shown before it runs. In tapes that are
    older than the interception they are not wrapped.
    """

    def __init__(self) -> None:
        self._known: set[int] = set()  # ids of the tapes; those that live at the same time have different ones

    def forget(self) -> None:
        """Forget all tapes: what they record from now on is not seen."""
        self._known.clear()

    def is_known(self, tape: Any) -> bool:
        """Whether `tape` was made while recording is intercepted, so that its functions are wrapped."""
        return id(tape) in self._known

    def new(self, original: Method) -> Method:
        """The replacement for TensorFlow's function that makes a tape."""

        def new(*arguments: Any) -> Any:
            tape = original(*arguments)
            if len(self._known) > _MOST_TAPES:
                self._known.clear()
            self._known.add(id(tape))
            return tape

        return new

    @staticmethod
    def recorded(original: Method) -> Method:
        """The replacement for a function of TensorFlow's that records an op with a function for its gradient."""

        def record(op_type: Any, outputs: Any, inputs: Any, backward: Any, *rest: Any) -> Any:
            return original(op_type, outputs, inputs, _shown_before(backward), *rest)

        return record


def _shown_before(function: Any) -> Any:
    if not callable(function):
        return function

    @wraps(function)
    def called(*arguments: Any, **named: Any) -> Any:
        with WITHOUT_OUR_FRAMES, THREADS.here.within(tape=False):
            return function(*arguments, **named)

    return called


def runs_program(op_type: str) -> bool:
    """Whether the gradient of ops of this type may run Python of the program's."""
    known = _RUNS_PROGRAM.get(op_type)
    if known is None:
        try:
            gradient = compat.registered_gradient(op_type)
        except LookupError:  # there is none yet, and TensorFlow will say so
            return True
        code = getattr(gradient, "__code__", None)
        own = gradient is None or (code is not None and is_tensorflows(code.co_filename))
        known = _RUNS_PROGRAM[op_type] = op_type in PYTHON or not own
    return known
