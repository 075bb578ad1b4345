"""Random ops whose state is inside their kernels, so that a rewritten function draws other numbers than the plain.

Such is `tf.random.normal` with a seed of its own or `tf.random.set_seed`: each kernel counts its calls by itself.
"""

from __future__ import annotations

from collections.abc import Iterator

from tfdbg_cli.capture.functions.definition.call_tree import Scope
from tfdbg_cli.capture.tf import compat
from tfdbg_cli.capture.tf.types import NodeDef


def kernel_draws(root: Scope) -> list[str]:
    """The nodes of the function `root` and all that it calls that draw by a seed from a state that they keep."""
    return sorted({scope.name_of(node.name) for scope in root.all() for node in drawing_nodes(scope)})


def drawing_nodes(scope: Scope) -> Iterator[NodeDef]:
    """Those nodes of the function of `scope` itself."""
    for node in scope.needed.nodes:
        if "seed" in node.attr and "seed2" in node.attr and (node.attr["seed"].i or node.attr["seed2"].i):
            definition = compat.op_definition(node.op)
            if definition is not None and definition.is_stateful:
                yield node
