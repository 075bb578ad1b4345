"""Outputs that TensorFlow leaves uninitialized. What they hold, NaN or not, is meaningless."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tfdbg_cli.model.graph import Graph
from tfdbg_cli.model.names import TensorName
from tfdbg_cli.ops.kinds import FAKES, IDENTITIES, MERGE, NORMALIZATION_GRADIENTS, NORMALIZATIONS

_MOST_COPIES = 100

_VECTORS_ASKED = {"SelfAdjointEigV2": "compute_v", "Eig": "compute_v", "Svd": "compute_uv"}

MAYBE_UNDEFINED = FAKES | NORMALIZATIONS | NORMALIZATION_GRADIENTS | frozenset(_VECTORS_ASKED)
"""The types of ops that may leave an output unwritten."""


def is_undefined(op_type: str, slot: int, attribute: Callable[[str], Any]) -> bool:
    """Whether the kernel of an op may leave output `slot` uninitialized; `attribute` gives its attributes.

    FakeParam (core/kernels/function_ops.cc) never writes its output. A batch normalization (core/kernels/
    fused_batch_norm_op.cc) writes the outputs reserved for its gradient (3, 4) in training only, and the last one (5)
    with cuDNN only. A decomposition that is asked for no vectors (core/kernels/linalg) gives scalars in their place,
    though their shape is said to be [0].
    """
    if op_type in FAKES:
        return True
    if op_type in _VECTORS_ASKED:
        return slot > 0 and attribute(_VECTORS_ASKED[op_type]) is False
    if op_type in NORMALIZATIONS:
        return slot == 5 or (slot in (3, 4) and attribute("is_training") is False)
    return op_type in NORMALIZATION_GRADIENTS and slot in (3, 4)


def is_undefined_in(graph: Graph, name: TensorName) -> bool:
    """Whether the tensor `name` of a run with `graph` may be uninitialized, or a copy of such an output."""
    node, met = graph.find(name.node), {name}
    while node is not None and node.op_type in IDENTITIES and name.slot < len(node.inputs):
        name = node.inputs[name.slot]
        if name in met or len(met) > _MOST_COPIES:  # a cycle, as in a damaged file, or a very long chain
            return False
        met.add(name)
        node = graph.find(name.node)
    if node is not None and node.op_type in FAKES | MERGE:
        makers = map(graph.find, [name.node, *node.needs])
        return any(maker is not None and maker.op_type in FAKES for maker in makers)
    if node is None or node.op_type not in MAYBE_UNDEFINED:
        return False
    texts = node.attributes
    return is_undefined(node.op_type, name.slot, lambda attribute: texts.get(attribute) != "False")
