"""Ops of a tape that are shown to a listener some at a time, not each on its own.

While a tape computes gradients, TensorFlow runs op after op, and no Python of the program runs between them: nobody
can tell whether an op is looked at before the next one or a little later. They belong to one turn, so none is asked
for, and the same Python for many ops in a row takes less than between two ops, behind which a processor has forgotten
it.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any, TypeAlias

from tfdbg_cli.capture.failures import report
from tfdbg_cli.capture.runs.eager.name_scopes import SCOPE_CHANGES
from tfdbg_cli.capture.runs.eager.program.stacks import Stack, stack_here, under_here
from tfdbg_cli.capture.tf import compat
from tfdbg_cli.capture.tf.callers import is_tensorflows
from tfdbg_cli.capture.tf.compat import EagerTensor, elements_of
from tfdbg_cli.capture.tf.types import Method, OpOutputs
from tfdbg_cli.ops.kinds import PYTHON
from tfdbg_cli.own_frames import WITHOUT_OUR_FRAMES

# What an op and its stack take of the room for elements, beside those that it gave: a hundred ops at most.
_ONE = 10_000
_MOST_TAPES = 10_000
ROOM = 100 * _ONE

# What an op was run by, as `fast` gets it, what it gave, its stack and its scope.
RanOp: TypeAlias = tuple[tuple[Any, ...], OpOutputs, Stack, str]


def _nobody(ops: Sequence[RanOp]) -> None:
    """Looks at nothing."""


def _nowhere() -> str:
    return ""


class PutOff:
    """What one thread has put off."""

    __slots__ = ("_changes", "_room", "_scope_now", "_show", "_under", "allowed", "is_open", "ops", "scope")

    def __init__(self) -> None:
        self.allowed = False  # whether a tape is at work, and nothing of the program's runs within it
        self.is_open = False  # whether the next op is put off, and no listener is asked
        self.ops: list[RanOp] = []
        self.scope = ""
        self._room = 0
        self._changes = -1
        self._under = under_here()
        self._show: Callable[[Sequence[RanOp]], None] = _nobody
        self._scope_now: Callable[[], str] = _nowhere

    def begin(self, show: Callable[[Sequence[RanOp]], None], scope_now: Callable[[], str], room: int) -> None:
        """Put off what is `allowed` from now on, until `show` gets it; `room` is for elements of tensors."""
        self._show, self._scope_now, self._room = show, scope_now, room
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
        if self._room < 0 or not self.is_open:  # the op itself can have called what had others shown
            self.show()

    def scope_changes(self) -> None:
        """Note that the scope of the next op is another one, though TensorFlow's is not."""
        self._changes = -1

    def show(self) -> None:
        """Show what was put off, and put off nothing more until `begin` says so."""
        self.is_open = False
        if self.ops:
            ops, self.ops = self.ops, []
            show, self._show, self._scope_now = self._show, _nobody, _nowhere  # they hold the log of a run
            try:
                show(ops)
            except Exception as error:  # noqa: BLE001  # must not become one of the program's
                report("look at an op", error)

    def within(self, *, tape: bool) -> _Within:
        """A context in which a tape is at work, and no Python of the program's; or, without `tape`, just that."""
        return _Within(self, tape)


class _Within:
    """See `PutOff.within`. No generator: what it shows is shown amid the calls of the program, and no others."""

    __slots__ = ("_before", "_put_off", "_tape")

    def __init__(self, put_off: PutOff, tape: bool) -> None:
        self._put_off = put_off
        self._tape = tape
        self._before = put_off.allowed

    def __enter__(self) -> None:
        self._put_off.show()
        self._put_off.allowed = self._tape

    def __exit__(self, *_: object) -> None:
        try:
            self._put_off.show()
        finally:
            self._put_off.allowed = self._before


class _Threads(threading.local):
    def __init__(self) -> None:
        self.here = PutOff()


THREADS = _Threads()
_RUNS_PROGRAM: dict[str, bool] = {}  # what `runs_program` said


class Tapes:
    """The tapes that may put off: those of which it is known that they say before they call the program's Python.

    A tape calls Python for what was recorded with a function of its own, such as that of `tf.custom_gradient`. These
    are replaced as they are recorded, so that what was put off is shown first; tapes that are older are not known.
    """

    def __init__(self) -> None:
        self._known: set[int] = set()  # their ids; of two tapes that live at the same time they differ

    def forget(self) -> None:
        """Know none: what is recorded from now on is not seen."""
        self._known.clear()

    def is_known(self, tape: Any) -> bool:
        """Whether all that `tape` recorded was seen."""
        return id(tape) in self._known

    def new(self, original: Method) -> Method:
        """Stands for the function of TensorFlow's that makes a tape."""

        def new(*arguments: Any) -> Any:
            tape = original(*arguments)
            if len(self._known) > _MOST_TAPES:
                self._known.clear()
            self._known.add(id(tape))
            return tape

        return new

    @staticmethod
    def recorded(original: Method) -> Method:
        """Stands for a function of TensorFlow's that records an op with a function for its gradient."""

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
