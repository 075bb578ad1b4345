"""The names that TensorFlow gives to graph functions."""

from __future__ import annotations

import re

_GRAPH_FUNCTION = re.compile(r"__(?:inference|forward)_(?P<name>.+)_\d+$")


def function_name(op_type: str | bytes) -> str:
    """The name of the Python function in that of a graph function (`__inference_step_12`); others as they are."""
    text = op_type.decode() if isinstance(op_type, bytes) else op_type
    match = _GRAPH_FUNCTION.match(text)
    return match["name"] if match else text
