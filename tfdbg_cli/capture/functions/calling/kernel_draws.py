"""Random ops whose state is inside their kernels, so that a rewritten function draws other numbers than the plain.

Such is `tf.random.normal` with a seed of its own or `tf.random.set_seed`: each kernel counts its calls by itself.
"""

from __future__ import annotations

from collections.abc import Iterable

from tfdbg_cli.capture.functions.definition.call_tree import Scope
from tfdbg_cli.capture.tf import compat


def kernel_draws(root: Scope) -> list[str]:
    """The nodes of the function `root` and all that it calls that draw by a seed from a state that they keep."""
    return sorted({name for scope in root.all() for name in _in_scope(scope)})


def _in_scope(scope: Scope) -> Iterable[str]:
    for node in scope.needed.nodes:
        if "seed" in node.attr and "seed2" in node.attr and (node.attr["seed"].i or node.attr["seed2"].i):
            definition = compat.op_definition(node.op)
            if definition is not None and definition.is_stateful:
                yield scope.name_of(node.name)
