"""Walks from a node to what it was made of. Every node is visited once, and no depth is too deep."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator

from tfdbg_cli.debug_data.partition_graph import PartitionGraph
from tfdbg_cli.debug_data.partition_graphs import DeviceNode, PartitionGraphs
from tfdbg_cli.formats.messages.graph_nodes import tensor_name


def transitive_inputs(
    part: PartitionGraph, node_name: str, include_control: bool, include_reversed_ref: bool
) -> list[str]:
    """Inputs of the node, of these, and so on, each node once, as the first that reads it names it."""
    found: list[str] = []
    visited = {node_name}
    stack = [_read(part, node_name, include_control, include_reversed_ref)]
    while stack:
        text = next(stack[-1], None)
        if text is None:
            stack.pop()
            continue
        name = tensor_name(text).node
        if name not in visited:
            visited.add(name)
            found.append(text)
            stack.append(_read(part, name, include_control, include_reversed_ref))
    return found


def _read(part: PartitionGraph, name: str, include_control: bool, include_reversed_ref: bool) -> Iterator[str]:
    yield from part.inputs.get(name, ())
    if include_control:
        yield from part.control_inputs.get(name, ())
    if include_reversed_ref:
        yield from part.reference_readers.get(name, ())


def some_path(
    parts: PartitionGraphs, source: DeviceNode, target: DeviceNode, include_control: bool, include_reversed_ref: bool
) -> list[str] | None:
    """Names of nodes from `source` to `target`, as few as there can be; None when no path leads there.

    A path crosses devices where a tensor is sent and received.
    """
    readers: dict[DeviceNode, DeviceNode | None] = {target: None}
    waiting = deque([target])
    while waiting:
        place = waiting.popleft()
        if place == source:
            break
        device, name = place
        part = parts.by_device[device]
        texts = _read(part, name, include_control, include_reversed_ref)
        reads = [(device, tensor_name(text).node) for text in texts]
        sender = parts.sender(place)
        for read in [*reads, *([sender] if sender else [])]:
            if read not in readers:
                readers[read] = place
                waiting.append(read)
    if source not in readers:
        return None
    path: list[str] = []
    step: DeviceNode | None = source
    while step is not None:
        path.append(step[1])
        step = readers[step]
    return path
