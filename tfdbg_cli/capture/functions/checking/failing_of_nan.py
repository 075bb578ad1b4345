"""Whether checks of ours could make a function fail that the program's own call would not.

TensorFlow fuses a product with the ReLU behind it, in one kernel that makes 0 of a NaN. Where a check reads the
tensor between the two, the ReLU runs on its own and hands the NaN on: to an index that is computed from it, to an
assertion.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

import tensorflow as tf

from tfdbg_cli.capture.functions.definition.body import ReferenceTarget
from tfdbg_cli.capture.functions.definition.call_tree import Scope
from tfdbg_cli.capture.functions.definition.mergeable import ELEMENTWISE
from tfdbg_cli.capture.tf.types import NodeDef
from tfdbg_cli.ops.kinds import (
    ADDED_UP,
    ASSIGNMENTS,
    CHECKS,
    COPIES,
    EXTREMES,
    IDENTITIES,
    INCREMENTS,
    LONG_SUMS,
    OF_SHAPES,
    RELUS,
    RESHAPES,
    SELECTS,
    TRUTHS,
)

# Ops that fail of what float numbers they are given.
_FAIL_OF_FLOATS = CHECKS | {
    "CheckNumericsV2", "Cholesky", "MatrixInverse", "MatrixSolve", "MatrixTriangularSolve", "SelfAdjointEigV2", "Svd",
}  # fmt: skip
# Ops that take any integers and truths; of others an integer that comes of a NaN may be no place, size or answer.
_TAKE_ANY = (
    ELEMENTWISE | TRUTHS | SELECTS | COPIES | IDENTITIES | LONG_SUMS | ASSIGNMENTS | INCREMENTS | {"Cast", "Pack"}
)
_TAKE_ANY_FIRST = (
    RESHAPES | ADDED_UP | EXTREMES | {"All", "Any", "ArgMax", "ArgMin", "Prod", "Transpose", "Unpack", "Where"}
)


def may_fail_of_nan(root: Scope) -> bool:
    """Whether an op of `root`, or of a function below it, may fail by what a ReLU gives."""
    return _Search().fails(root, ())


class _Search:
    def __init__(self) -> None:
        self._known: dict[tuple[int, frozenset[int]], bool] = {}

    def fails(self, scope: Scope, given: Collection[int]) -> bool:
        """Whether an op in `scope` may fail by what a ReLU gives, in it or to its arguments at the places `given`."""
        key = id(scope), frozenset(given)
        if key not in self._known:
            self._known[key] = False  # of a function that calls itself
            self._known[key] = self._find(scope, given)
        return self._known[key]

    def _find(self, scope: Scope, given: Collection[int]) -> bool:
        body = scope.body
        spoiled = {ReferenceTarget(None, at) for at in given}
        for node in scope.needed.nodes:  # inputs come first
            inputs = body.data_inputs(node)
            reads = [at for at, text in enumerate(inputs) if body.source(text) in spoiled]
            site = scope.calls.get(node.name)
            begins = node.op in RELUS if site is None else any(map(_has_relu, site.scopes))
            if site is None and _fails(scope, node, inputs, reads):
                return True
            for inner in () if site is None else site.scopes:
                if self.fails(inner, _arguments(inner, inputs, reads, begins=begins)):
                    return True
            if begins or (reads and node.op not in OF_SHAPES):
                spoiled.update(ReferenceTarget(node.name, slot) for slot in range(len(body.outputs(node.name))))
        return False


def _has_relu(scope: Scope) -> bool:
    return any(node.op in RELUS for inner in scope.all() for node in inner.needed.nodes)


def _arguments(inner: Scope, inputs: Sequence[str], reads: Collection[int], *, begins: bool) -> list[int]:
    """The arguments of a called function that get the inputs at the places `reads` of the call, which ends in them.

    In a loop what is spoiled in one turn may spoil any float of the next; `begins` says that it may be spoiled there.
    """
    types = inner.body.argument_types
    before = len(inputs) - len(types)  # the condition of a branch
    found = {at - before for at in reads if at >= before}
    if inner.loop_variables and (found or begins):
        found |= {at for at, dtype in enumerate(types) if _is_float(dtype)}
    return sorted(found)


def _fails(scope: Scope, node: NodeDef, inputs: Sequence[str], reads: Sequence[int]) -> bool:
    """Whether `node` may fail by its inputs at the places `reads`."""
    if not reads or node.op in _TAKE_ANY or node.op in OF_SHAPES:
        return False
    if node.op in _FAIL_OF_FLOATS or node.op == "Assert":
        return True
    decisive = [at for at in reads if not _is_float(scope.body.type_of(inputs[at]))]
    return any(at > 0 or node.op not in _TAKE_ANY_FIRST for at in decisive)


def _is_float(dtype: int) -> bool:
    kind = tf.dtypes.as_dtype(dtype)
    return bool(kind.is_floating or kind.is_complex)
