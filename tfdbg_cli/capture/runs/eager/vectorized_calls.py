"""Functions that TensorFlow makes of its own accord amid eager code and calls at once: ops of that, with insides.

tf.vectorized_map and the jacobian of a tape make one to vectorize the code, a forward accumulator one for each type
of op. The program knows of no function: to it that is one call of many.
"""

from __future__ import annotations

import inspect
import os
import threading
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np

from tfdbg_cli.capture.functions.graph.scopes import forward_of
from tfdbg_cli.capture.runs.eager.log.insides import Insides, call_of
from tfdbg_cli.capture.runs.eager.log.noted_ops import taken
from tfdbg_cli.capture.runs.eager.log.recent import RecentOps
from tfdbg_cli.capture.runs.eager.program.stacks import Stack
from tfdbg_cli.capture.runs.function.traced_function import traced_function
from tfdbg_cli.capture.runs.function.tracing_notes import Entered
from tfdbg_cli.capture.state.call_snapshot import CallSnapshot
from tfdbg_cli.capture.tf import compat
from tfdbg_cli.capture.tf.op_definitions import function_name
from tfdbg_cli.capture.tf.types import AtomicFunction, AttributeList, EagerTensor, OpInput

_MAKERS = os.path.join("ops", "parallel_for", "")  # noqa: PTH118  # a part of paths
_MARK = "_tfdbg_own_call"  # the attribute of the graphs of such functions: what TensorFlow calls what they do
_VECTORIZED = "pfor"
# By the names of the graphs of such functions that no tf.function makes, the same.
_OTHERS = {"_jvp_exact_shapes": "jvp", "_jvp_relaxed_shapes": "jvp"}
_GRADIENT = "gradient_of_"
_KEPT = 32  # functions: TensorFlow drops each when it was called
_MOST = 256 << 20  # bytes of what they were given, and of variables
_ZEROS = "Fill"


@dataclass(frozen=True, eq=False)
class VectorizedCall:
    """A call that is under way: the insides of the function, and the tensors that it is given, what it captured too.

    `op_type` is that of the op by which TensorFlow makes it. `slopes` are those of `given` that a tape handed to a
    gradient. `nbytes` is what the snapshot of the call holds.
    """

    op_type: str
    name: str  # what the op is called
    insides: Insides
    given: Sequence[EagerTensor]
    slopes: Sequence[EagerTensor]
    nbytes: int


class _Here(threading.local):
    """Of one thread: the call that is under way, and those made last, of which the insides can be told."""

    def __init__(self) -> None:
        self.call: VectorizedCall | None = None
        self.kept: deque[VectorizedCall] = deque(maxlen=_KEPT)

    def keep(self, call: VectorizedCall) -> None:
        """Keep `call`, and drop the oldest ones if they hold too much."""
        self.kept.append(call)
        while sum(one.nbytes for one in self.kept) > _MOST:
            self.kept.popleft()


_HERE = _Here()
_marked = threading.Event()  # whether there was any such function: else no gradient is one


def vectorizes(atomic: AtomicFunction, entered: Entered | None) -> bool:
    """Whether `atomic` is such a function, or the gradient of one; `entered` is the tf.function that is called."""
    other = _OTHERS.get(atomic.graph.name)
    if other is not None:
        return _mark(atomic, other)
    if entered is not None:
        code = getattr(inspect.unwrap(entered.function.python_function), "__code__", None)
        if code is None or _MAKERS not in code.co_filename:
            return False
        return _mark(atomic, _VECTORIZED)
    forward = forward_of(atomic) if _marked.is_set() else None
    made = "" if forward is None else getattr(forward.graph, _MARK, "")
    # Of a gradient there may be one in turn.
    return bool(made) and _mark(atomic, made if made.startswith(_GRADIENT) else f"{_GRADIENT}{made}")


def _mark(atomic: AtomicFunction, name: str) -> bool:
    setattr(atomic.graph, _MARK, name)
    _marked.set()
    return True


def vectorized_call(atomic: AtomicFunction, inputs: Sequence[EagerTensor]) -> VectorizedCall | None:
    """The call of `atomic` with the flat tensors `inputs`; None of one that writes variables: no op would show it."""
    traced = traced_function(atomic)
    plan = traced.snapshot_plan
    if plan.written:
        return None
    snapshot = CallSnapshot.of(plan, inputs)
    variables = [at for at in range(len(inputs)) if plan.is_variable(inputs, at)]
    snapshot.hold(variables)  # the program may write them before anybody asks for insides
    nbytes = sum(_bytes(snapshot.variable(at) if at in variables else one) for at, one in enumerate(inputs))
    insides = Insides(traced, snapshot=snapshot)
    slots = list(zip(traced.slots, inputs, strict=True))
    given = [one for slot, one in slots if insides.is_given(slot)]
    slopes = [one for slot, one in slots if traced.forward is not None and not slot.argument.captured]
    return VectorizedCall(function_name(atomic.name), getattr(atomic.graph, _MARK), insides, given, slopes, nbytes)


@contextmanager
def under_way(call: VectorizedCall) -> Iterator[None]:
    """A context in which the function is called: `as_noted` tells its op."""
    _HERE.keep(call)
    before, _HERE.call = _HERE.call, call
    try:
        yield
    finally:
        _HERE.call = before


def as_noted(
    log: RecentOps, op_type: str, inputs: Sequence[OpInput], attributes: AttributeList, stack: Stack
) -> tuple[str, Sequence[OpInput], AttributeList]:
    """The type, inputs and attributes by which an op that has run is noted in `log`: of a call if it is under way.

    A tape hands zeros to a gradient that it made long before: they are noted as made there, and are no data.
    """
    call = _HERE.call
    if call is None or call.op_type != op_type:  # such as one of a tf.py_function in it
        return op_type, inputs, attributes
    for slope in call.slopes:
        gave = taken(slope)
        if not log.has_made(slope) and gave[2] is not None and not np.asarray(gave[2]).any():
            log.add(_ZEROS, (), (), (gave,), stack)
    return call.name, call.given, call_of(call.insides)


def _bytes(tensor: EagerTensor) -> int:
    return 0 if tensor.dtype.size is None else int(compat.elements_of(tensor) * tensor.dtype.size)
