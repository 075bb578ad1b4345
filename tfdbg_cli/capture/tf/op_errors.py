"""Errors that ops raise, as the model of a run has them."""

from __future__ import annotations

import re

import tensorflow as tf

from tfdbg_cli.model.calls import RunError

OpError = tf.errors.OpError

_NODE = re.compile(r"\{\{node ([^}\s]+)\}\}")
_FETCH = re.compile(r"_retval_(.+)_\d+_\d+")  # what the runtime puts behind an output that is fetched, and its index


def run_error(error: tf.errors.OpError) -> RunError:
    """`error` as a RunError; its node is the operation that the error or its message names.

    A variable that is fetched before it has a value fails where the runtime hands it over; then it is the variable.
    """
    match = _NODE.search(error.message or "")
    node = error.op.name if error.op is not None else match[1] if match else None
    fetch = None if node is None else _FETCH.fullmatch(node)
    return RunError(type(error).__name__, error.message or str(error), node if fetch is None else fetch[1])
