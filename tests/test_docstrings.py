"""Every public module, class, function and method says what it does.

Without a docstring may go: a dataclass or Protocol property of one line, whose name says it all; a method that does
for one class what a documented method of the same name promises in general (a Protocol, a base class, a widget).
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache

from support.package_source import Module, modules

MODULES = modules()
WIDGET_METHODS = {"keypress", "mouse_event", "render", "rows", "selectable", "get_cursor_coords"}
Function = ast.FunctionDef | ast.AsyncFunctionDef


def _public(body: list[ast.stmt]) -> Iterator[ast.ClassDef | Function]:
    for node in body:
        if isinstance(node, ast.ClassDef | Function) and not node.name.startswith("_"):
            yield node
        elif isinstance(node, ast.If | ast.Try):
            yield from _public(node.body)


@cache
def _documented_methods() -> set[str]:
    return WIDGET_METHODS | {
        method.name
        for module in MODULES
        for node in module.nodes
        if isinstance(node, ast.ClassDef)
        for method in _public(node.body)
        if ast.get_docstring(method)
    }


def _says_it_by_its_name(method: Function) -> bool:
    decorators = {ast.unparse(decorator).split(".")[-1] for decorator in method.decorator_list}
    if decorators & {"overload", "setter", "override"}:
        return True
    return bool(decorators & {"property", "cached_property"}) and len(method.body) == 1


def _silent(module: Module) -> Iterator[str]:
    if not ast.get_docstring(module.tree):
        yield f"{module.where}: the module"
    for node in _public(module.tree.body):
        if not ast.get_docstring(node):
            yield f"{module.where}:{node.lineno}: {node.name}"
        if not isinstance(node, ast.ClassDef):
            continue
        for method in _public(node.body):
            if ast.get_docstring(method) or method.name in _documented_methods():
                continue
            if isinstance(method, ast.ClassDef) or not _says_it_by_its_name(method):
                yield f"{module.where}:{method.lineno}: {node.name}.{method.name}"


def test_every_public_name_says_what_it_does() -> None:
    silent = [row for module in MODULES for row in _silent(module)]
    assert not silent, "without a docstring:\n" + "\n".join(silent)
