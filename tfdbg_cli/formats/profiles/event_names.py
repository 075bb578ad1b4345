"""What the names of events say: which op of TensorFlow it was, on the host or for an accelerator.

TensorFlow calls an op that its executor ran `node:OpType`, and one that Python ran `EagerLocalExecute: OpType`.
Whatever else is traced stands beside them (`ExecutorState::Process`, `Iterator::Root`, lines of Python), so a name
counts only where its parts are names that TensorFlow gives to nodes and ops.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TypeAlias

_NODE = re.compile(r"[A-Za-z0-9._][A-Za-z0-9_.\\/>-]*")
_OP_TYPE = re.compile(r"_?[A-Z]\w*(?:>\w+)*", re.ASCII)  # `__inference_step_12` is a function
_OF_XLA = re.compile(r"[\w.-]+", re.ASCII)
_EAGER = "EagerLocalExecute: "
_FUNCTION = "EagerLocalExecute: __"
EAGER_KERNEL = "EagerKernelExecute"  # lies within the event of the eager op, without what prepares it

IsOp: TypeAlias = Callable[[str], bool]


def is_op_type(text: str) -> bool:
    """Whether it looks like the type of an op; whether TensorFlow has such an op is not known here."""
    return _OP_TYPE.fullmatch(text) is not None


def node_and_op(text: str, is_op: IsOp) -> tuple[str, str] | None:
    """The node and the op type of `node:OpType`; None for all other names."""
    node, _, op_type = text.rpartition(":")
    return (node, op_type) if _NODE.fullmatch(node) and is_op(op_type) else None


def eager_op(text: str, is_op: IsOp) -> str:
    """The type of the op that Python ran; empty where it is none, or a function."""
    op_type = text.removeprefix(_EAGER) if text.startswith(_EAGER) and not text.startswith(_FUNCTION) else ""
    return op_type if is_op(op_type) else ""


def is_name_of_xla(text: str) -> bool:
    """Whether it may be the name of an instruction of XLA."""
    return _OF_XLA.fullmatch(text) is not None
