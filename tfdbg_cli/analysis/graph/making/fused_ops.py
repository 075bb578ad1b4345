"""Ops that TensorFlow's optimizer made of others, seen as those that they were made of."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from tfdbg_cli.analysis.graph.making.lineage import InputSeen
from tfdbg_cli.model.dtypes import is_inexact
from tfdbg_cli.model.graph import Graph, Node
from tfdbg_cli.model.names import TensorName
from tfdbg_cli.model.statistics import nonfinite_mask
from tfdbg_cli.model.values import Array
from tfdbg_cli.model.walks import nearest_first

COMPOSITION = "_UnaryOpsComposition"
_COMPOSED_NAME = "/unary_ops_composition"
_MOST_BETWEEN = 200  # ops that are looked at for those of a composition
# Ops of oneDNN, by the op in whose place they are (core/common_runtime/mkl_layout_pass.cc).
_ONEDNN = re.compile(r"^_Mkl(Native)?(?P<plain>\w+)$")


def _selu(x: Array) -> Array:
    return np.where(x > 0, x, np.expm1(x) * 1.6732632423543772) * 1.0507009873554805


# Those that _UnaryOpsComposition is made of (core/kernels/unary_ops_composition.cc).
_COMPUTED: Mapping[str, Callable[[Array], Array]] = {
    "Abs": np.abs, "Acos": np.arccos, "Acosh": np.arccosh, "Asin": np.arcsin, "Asinh": np.arcsinh,
    "Atan": np.arctan, "Atanh": np.arctanh, "Ceil": np.ceil, "Cos": np.cos, "Cosh": np.cosh, "Expm1": np.expm1,
    "Exp": np.exp, "Floor": np.floor, "Inv": np.reciprocal, "Log": np.log, "Log1p": np.log1p, "Neg": np.negative,
    "Reciprocal": np.reciprocal, "Rint": np.rint, "Round": np.round, "Rsqrt": lambda x: np.reciprocal(np.sqrt(x)),
    "Sigmoid": lambda x: np.reciprocal(1 + np.exp(-x)), "Sin": np.sin, "Sinh": np.sinh, "Sqrt": np.sqrt,
    "Square": np.square, "Tan": np.tan, "Tanh": np.tanh, "Elu": lambda x: np.where(x > 0, x, np.expm1(x)),
    "Relu": lambda x: np.where(x < 0, 0, x), "Relu6": lambda x: np.where(x > 6, 6, np.where(x < 0, 0, x)),
    "Selu": _selu,
}  # fmt: skip


def as_written(node: Node) -> Node:
    """`node` with the type of the op in whose place oneDNN's is: the same inputs mean the same."""
    match = _ONEDNN.match(node.op_type)
    if match is None:
        return node
    plain = match["plain"]
    return node._replace(op_type=f"_{plain}" if plain.startswith("Fused") else plain)


@dataclass(frozen=True)
class Composed:
    """The op of a composition in which something first went wrong: its `node`, what it was given, what it gave.

    `others` are the types of all the ops of the composition, in order.
    """

    node: Node
    inputs: tuple[InputSeen, ...]
    value: Array
    others: tuple[str, ...]


def composed(node: Node, inputs: Sequence[InputSeen], value: Array, graphs: Sequence[Graph]) -> Composed | None:
    """Of which of its ops the composition `node` got the bad elements of `value`; None where it cannot be told.

    Args:
        node: the op.
        inputs: what it was given.
        value: what it gave.
        graphs: those of the run; one may hold the ops that it was made of.

    """
    types = composed_types(node)
    given = inputs[0].value if len(inputs) == 1 else None
    if node.op_type != COMPOSITION or given is None or not types or not all(one in _COMPUTED for one in types):
        return None
    if not is_inexact(given.dtype) or nonfinite_mask(given).any():
        return None
    steps = [given]
    with np.errstate(all="ignore"):
        for one in types:
            steps.append(np.asarray(_COMPUTED[one](steps[-1])).astype(given.dtype))
    if not np.array_equal(nonfinite_mask(steps[-1]), nonfinite_mask(value)):
        return None  # something that NumPy computes otherwise
    at = next((place for place in range(len(types)) if nonfinite_mask(steps[place + 1]).any()), None)
    if at is None:
        return None
    nodes = _written(node, types, graphs)
    made = nodes[at] or Node(node.name, types[at], node.device, node.inputs)
    seen = inputs[0]
    if at:
        before = made.inputs[0] if nodes[at] is not None else TensorName(node.name, 0)
        seen = InputSeen(before, nodes[at - 1], value=steps[at], instead="computed from what the fused op was given")
    elif nodes[at] is not None:
        seen = replace(seen, name=made.inputs[0], instead=seen.instead or str(seen.name))
    return Composed(made, (seen,), steps[at + 1], types)


def composed_types(node: Node) -> tuple[str, ...]:
    """The types of the ops that a composition was made of, in the order in which they compute."""
    return tuple(re.findall(r"\w+", node.attributes.get("op_names", "")))


def composed_names(node: Node, written: Graph, ran: Graph) -> list[str]:
    """The ops of `written` that the composition `node` of `ran` computes, without what was removed between them."""

    def before(name: str) -> list[str]:
        found = written.find(name)
        return [read.node for read in found.inputs if read.node not in ran] if found is not None else []

    names = []
    types = list(composed_types(node))
    for name, _ in nearest_first([node.name.removesuffix(_COMPOSED_NAME)], before, most=_MOST_BETWEEN):
        found = written.find(name)
        if types and found is not None and found.op_type == types[-1]:
            types.pop()
            names.append(name)
    return names


def _written(node: Node, types: Sequence[str], graphs: Sequence[Graph]) -> list[Node | None]:
    """The ops of the program that `node` was made of, by `types`; None for those that no graph holds."""
    last = node.name.removesuffix(_COMPOSED_NAME)
    for graph in graphs:
        found: list[Node] = []
        current = graph.find(last)
        for one in reversed(types):
            if current is None or current.op_type != one or not current.inputs:
                break
            found.insert(0, current)
            current = graph.find(current.inputs[0].node)
        if len(found) == len(types):
            return list(found)
    return [None] * len(types)
