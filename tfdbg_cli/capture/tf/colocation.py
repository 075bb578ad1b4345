"""The nodes beside which a node is placed: an attribute that names them, to be forgotten or renamed in a copy of it.

TensorFlow refuses a graph with a node that stands beside one that is not in it.
"""

from __future__ import annotations

from collections.abc import Callable

from tfdbg_cli.capture.tf.types import AttrValue, NodeDef

ATTRIBUTE = "_class"

_BESIDE = b"loc:@"  # before the name of each node


def forget(node: NodeDef) -> None:
    """Let `node` be placed anywhere, whatever else is where."""
    node.attr.pop(ATTRIBUTE, None)


def rename(node: NodeDef, name_of: Callable[[str], str | None]) -> None:
    """Name what `node` is placed beside by `name_of`, and forget those for which that is None."""
    if ATTRIBUTE not in node.attr:
        return
    value = renamed(node.attr[ATTRIBUTE], name_of)
    forget(node)
    if value.list.s:
        node.attr[ATTRIBUTE].CopyFrom(value)


def renamed(value: AttrValue, name_of: Callable[[str], str | None]) -> AttrValue:
    """The attribute as `rename` leaves it; `value` stays as it is."""
    made = type(value)()
    for text in value.list.s:
        name = name_of(text.removeprefix(_BESIDE).decode())
        if name is not None:
            made.list.s.append(_BESIDE + name.encode())
    return made
