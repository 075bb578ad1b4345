"""Training steps as TensorFlow 2.21 built them: node names, op types and inputs, one node a line in graphs/*.txt.

`keras_3`: two Dense layers (hidden, head) and Dropout, Adam. `keras_2`: tf_keras, BatchNormalization (norm) between,
SGD with momentum. `sessions`: tf.compat.v1, clip_by_global_norm, Adam.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

from tfdbg_cli.model.graph import Graph, GraphKind, Node
from tfdbg_cli.model.names import TensorName

NAMES = ("keras_3", "keras_2", "sessions")


@cache
def real_graph(name: str) -> Graph:
    """The graph called `name`."""
    text = (Path(__file__).parents[1] / "analysis" / "graphs" / f"{name}.txt").read_text(encoding="utf-8")
    return Graph(map(_node, text.splitlines()), GraphKind.PYTHON)


def _node(row: str) -> Node:
    name, op_type, *inputs = row.split(" ")
    op_type, _, resource = op_type.partition(".")
    tensors = (item.rpartition(":") for item in inputs)
    return Node(
        name,
        op_type,
        "",
        tuple(TensorName(node, int(slot)) for node, _, slot in tensors),
        attributes={"dtype": "resource"} if resource else {},
    )
