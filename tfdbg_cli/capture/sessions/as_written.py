"""The names and the op types that the program wrote, where the graph of a replay has others in their place."""

from __future__ import annotations

import re

from tfdbg_cli.capture.sessions.hidden_ops import PREFIX
from tfdbg_cli.capture.tf.types import Op

WRITTEN = "_tfdbg_written"  # the attribute of such an op that holds the type of the program's
# IteratorGetNext stands in older bundles, where IdentityN does now.
_INSTEAD = frozenset({"Identity", "IdentityN", "IteratorGetNext", "NoOp", "GatherV2"})
_DRAWN = f"{PREFIX}drawn/"
_ARGUMENT = re.compile(r"_arg_(.+)_(\d+)_\d+")  # of TensorFlow: the node that is fed, its output, a number


def written_type(op: Op) -> str:
    """The type of `op` (a tf.Operation), or of the op of the program that it stands for."""
    if op.type in _INSTEAD:
        try:
            return str(op.get_attr(WRITTEN).decode())
        except ValueError:
            pass
    return str(op.type)


def drawn_name(node: str, slot: int) -> str:
    """The name of the op that hands on what is fed for output `slot` of `node`, after the ops that led to `node`."""
    return f"{_DRAWN}{node}/{slot}"


def program_source(text: str) -> str:
    """The program's name of the tensor that `text` means, an input of a node that ran."""
    name = text.partition(":")[0]
    found = _ARGUMENT.fullmatch(name)
    if found is not None:
        node, slot = found[1], found[2]
    elif name.startswith(_DRAWN):
        node, _, slot = name.removeprefix(_DRAWN).rpartition("/")
    else:
        return text.removesuffix(":0")
    return node if slot == "0" else f"{node}:{slot}"
