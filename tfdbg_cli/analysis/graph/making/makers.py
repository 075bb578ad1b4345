"""What made an operand: a softmax, data, a variable, a norm …, told by the ops before it."""

from __future__ import annotations

import re
from collections.abc import Callable
from enum import Enum, auto
from typing import TypeAlias

import numpy as np

from tfdbg_cli.analysis.graph.making.lineage import Lineage
from tfdbg_cli.analysis.graph.making.node_facts import VARIABLE_OPS
from tfdbg_cli.model.graph import LOOP_VARIABLE, Node
from tfdbg_cli.ops.kinds import INCREMENTS, INPUTS, MOVES, PIPELINE_OPS, RELUS, SAME_VALUE, SELECTS, TRUTHS

_WHOLE = frozenset({"int32", "int64", "uint32", "uint64"})
_TWICE = frozenset({"Square", "SquaredDifference", "Mul", "Pow"})
_CENTRES = frozenset({"Sub", "AddV2", "Add", "BiasAdd"})  # they may take a mean away
_MOST_STEPS = 50
# What joins tensors, and which of its inputs these are; the other says along which axis.
_JOINS = {"ConcatV2": slice(None, -1), "Concat": slice(1, None), "Pack": slice(None)}
_SECOND = frozenset({"Split", "Concat"})  # what tells the axis first
_STEP = re.compile(r"step|iter|epoch|count|turn|(^|/|_)[tnik](_\d+)?$")  # names of what counts steps
_DEEPEST = 20  # ops that ask what made their operand, one behind the other


class Maker(Enum):
    """What an operand is, as far as the suggestion depends on it."""

    SOFTMAX = auto()  # by tf.nn.softmax, or by hand: exp(x) / sum(exp(x))
    SIGMOID = auto()  # a sigmoid, or 1 - sigmoid
    NORM = auto()  # the root of a sum of squares
    SQUARED_NORM = auto()  # a sum of squares
    VARIANCE = auto()  # a mean of squared differences
    MEAN_SQUARE = auto()  # a mean of squares of what is no difference
    MOMENTS = auto()  # a variance as the mean of squares less the square of the mean
    DEVIATION = auto()  # the root of a variance
    EXPONENTIALS = auto()  # a sum of exponentials
    SHIFTED_EXPONENTIALS = auto()  # the same less their maximum, where that is finite: in tf.reduce_logsumexp
    WEIGHTED_EXPONENTIALS = auto()  # the same with weights, such as the density of a mixture
    PRODUCT = auto()  # of the elements along an axis
    SEGMENTS = auto()  # sums over segments, such as the rows of a ragged tensor
    SEGMENT_EXTREMES = auto()  # the largest or the least of each segment
    DATA = auto()  # fed, an argument, or what an input pipeline delivered
    VARIABLE = auto()
    COUNTER = auto()  # a variable of whole numbers, such as the steps of an optimizer, or what is made of one at 0
    STATE = auto()  # what a loop carries from turn to turn
    CONSTANT = auto()
    FREQUENCY = auto()  # the sum or mean of a condition, such as a mask made by a comparison
    EIGENVALUES = auto()  # of a matrix, or its singular values
    MASK = auto()  # it holds infinities that the program wrote
    RECTIFIED = auto()  # a relu, which gives exactly 0
    OTHER = auto()


def maker_of(node: Node | None, lineage: Lineage, depth: int = 0) -> Maker | None:
    """What the output of `node` is; None when no graph at hand holds the node.

    `depth` counts how many ops asked before: in a damaged graph they may ask one another for ever.
    """
    found = below_moves(node, lineage, joins=False)
    if found is None:
        return None
    told = _BY_OP.get(found.op_type)
    return told(found, lineage, depth) if told is not None and depth < _DEEPEST else Maker.OTHER


def below_moves(node: Node | None, lineage: Lineage, *, joins: bool = True) -> Node | None:
    """The node that computed what `node` gives: `node` itself, or the one before ops that only move elements.

    Of tensors that are joined it is that of the first; without `joins` the op that joins them.
    """
    for _ in range(_MOST_STEPS):
        if node is None or not (node.op_type in SAME_VALUE or node.op_type in MOVES or lineage.takes_out(node)):
            return node
        if not joins and node.op_type in _JOINS:
            return node
        edges = lineage.edges(node)
        position = 1 if node.op_type in _SECOND else 0
        if position >= len(edges):
            return node
        node = edges[position].node
    return node


def _input(node: Node, position: int, lineage: Lineage) -> Node | None:
    edges = lineage.edges(node)
    return below_moves(edges[position].node, lineage) if position < len(edges) else None


def _share(node: Node, lineage: Lineage, depth: int) -> Maker:
    """A quotient: a softmax by hand when exponentials are divided by their sum, or a softmax by its own."""
    total, part = _input(node, 1, lineage), _input(node, 0, lineage)
    whole = _input(total, 0, lineage) if total is not None and total.op_type == "Sum" else None
    if whole is None or part is None or whole is not part:
        return Maker.OTHER
    made = part.op_type == "Exp" or maker_of(part, lineage, depth + 1) is Maker.SOFTMAX
    return Maker.SOFTMAX if made else Maker.OTHER


def _difference(node: Node, lineage: Lineage, depth: int) -> Maker:
    if _counted(node, lineage, depth) is Maker.COUNTER:
        return Maker.COUNTER
    first, second = _input(node, 0, lineage), _input(node, 1, lineage)
    # Op by op a number that the program wrote comes in as an input does.
    if second is not None and first is not None and (first.op_type == "Const" or first.op_type in INPUTS):
        kind = maker_of(second, lineage, depth + 1)
        return kind if kind in (Maker.SIGMOID, Maker.SOFTMAX) else Maker.OTHER
    squares = (
        is_square(_input(first, 0, lineage), lineage) if first is not None and first.op_type == "Mean" else False
    )
    return Maker.MOMENTS if squares and is_square(second, lineage) else Maker.OTHER


def is_square(node: Node | None, lineage: Lineage) -> bool:
    """Whether `node` computes the square of something, or of a difference."""
    if node is None or node.op_type not in _TWICE:
        return False
    if node.op_type == "Pow":
        exponent = next(iter(lineage.inputs_of_node(node)[1:]), None)
        return exponent is not None and exponent.value is not None and bool((exponent.value == 2).all())
    edges = lineage.edges(node)
    return node.op_type != "Mul" or (
        len(edges) == 2 and _source(edges[0].node, lineage) == _source(edges[1].node, lineage)
    )


def _source(node: Node | None, lineage: Lineage) -> str:
    """The name of what `node` gives, conjugation (which tf.norm applies) seen through."""
    found = below_moves(node, lineage)
    for _ in range(_DEEPEST):
        if found is None or found.op_type != "Conj":
            break
        found = _input(found, 0, lineage)
    return found.name if found is not None else ""


def _mean(node: Node, lineage: Lineage, depth: int) -> Maker:
    of = _input(node, 0, lineage)
    if of is not None and of.op_type in TRUTHS:
        return Maker.FREQUENCY
    if of is None or not is_square(of, lineage):
        return Maker.OTHER
    base = _input(of, 0, lineage)
    centred = of.op_type == "SquaredDifference" or base is None or base.op_type in _CENTRES
    return Maker.VARIANCE if centred else Maker.MEAN_SQUARE


def _sum(node: Node, lineage: Lineage, depth: int) -> Maker:
    of = _input(node, 0, lineage)
    if of is not None and of.op_type in TRUTHS:
        return Maker.FREQUENCY
    if of is not None and of.op_type == "Exp":
        shifted = _is_less_its_maximum(_input(of, 0, lineage), node, lineage)
        return Maker.SHIFTED_EXPONENTIALS if shifted else Maker.EXPONENTIALS
    if _is_weighted_exponential(of, lineage, depth + 1):
        return Maker.WEIGHTED_EXPONENTIALS
    return Maker.SQUARED_NORM if is_square(of, lineage) else Maker.OTHER


def _is_less_its_maximum(node: Node | None, total: Node, lineage: Lineage) -> bool:
    """Whether `node` is something less its maximum along the axes of the sum `total`, where that is finite.

    The largest such exponential is 1: the sum is 0 only where there is no maximum but -inf.
    """
    shift = _input(node, 1, lineage) if node is not None and node.op_type == "Sub" else None
    if node is None or shift is None or shift.op_type not in SELECTS:
        return False
    condition, maximum = _input(shift, 0, lineage), _input(shift, 1, lineage)
    if condition is None or condition.op_type != "IsFinite" or maximum is None or maximum.op_type != "Max":
        return False
    of_itself = _source(_input(maximum, 0, lineage), lineage) == _source(_input(node, 0, lineage), lineage)
    axes = [seen[1].value if len(seen := lineage.inputs_of_node(one)) > 1 else None for one in (maximum, total)]
    return of_itself and axes[0] is not None and axes[1] is not None and np.array_equal(axes[0], axes[1])


def _is_weighted_exponential(node: Node | None, lineage: Lineage, depth: int) -> bool:
    """Whether `node` computes a product or quotient over an exponential, but no share of a sum as in a softmax."""
    if node is None or depth >= _DEEPEST:
        return False
    if node.op_type == "Mul":
        found = [_input(node, position, lineage) for position in (0, 1)]
    elif node.op_type == "RealDiv" and _share(node, lineage, depth) is not Maker.SOFTMAX:
        found = [_input(node, 0, lineage)]
    else:
        return False
    return any(
        one is not None and (one.op_type == "Exp" or _is_weighted_exponential(one, lineage, depth + 1))
        for one in found
    )


def _root(node: Node, lineage: Lineage, depth: int) -> Maker:
    of = _input(node, 0, lineage)
    kind = maker_of(of, lineage, depth + 1)
    if kind in (Maker.SQUARED_NORM, Maker.MEAN_SQUARE):
        return Maker.NORM
    if kind is Maker.COUNTER:
        return kind
    return Maker.DEVIATION if kind in (Maker.VARIANCE, Maker.MOMENTS) else Maker.OTHER


def _counted(node: Node, lineage: Lineage, depth: int) -> Maker:
    """What is made of constants and a counter that is at 0, such as `1 - 0.9 ** step`."""
    counts = False
    for position, edge in enumerate(lineage.edges(node)):  # few behind one another, since each asks two
        kind = maker_of(edge.node, lineage, depth + _DEEPEST // 4)
        if kind not in (Maker.COUNTER, Maker.CONSTANT):
            return Maker.OTHER
        if kind is Maker.COUNTER and not _may_be_at_zero(node, position, lineage):
            return Maker.OTHER
        counts = counts or kind is Maker.COUNTER
    return Maker.COUNTER if counts else Maker.OTHER


def _may_be_at_zero(node: Node, position: int, lineage: Lineage) -> bool:
    """Whether the counter that `node` reads there is 0, not known, or made of another, which was asked itself."""
    made, seen = _input(node, position, lineage), lineage.inputs_of_node(node)
    read = made is not None and made.op_type == "ReadVariableOp"
    value = seen[position].value if read and position < len(seen) else None
    return value is None or not value.any()


def _floored(node: Node, lineage: Lineage, depth: int) -> Maker:
    """What TensorFlow keeps from 0 since 2.22: in tf.norm what is below the root, in tf.nn.moments the variance."""
    kind = maker_of(_input(node, 0, lineage), lineage, depth + 1)
    if kind is Maker.MOMENTS:
        return Maker.VARIANCE  # it is not negative
    return kind if kind is Maker.SQUARED_NORM else Maker.OTHER


def _chosen(node: Node, lineage: Lineage, depth: int) -> Maker:
    """What such a tf.norm gives: 0 where the sum of squares is 0, its root elsewhere."""
    condition, root = _input(node, 0, lineage), _input(node, 2, lineage)
    if condition is None or condition.op_type != "Equal" or root is None or root.op_type != "Sqrt":
        return Maker.OTHER
    return maker_of(root, lineage, depth + 1) or Maker.OTHER


def _joined(node: Node, lineage: Lineage, depth: int) -> Maker:
    """What made the first of the tensors that `node` joins, or all that hold a 0 where a relu is among them."""
    edges = lineage.edges(node)[_JOINS[node.op_type]]
    if not edges:
        return Maker.OTHER
    near_end = max(depth + 1, _DEEPEST - 1)  # of what is joined nothing that is joined in turn is followed
    kinds = [maker_of(edge.node, lineage, near_end) for edge in edges]
    if Maker.RECTIFIED not in kinds:
        return maker_of(edges[0].node, lineage, depth + 1) or Maker.OTHER
    values = [seen.value for seen in lineage.inputs_of_node(node)[_JOINS[node.op_type]]]
    of_zeros = {kind for kind, value in zip(kinds, values, strict=True) if value is None or bool((value == 0).any())}
    return (of_zeros.pop() or Maker.OTHER) if len(of_zeros) == 1 else Maker.OTHER


def _input_of_graph(node: Node, lineage: Lineage, depth: int) -> Maker:
    return Maker.VARIABLE if lineage.is_captured(node) else Maker.DATA


def _read_variable(node: Node, lineage: Lineage, depth: int) -> Maker:
    counts = node.attributes.get("dtype", "") in _WHOLE and _counts_steps(node, lineage)
    return Maker.COUNTER if counts else Maker.VARIABLE


def _counts_steps(read: Node, lineage: Lineage) -> bool:
    """Whether the variable of whole numbers that is read counts steps: it is called so, or a constant is added to it.

    Others count what the data say, or hold a number of something.
    """
    edges = lineage.edges(read)
    variable = edges[0].node if edges else None
    if variable is None or _STEP.search(variable.name.lower()):
        return variable is not None
    writers = lineage.writers(variable)
    added = [_input(writer, 1, lineage) for writer in writers if writer.op_type in INCREMENTS]
    return bool(writers) and len(added) == len(writers) and all(one and one.op_type == "Const" for one in added)


_Asking: TypeAlias = Callable[[Node, Lineage, int], Maker]


def _always(kind: Maker) -> _Asking:
    return lambda node, lineage, depth: kind


_BY_OP: dict[str, _Asking] = {
    "Softmax": _always(Maker.SOFTMAX),
    "Sigmoid": _always(Maker.SIGMOID),
    **dict.fromkeys(RELUS, _always(Maker.RECTIFIED)),
    "EuclideanNorm": _always(Maker.NORM),
    "Const": _always(Maker.CONSTANT),
    "ReadVariableOp": _read_variable,
    **dict.fromkeys(VARIABLE_OPS, _always(Maker.VARIABLE)),
    **dict.fromkeys(PIPELINE_OPS, _always(Maker.DATA)),
    **dict.fromkeys(INPUTS, _input_of_graph),
    "Prod": _always(Maker.PRODUCT),
    **dict.fromkeys(("SelfAdjointEigV2", "Svd"), _always(Maker.EIGENVALUES)),
    LOOP_VARIABLE: _always(Maker.STATE),
    **dict.fromkeys(_JOINS, _joined),
    "RealDiv": _share,
    "Sub": _difference,
    "Mean": _mean,
    "Sum": _sum,
    **dict.fromkeys(
        ("UnsortedSegmentMax", "UnsortedSegmentMin", "SegmentMaxV2", "SegmentMinV2"), _always(Maker.SEGMENT_EXTREMES)
    ),
    **dict.fromkeys(("UnsortedSegmentSum", "SegmentSum", "SegmentSumV2"), _always(Maker.SEGMENTS)),
    "Sqrt": _root,
    **dict.fromkeys(("Add", "AddV2", "Mul", "Pow"), _counted),
    **dict.fromkeys(("Maximum", "Real", "Complex"), _floored),
    **dict.fromkeys(SELECTS, _chosen),
}
