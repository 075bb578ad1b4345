"""The functions that nodes name, and functions with all that they call."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cache

from tfdbg_cli.capture.tf import compat
from tfdbg_cli.capture.tf.types import AttrValue, FunctionDef, NodeDef
from tfdbg_cli.model.walks import nearest_first


def with_called(definitions: Iterable[FunctionDef]) -> list[FunctionDef]:
    """The FunctionDefs `definitions` and all that they call, each once, the called ones behind."""
    given: dict[str, FunctionDef] = {}
    for definition in definitions:
        given.setdefault(definition.signature.name, definition)

    @cache
    def definition_of(name: str) -> FunctionDef:
        return given[name] if name in given else compat.function_definition(name)

    def called_in(name: str) -> list[str]:
        called = (one for node in definition_of(name).node_def for one in called_by(node))
        return [one for one in called if definition_of(one) is not None]

    return [definition_of(name) for name, _ in nearest_first(given, called_in)]


def called_by(node: NodeDef) -> list[str]:
    """The functions that a NodeDef calls or names."""
    by_its_type = [node.op] if compat.op_definition(node.op) is None else []
    return [*by_its_type, *named_by(node)]


def named_by(node: NodeDef) -> Iterable[str]:
    """The functions that a NodeDef names in its attributes."""
    return functions_in(node.attr) if _may_name(node.op) else ()


@cache
def _may_name(op_type: str) -> bool:
    """Whether ops of that type are told functions: hardly one of a large function is, and attributes are many."""
    definition = compat.op_definition(op_type)
    return definition is None or any("func" in attribute.type for attribute in definition.attr)


def functions_in(attributes: Mapping[str, AttrValue]) -> Iterator[str]:
    """The functions that the attributes of a NodeDef name."""
    for value in attributes.values():
        if value.HasField("func"):
            yield value.func.name
        elif value.HasField("list"):
            yield from (function.name for function in value.list.func)
