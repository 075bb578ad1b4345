"""Errors that ops raise, as the model of a run has them."""

from __future__ import annotations

import re

import tensorflow as tf

from tfdbg_cli.model.calls import RunError

OpError = tf.errors.OpError

_NODE = re.compile(r"\{\{node ([^}\s]+)\}\}")


def run_error(error: tf.errors.OpError) -> RunError:
    """`error` as a RunError; its node is the operation that the error or its message names."""
    match = _NODE.search(error.message or "")
    node = error.op.name if error.op is not None else match[1] if match else None
    return RunError(type(error).__name__, error.message or str(error), node)
