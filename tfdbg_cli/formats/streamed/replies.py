"""What a debug server answers: that it has understood, and which tensors it wants."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from tfdbg_cli.formats.messages import schema
from tfdbg_cli.formats.messages.graph_def import GraphPartition
from tfdbg_cli.formats.messages.graph_nodes import is_debug_node
from tfdbg_cli.formats.streamed.pieces import DamagedEventError, read_graph_piece
from tfdbg_cli.model.names import parse_tensor_name

UNDERSTOOD = b""
"""An EventReply that asks for nothing. TensorFlow waits for one behind each graph and each announcement of a run."""
_READ_ONLY = 2  # the state of a tensor that is sent, and not waited for


def wants_all(parts: Iterable[GraphPartition]) -> bytes:
    """An EventReply that asks for the tensors that are sent only to who asks (`gated_grpc`)."""
    reply = schema.EventReply()
    for part in parts:
        for node in part.graph.node:
            if node.op.startswith("Debug") and is_debug_node(node) and _waits(node):
                name = parse_tensor_name(node.name.removeprefix("__dbg_").rsplit("_", 2)[0])
                if name is not None:
                    reply.debug_op_state_changes.add(
                        state=_READ_ONLY, node_name=name.node, output_slot=name.slot, debug_op=node.op
                    )
    serialized: bytes = reply.SerializeToString()
    return serialized


def _waits(node: Any) -> bool:
    """Whether a debug op sends only to who asks."""
    return "gated_grpc" in node.attr and bool(node.attr["gated_grpc"].b)  # asked at once, it would be put in


def bare_answer(message: bytes) -> bytes | None:
    """The EventReply that TensorFlow waits for behind an Event that nobody looks at; None where it waits for none."""
    try:
        event = schema.Event.FromString(message)
        if event.WhichOneof("what") == "summary":
            return None
        piece = read_graph_piece(event.graph_def) if event.graph_def else None
    except (schema.DecodeError, DamagedEventError):
        return UNDERSTOOD
    return UNDERSTOOD if piece is None or piece.piece == piece.pieces - 1 else None
