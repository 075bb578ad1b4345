"""What a NodeDef reads, without what TensorFlow's debugger put between."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tfdbg_cli.model.names import TensorName
from tfdbg_cli.ops.kinds import DEBUG_COPIES

_COPY, _DEBUG = "__copy_", "__dbg_"
_COPIES_OF_COPIES = 4  # one would be strange, a circle of them is damage


def rendezvous(proto: Any) -> tuple[bytes, ...]:
    """What a send and its receive have in common (the rendezvous key of TensorFlow)."""
    return tuple(proto.attr[name].s for name in ("tensor_name", "send_device", "recv_device") if name in proto.attr)


def is_debug_node(proto: Any) -> bool:
    """Whether a NodeDef was put in by TensorFlow's debugger."""
    name: str = proto.name
    return (name.startswith(_COPY) and proto.op in DEBUG_COPIES) or (
        name.startswith(_DEBUG) and proto.op.startswith("Debug")
    )


def debug_nodes(graph: Any) -> dict[str, str]:
    """The nodes of a GraphDef that TensorFlow's debugger put in, each with what it reads (empty: nothing)."""
    names = "\n".join([proto.name for proto in graph.node])
    if not names.startswith("__") and "\n__" not in names:  # one look takes less than a look at each of very many
        return {}
    return {proto.name: proto.input[0] if proto.input else "" for proto in graph.node if is_debug_node(proto)}


def plain_inputs(proto: Any, debug: Mapping[str, str]) -> tuple[list[str], list[str]]:
    """What a NodeDef reads, as GraphDef writes it, and the names of the nodes that it waits for, each once.

    The nodes `debug` of the debugger are left out: who reads the copy of a tensor reads the tensor.
    """
    texts = list(proto.input)
    if not debug and "^" not in "".join(texts):  # as in nearly all nodes of nearly all graphs
        return texts, []
    inputs: list[str] = []
    controls: dict[str, None] = {}
    for text in texts:
        if text[:1] != "^":
            inputs.append(_behind_copies(text, debug) if debug else text)
        elif text[1:] not in debug:
            controls[text[1:]] = None
        elif text.startswith(f"^{_COPY}"):
            controls[tensor_name(_behind_copies(text[1:], debug)).node] = None
    return inputs, list(controls)


def _behind_copies(text: str, debug: Mapping[str, str]) -> str:
    """The tensor that the debugger's copy of it is read for."""
    for _ in range(_COPIES_OF_COPIES):
        text_behind = debug.get(text.partition(":")[0])
        if not text_behind:
            break
        text = text_behind
    return text


def tensor_name(text: str) -> TensorName:
    """The tensor that an input of a NodeDef means: `node` is its first output."""
    if ":" not in text:  # most are first outputs, and graphs are large
        return TensorName(text, 0)
    node, _, slot = text.rpartition(":")
    return TensorName(node, int(slot)) if slot.isdecimal() else TensorName(text, 0)
