"""Errors that ops raise, in words of ours."""

from __future__ import annotations

import re
from typing import Any

import tensorflow as tf

from tfdbg_cli.model.calls import RunError

OpError = tf.errors.OpError

_NODE = re.compile(r"\{\{node ([^}\s]+)\}\}")


def run_error(error: Any) -> RunError:
    """`error` (a tf.errors.OpError) in our words; the node is the operation it names, or its message does."""
    match = _NODE.search(error.message or "")
    node = error.op.name if error.op is not None else match[1] if match else None
    return RunError(type(error).__name__, error.message or str(error), node)
