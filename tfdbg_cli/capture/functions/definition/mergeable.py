"""Values that TensorFlow's graph optimizer may merge with what reads them, unless they are given back.

Grappler makes one `AddN` of `a + b + c`, takes a common factor out of a sum, multiplies small factors first, divides
by a root by way of `Rsqrt`, makes `LogSoftmax` of the logarithm of a softmax, and fuses `MatMul`, `BiasAdd` and an
activation: always values that one op alone reads (core/grappler/optimizers: arithmetic_optimizer.cc,
constant_folding.cc, remapper.cc). A value that is given back has one more reader, so these values are not given back:
they are computed from others when somebody looks. The function then runs with the very ops, and so the rounding, that
it has undebugged.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping

from tfdbg_cli.capture.functions.definition.body import ReferenceTarget
from tfdbg_cli.capture.functions.definition.call_tree import Scope
from tfdbg_cli.capture.tf.types import NodeDef
from tfdbg_cli.model.walks import reached
from tfdbg_cli.ops.kinds import COPIES, IDENTITIES, NORMALIZATIONS, QUOTIENTS, RELUS, RESHAPES, SUMS

# Give their input, slot for slot.
SAME = IDENTITIES | COPIES

# Element by element, without state; the result has the shape of the input.
UNARY = frozenset({
    "Abs", "Ceil", "Cos", "Elu", "Erf", "Erfc", "Exp", "Expm1", "Floor", "Inv", "LeakyRelu", "Log", "Log1p", "Neg",
    "Reciprocal", "Relu", "Relu6", "Rint", "Round", "Rsqrt", "Selu", "Sigmoid", "Sign", "Sin", "Softplus", "Softsign",
    "Sqrt", "Square", "Tan", "Tanh",
})  # fmt: skip
# The same of two, which may broadcast.
BINARY = frozenset({
    "Add", "AddV2", "Div", "Maximum", "Minimum", "Mul", "Pow", "RealDiv", "SquaredDifference", "Sub",
})  # fmt: skip
# The same, with the shape of the first input.
AS_FIRST = frozenset({"AddN", "BiasAdd"})
ELEMENTWISE = UNARY | BINARY | AS_FIRST

_AFTER_PRODUCT = frozenset({"BiasAdd", "Add", "AddV2", "Mul"}) | NORMALIZATIONS
# What is fused with one of the ops that read its first output.
_FUSED: Mapping[str, frozenset[str]] = {
    "MatMul": _AFTER_PRODUCT,
    "BatchMatMul": _AFTER_PRODUCT,
    "BatchMatMulV2": _AFTER_PRODUCT,
    "Conv2D": _AFTER_PRODUCT,
    "Conv3D": _AFTER_PRODUCT,
    "DepthwiseConv2dNative": _AFTER_PRODUCT,
    **dict.fromkeys(ELEMENTWISE, ELEMENTWISE),
    **dict.fromkeys(NORMALIZATIONS, frozenset({"Relu", "Add", "AddV2"})),
    "Softmax": frozenset({"Log"}),
}
# Readers that round nothing: it is all the same whether they are fused with what they read.
_EXACT = RELUS | {"Abs", "Maximum", "Minimum", "Neg", "Sign"}


def mergeable(scope: Scope) -> frozenset[ReferenceTarget]:
    """The outputs of nodes of `scope` that are not returned, since they may be merged or only pass a value on.

    Empty if XLA compiles the function, whose values are not those of single ops; and for the condition of a loop,
    since it runs before the turn of the body that shows its inputs, from which values could be computed.
    """
    if not scope.recomputes:
        return frozenset()
    body = scope.body
    found = set(_with_one_reader(scope))
    for node in _known(scope, SAME | RESHAPES):
        if node.op in SAME:
            found.update(ReferenceTarget(node.name, slot) for slot in range(len(body.outputs(node.name))))
        else:
            found.add(ReferenceTarget(node.name, 0))
    return frozenset(found)


def rounding_apart(scope: Scope, *, with_nan: bool) -> frozenset[ReferenceTarget]:
    """The outputs of nodes of `scope` that, merged with their only reader, may be rounded differently.

    With `with_nan` also those for which only NaN comes out differently: for it a ReLU gives zero if oneDNN has fused
    it, and else NaN. Empty if XLA compiles the function, which merges as it likes.
    """
    if scope.compiled:
        return frozenset()
    # Sums are merged with sums, quotients with roots and products: a sum that is divided, or divided by, stays.
    exact = _EXACT - RELUS if with_nan else _EXACT
    return frozenset(
        source
        for source, reader in _with_one_reader(scope).items()
        if reader not in exact and not (reader in QUOTIENTS and scope.body.nodes[source.node or ""].op in SUMS)
    )


def _with_one_reader(scope: Scope) -> dict[ReferenceTarget, str]:
    """The outputs of nodes of `scope` that may be fused with their one reader, and its op type."""
    readers = _readers(scope)
    found: dict[ReferenceTarget, str] = {}
    for node in _known(scope, _FUSED):
        if not _is_log_of_softmax(scope, node):
            source = ReferenceTarget(node.name, 0)
            read = _true_readers(scope, source, readers)
            if len(read) == 1 and read[0] in _FUSED[node.op]:
                found[source] = read[0]
    return found


def _is_log_of_softmax(scope: Scope, node: NodeDef) -> bool:
    """Whether the optimizer makes a `LogSoftmax` of `node`, which is finite even where log(softmax) is -inf."""
    if node.op != "Log":
        return False
    source = scope.body.source(scope.body.data_inputs(node)[0])
    while source.node is not None and scope.body.nodes[source.node].op in SAME | RESHAPES:
        source = scope.body.source(scope.body.data_inputs(scope.body.nodes[source.node])[source.slot])
    return source.node is not None and scope.body.nodes[source.node].op == "Softmax"


def _known(scope: Scope, op_types: Container[str]) -> Iterator[NodeDef]:
    """The nodes of `scope` of `op_types` whose inputs are all shown."""
    for node in scope.needed.nodes:
        if node.op not in op_types:
            continue
        inputs = [scope.body.source(text) for text in scope.body.data_inputs(node)]
        if node.name not in scope.needed.hidden and all(is_shown(scope, source) for source in inputs):
            yield node


def _readers(scope: Scope) -> dict[ReferenceTarget, list[tuple[str, int]]]:
    """The readers of each output of a node: a node and the position among its inputs; the caller has no name."""
    found: dict[ReferenceTarget, list[tuple[str, int]]] = {}
    for node in scope.needed.nodes:
        for position, text in enumerate(scope.body.data_inputs(node)):
            found.setdefault(scope.body.source(text), []).append((node.name, position))
    for position, text in enumerate(scope.body.returns):
        found.setdefault(scope.body.source(text), []).append(("", position))
    return found


def _true_readers(
    scope: Scope, source: ReferenceTarget, readers: Mapping[ReferenceTarget, list[tuple[str, int]]]
) -> list[str]:
    """The op types that read `source`, also through ops that pass it on; an empty one stands for the caller."""

    def op_type(name: str) -> str:
        return str(scope.body.nodes[name].op) if name else ""

    def passes_on(name: str, position: int) -> bool:
        return op_type(name) in SAME or (op_type(name) in RESHAPES and position == 0)

    found = reached(
        readers.get(source, ()),
        lambda reader: readers.get(ReferenceTarget(*reader), ()) if passes_on(*reader) else (),
    )
    return [op_type(name) for name, position in found if not passes_on(name, position)]


def is_shown(scope: Scope, source: ReferenceTarget) -> bool:
    """Whether `source` is shown as numbers, so that others can be computed from it."""
    if source.node is None:
        return scope.argument(source.slot).returnable
    return source.node not in scope.needed.hidden and scope.body.outputs(source.node)[source.slot].returnable
