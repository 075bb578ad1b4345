"""The package as syntax trees: its modules, and what each imports. Shared by the tests about the code itself."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]
PACKAGE = PROJECT / "tfdbg_cli"


@dataclass(frozen=True)
class Import:
    """One imported name. `typing_only` when it stands under `if TYPE_CHECKING`, `late` inside a function."""

    target: str
    line: int
    typing_only: bool
    late: bool


@dataclass(frozen=True)
class Module:
    """One file of the package."""

    name: str
    path: Path

    @property
    def layer(self) -> str:
        """The first part under the package: a folder or a module of its root; "" for the root itself."""
        parts = self.name.split(".")
        return parts[1] if len(parts) > 1 else ""

    @property
    def where(self) -> str:
        return str(self.path.relative_to(PROJECT))

    @cached_property
    def tree(self) -> ast.Module:
        return ast.parse(self.path.read_text(encoding="utf-8"), self.where)

    @cached_property
    def nodes(self) -> tuple[ast.AST, ...]:
        """All nodes of the tree: to walk through it takes longer than to read and parse it."""
        return tuple(ast.walk(self.tree))

    @cached_property
    def imports(self) -> list[Import]:
        return list(_imports(self.tree, typing_only=False, late=False))


@cache
def modules() -> tuple[Module, ...]:
    """Every module of the package, by name."""
    found = []
    for path in sorted(PACKAGE.rglob("*.py")):
        parts = path.relative_to(PROJECT).with_suffix("").parts
        name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        found.append(Module(name, path))
    return tuple(found)


def _imports(node: ast.AST, typing_only: bool, late: bool) -> Iterator[Import]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Import):
            for alias in child.names:
                yield Import(alias.name, child.lineno, typing_only, late)
        elif isinstance(child, ast.ImportFrom):
            base = "." * child.level + (child.module or "")
            for alias in child.names:
                yield Import(f"{base}.{alias.name}", child.lineno, typing_only, late)
        elif isinstance(child, ast.Call) and _dynamic(child):
            yield Import(_dynamic(child), child.lineno, typing_only, late)
        elif isinstance(child, ast.If) and _last_name(child.test) == "TYPE_CHECKING":
            yield from _imports(ast.Module(child.body, []), True, late)
            yield from _imports(ast.Module(child.orelse, []), typing_only, late)
        else:
            inside = isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
            yield from _imports(child, typing_only, late or inside)


def _dynamic(call: ast.Call) -> str:
    """The module that import_module("…") or __import__("…") names, else ""."""
    if _last_name(call.func) not in ("import_module", "__import__") or not call.args:
        return ""
    name = call.args[0]
    return name.value if isinstance(name, ast.Constant) and isinstance(name.value, str) else ""


def _last_name(node: ast.expr) -> str:
    """The name, or that of the attribute; "" of anything else."""
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""
