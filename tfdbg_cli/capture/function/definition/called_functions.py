"""The functions that functions call, so that they can be taken along."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from tfdbg_cli.capture import compat


def with_called(definitions: Iterable[Any]) -> list[Any]:
    """The FunctionDefs `definitions` and all that they call by attributes, each once, the called ones behind."""
    found: dict[str, Any] = {}
    waiting = list(definitions)
    while waiting:
        definition = waiting.pop(0)
        if definition.signature.name in found:
            continue
        found[definition.signature.name] = definition
        for node in definition.node_def:
            for name in (node.op, *_functions_in(node.attr)):
                called = compat.function_definition(name) if name not in found else None
                if called is not None:
                    waiting.append(called)
    return list(found.values())


def _functions_in(attributes: Mapping[str, Any]) -> Iterator[str]:
    for value in attributes.values():
        if value.HasField("func"):
            yield value.func.name
        elif value.HasField("list"):
            yield from (function.name for function in value.list.func)
