"""What a run was fed: which feed a node stands for, and its value."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import numpy as np

from tfdbg_cli.model.graph import Node
from tfdbg_cli.model.names import TensorName
from tfdbg_cli.model.values import Array, as_array
from tfdbg_cli.ops.kinds import INPUTS

# The runtime names the argument that stands for the feed x:0 `_arg_x_0_3` (graph/subgraph.cc, RewriteGraph).
_ARGUMENT = re.compile(r"^_arg_(?P<node>.+)_(?P<slot>\d+)_\d+$")


def feed_name(node: Node | None) -> TensorName | None:
    """The feed that `node` stands for: its own output 0, or for a runtime argument the tensor that was fed."""
    if node is None or node.op_type not in INPUTS:
        return None
    match = _ARGUMENT.match(node.name) if node.op_type == "_Arg" else None
    return TensorName(match["node"], int(match["slot"])) if match else TensorName(node.name, 0)


def fed_value(feeds: Mapping[str, Any], name: TensorName) -> Array | None:
    """What was fed as `name`; None when nothing was, when only the key was kept, or when it is no numbers."""
    array = _fed(feeds, name)
    return None if array is None or array.dtype == np.dtype(object) else array


def fed_texts(feeds: Mapping[str, Any], name: TensorName) -> Array | None:
    """The texts that were fed as `name`, an array of objects; None when nothing else was, or nothing at all."""
    array = _fed(feeds, name)
    if array is None or array.dtype != np.dtype(object):
        return None
    return array if all(isinstance(item, bytes | str) for item in array.flat) else None


def _fed(feeds: Mapping[str, Any], name: TensorName) -> Array | None:
    fed = feeds.get(str(name), feeds.get(name.node) if name.slot == 0 else None)
    if fed is None:
        return None
    try:
        return as_array(fed)
    except ValueError:  # rows of unequal length
        return None
