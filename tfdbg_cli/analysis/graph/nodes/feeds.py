"""What a run was fed: which feed a node stands for, and its value."""

from __future__ import annotations

import re
from collections import ChainMap
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from tfdbg_cli.model.calls import Call, RunKind
from tfdbg_cli.model.graph import Node
from tfdbg_cli.model.names import TensorName
from tfdbg_cli.model.runs import Run
from tfdbg_cli.model.tensors import TensorStore
from tfdbg_cli.model.values import Array, NoValue, as_array, known_array
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


def fed_array(fed: Any) -> Array | None:
    """What was fed as an array; None where it is none, or not held."""
    try:
        return None if fed is None or isinstance(fed, NoValue) else as_array(fed)
    except (ValueError, TypeError):  # rows of unequal length, or no array at all
        return None


def given_arrays(run: Run) -> dict[str, Array | None]:
    """What a run was fed or given, by name, as arrays; None of what is none, or not held.

    Of a feed of a session of which only the name was kept it is what the runtime shows of it.
    """
    found = {name: fed_array(given) for name, given in run.call.given.items()}
    if run.call.kind is not RunKind.SESSION:
        return found
    return {name: shown_feed(run.tensors, name) if array is None else array for name, array in found.items()}


def shown_feed(tensors: TensorStore, name: str) -> Array | None:
    """The value of the runtime's argument for the feed `name`; None where it shows none."""
    node = next((node for node in tensors.nodes() if _is_argument(node, name)), None)
    return None if node is None else known_array(tensors.value(tensors.named(node)[0]))


def _is_argument(node: str, feed: str) -> bool:
    """Whether the runtime calls its argument for `feed` by the name `node`."""
    match = _ARGUMENT.match(node) if node.startswith("_arg_") else None
    return match is not None and f"{match['node']}:{match['slot']}" == feed


def fed_texts(feeds: Mapping[str, Any], name: TensorName) -> Array | None:
    """The texts that were fed as `name`, an array of objects; None when nothing else was, or nothing at all."""
    array = _fed(feeds, name)
    if array is None or array.dtype != np.dtype(object):
        return None
    return array if all(isinstance(item, bytes | str) for item in array.flat) else None


def fed_elements(feeds: Mapping[str, Any], name: TensorName) -> Array | None:
    """The numbers or texts that were fed as `name`; None when nothing was, or when only the key was kept."""
    value = fed_value(feeds, name)
    return fed_texts(feeds, name) if value is None else value


def with_replaced_feeds(call: Call, replaced: Mapping[TensorName, Array]) -> Call:
    """`call` as if it had been given those of `replaced` that are feeds or arguments; the others are not read."""
    given = {}
    for name, value in replaced.items():
        key = _key(call.feeds, name)
        if key is not None:
            given[key] = value
    return replace(call, feeds=ChainMap(given, call.feeds)) if given else call  # type: ignore[arg-type]  # is read only


def _key(feeds: Mapping[str, Any], name: TensorName) -> str | None:
    """The feed that `name` means: feeds go by their tensors, arguments by their nodes; None if it was not fed."""
    if str(name) in feeds:
        return str(name)
    return name.node if name.slot == 0 and name.node in feeds else None


def _fed(feeds: Mapping[str, Any], name: TensorName) -> Array | None:
    key = _key(feeds, name)
    fed = None if key is None else feeds[key]
    if fed is None:
        return None
    try:
        return as_array(fed)
    except ValueError:  # rows of unequal length
        return None
