"""Which op of the forward pass a tape computes a gradient of, so that the gradient is credited to that op's layer.

In a function TensorFlow hands the name scope of the forward op on to its gradient; of eager ops it does not know it.
A tape calls a gradient function with what of the op's inputs and outputs the gradient needs, and with the gradients
of the outputs. The op is the one that gave those outputs, or was given those inputs; where there are neither, the one
that made the tensor with respect to which the gradients were computed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

from tfdbg_cli.capture.runs.eager.program.places import GRADIENTS
from tfdbg_cli.capture.tf.compat import EagerTensor, tensor_id

_MOST_KNOWN = 20_000


class ForwardOp(NamedTuple):
    """An op of the forward pass: its scope, and the ids of the tensors that it was given (0: not a tensor)."""

    op_type: str
    scope: str
    given: Sequence[int]


def _key(op_type: str, given: Sequence[int]) -> int:
    return hash((op_type, *filter(None, given)))


class ForwardOps:
    """The forward ops of one run in one thread. None are kept before the first that is in a scope, as layers are."""

    def __init__(self) -> None:
        self._by_output: dict[int, ForwardOp] = {}
        # By a hash of the type and of what was given: Python collects garbage more often where many tuples are kept.
        self._by_given: dict[int, ForwardOp] = {}
        self._given: set[int] = set()
        self.scope = ""  # for the ops of the gradient that is being computed now
        self._slopes: dict[int, int] = {}  # from the id of a gradient dy/dx to the id of x

    def __bool__(self) -> bool:
        return bool(self._by_output)

    def add(self, op_type: str, scope: str, given: Sequence[int], outputs: Iterable[int]) -> None:
        """Note an op by the ids of the tensors that it was `given` (0: not a tensor) and gave (`outputs`)."""
        if len(self._by_output) > _MOST_KNOWN:
            self.clear()
        op = ForwardOp(op_type, scope, given)
        for key in outputs:
            self._by_output[key] = op
        self._by_given[_key(op_type, given)] = op
        self._given.update(given)

    def clear(self) -> None:
        """Forget all ops."""
        for known in (self._by_output, self._by_given, self._given, self._slopes):
            known.clear()

    def of(
        self, op_type: str, inputs: Sequence[Any] | None, outputs: Sequence[Any] | None, slopes: Sequence[Any]
    ) -> ForwardOp | None:
        """The op of that type whose gradient a tape computes now; None if not known.

        `inputs` and `outputs` are those of the op that its gradient needs, `slopes` the gradients of its outputs.
        """
        for one in outputs or ():
            if type(one) is EagerTensor and (op := self._by_output.get(tensor_id(one))) is not None:
                return op
        given = [tensor_id(one) for one in inputs or () if type(one) is EagerTensor]
        known = [key for key in given if key in self._given]
        op = self._by_given.get(_key(op_type, known)) if known else None
        if op is not None and op.op_type == op_type and [*filter(None, op.given)] == known:
            return op
        for slope in slopes:
            if type(slope) is EagerTensor:
                op = self._by_output.get(self._slopes.get(tensor_id(slope), 0))
                if op is not None and op.op_type == op_type:
                    return op
        return None

    @contextmanager
    def gradient_of(self, op: ForwardOp) -> Iterator[None]:
        """A context in which a tape computes the gradient of `op`."""
        before, self.scope = self.scope, f"{GRADIENTS}{op.scope}" if op.scope else ""
        try:
            yield
        finally:
            self.scope = before

    def gave(self, op: ForwardOp, slopes: Any) -> None:
        """Note `slopes`, the gradients with respect to the inputs of `op`: one tensor, or one for each input."""
        several = slopes if isinstance(slopes, (list, tuple)) else (slopes,)
        for key, slope in zip(op.given, several, strict=False):
            if key and type(slope) is EagerTensor:
                self._slopes[tensor_id(slope)] = key
