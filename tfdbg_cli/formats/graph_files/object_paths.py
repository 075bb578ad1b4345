"""What the objects of a program call things: the way to each object by names of attributes, from the root on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tfdbg_cli.model.walks import nearest_first

_LONGEST = 1_000  # characters of a way: what is beyond would be damage


def object_paths(nodes: Sequence[Any]) -> dict[int, str]:
    """The shortest way to each node of an object graph, such as `model.layers.0`; the root's is empty."""
    paths = {0: ""} if len(nodes) else {}

    def further(number: int) -> Iterator[int]:
        around = paths[number]
        for child in nodes[number].children if len(around) < _LONGEST else ():
            if child.node_id not in paths and 0 <= child.node_id < len(nodes):
                paths[child.node_id] = f"{around}.{child.local_name}" if around else str(child.local_name)
                yield child.node_id

    for _ in nearest_first(tuple(paths), further):
        pass
    return paths


def function_paths(objects: Any) -> Mapping[str, str]:
    """Of the functions of a SavedObjectGraph the name under which the program calls them."""
    found: dict[str, str] = {}
    for number, path in object_paths(objects.nodes).items():
        node = objects.nodes[number]
        kind = node.WhichOneof("kind")
        names = node.function.concrete_functions if kind == "function" else ()
        if kind == "bare_concrete_function":
            names = (node.bare_concrete_function.concrete_function_name,)
        for name in names:
            found.setdefault(name, path)
    return found
