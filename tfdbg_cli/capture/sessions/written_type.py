"""The op types that the program wrote, where the graph of a replay has other ops in their place."""

from __future__ import annotations

from tfdbg_cli.capture.tf.types import Op

WRITTEN = "_tfdbg_written"  # the attribute of such an op that holds the type of the program's
_INSTEAD = frozenset({"IteratorGetNext", "Identity", "NoOp"})


def written_type(op: Op) -> str:
    """The type of `op` (a tf.Operation), or of the op of the program that it stands for."""
    if op.type in _INSTEAD:
        try:
            return str(op.get_attr(WRITTEN).decode())
        except ValueError:
            pass
    return str(op.type)
