"""The functions that nodes name, and functions with all that they call."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from tfdbg_cli.capture.tf import compat
from tfdbg_cli.capture.tf.types import AttrValue, FunctionDef, NodeDef


def with_called(definitions: Iterable[FunctionDef]) -> list[FunctionDef]:
    """The FunctionDefs `definitions` and all that they call, each once, the called ones behind."""
    found: dict[str, FunctionDef] = {}
    waiting = list(definitions)
    while waiting:
        definition = waiting.pop(0)
        if definition.signature.name in found:
            continue
        found[definition.signature.name] = definition
        for node in definition.node_def:
            for name in called_by(node):
                called = compat.function_definition(name) if name not in found else None
                if called is not None:
                    waiting.append(called)
    return list(found.values())


def called_by(node: NodeDef) -> list[str]:
    """The functions that a NodeDef calls or names."""
    by_its_type = [node.op] if compat.op_definition(node.op) is None else []
    return [*by_its_type, *functions_in(node.attr)]


def functions_in(attributes: Mapping[str, AttrValue]) -> Iterator[str]:
    """The functions that the attributes of a NodeDef name."""
    for value in attributes.values():
        if value.HasField("func"):
            yield value.func.name
        elif value.HasField("list"):
            yield from (function.name for function in value.list.func)
