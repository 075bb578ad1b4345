"""Whether the program hands what a call gives to a choice such as `tf.where`, which may throw it away.

At the op nobody knows what will become of its value; the source text around the call tells. Only the program's own
text is read, and only once something bad came up: no value is followed here, but expressions and names.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from enum import Enum, auto
from functools import lru_cache
from types import CodeType
from typing import TypeAlias

from tfdbg_cli.capture.runs.eager.program.places import is_program, scope_of_tape
from tfdbg_cli.capture.runs.eager.program.stacks import Stack, calls
from tfdbg_cli.process.source_text import text_lines

# By the name of a choosing function: the positions of the arguments that it chooses from, and their keywords.
_CHOICES = {
    "where": ((1, 2), ("x", "y")),
    "where_v2": ((1, 2), ("x", "y")),
    "select": ((1, 2), ("t", "e", "x", "y")),
    "Select": ((1, 2), ("t", "e", "x", "y")),
    "SelectV2": ((1, 2), ("t", "e")),
    "switch": ((1, 2), ("then_expression", "else_expression")),
}
_ARRAYS = frozenset({"np", "numpy"})  # their choices are no ops
_COMPUTES = (ast.Call, ast.BinOp, ast.UnaryOp, ast.Subscript, ast.ListComp, ast.GeneratorExp)
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
# What holds the value of a part of it, or a value made of that.
_CARRIES = (
    ast.BinOp, ast.UnaryOp, ast.Subscript, ast.Attribute, ast.List, ast.Tuple, ast.Starred, ast.ListComp,
    ast.GeneratorExp, ast.keyword, ast.Await,
)  # fmt: skip
_Parents: TypeAlias = dict[ast.AST, ast.AST]


class Fate(Enum):
    """What becomes of the value of an expression."""

    CHOSEN_FROM = auto()  # a choice is given it
    RETURNED = auto()  # the caller of the function gets it
    USED = auto()  # something else, as far as the text tells


def is_chosen_from(stack: Stack) -> bool:
    """Whether a choice is given what the op with this stack gives, or what is made of that.

    An op that a tape runs is none of those: what a choice throws away can come back through its gradient.
    """
    if scope_of_tape(stack):
        return False
    for code, offset in reversed([call for call in calls(stack) if is_program(call[0])]):
        fate = _fate(code, offset)
        if fate is not Fate.RETURNED:
            return fate is Fate.CHOSEN_FROM
    return False


@lru_cache(maxsize=1_000)
def _fate(code: CodeType, offset: int) -> Fate:
    """What becomes of what the instruction at `offset` gives."""
    place = list(code.co_positions())[offset // 2]
    try:
        text = "".join(text_lines(code.co_filename))
        tree, parents = _tree(text)
    except (SyntaxError, ValueError):
        return Fate.USED
    found = _expression(tree, place)
    return Fate.USED if found is None else _fate_of(found, parents, set())


@lru_cache(maxsize=8)
def _tree(text: str) -> tuple[ast.AST, _Parents]:
    tree = ast.parse(text)
    return tree, {child: node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}


def _expression(tree: ast.AST, place: tuple[int | None, int | None, int | None, int | None]) -> ast.AST | None:
    """The expression that stands at `place`: lines and columns. Python may note a later beginning of a long call."""
    line, end_line, column, end_column = place
    alike: ast.AST | None = None
    for node in ast.walk(tree):
        if isinstance(node, _COMPUTES) and (node.end_lineno, node.end_col_offset) == (end_line, end_column):
            if (node.lineno, node.col_offset) == (line, column):
                return node
            alike = node
    return alike


def _fate_of(node: ast.AST, parents: _Parents, met: set[str]) -> Fate:
    """What becomes of the value of `node`; `met` are the names that were followed."""
    while True:
        parent = parents.get(node)
        if isinstance(parent, ast.Call):
            chosen = _chosen(parent, node)
            if chosen is not None:
                return Fate.CHOSEN_FROM if chosen else Fate.USED
        elif isinstance(parent, ast.IfExp):
            if node is parent.test:
                return Fate.USED
        elif isinstance(parent, ast.Return | ast.Lambda):
            return Fate.RETURNED
        elif isinstance(parent, ast.Assign | ast.AnnAssign):
            return _fate_of_names(parent, parents, met)
        elif isinstance(parent, ast.NamedExpr):
            fate = _fate_of_names(parent, parents, met)
            if fate is Fate.CHOSEN_FROM:
                return fate
        elif not isinstance(parent, _CARRIES):
            return Fate.USED
        node = parent


def _chosen(call: ast.Call, node: ast.AST) -> bool | None:
    """True where `call` chooses from its argument `node`, False for its other arguments; None if it is no choice."""
    function = call.func
    name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
    owner = function.value if isinstance(function, ast.Attribute) else None
    if name not in _CHOICES or (isinstance(owner, ast.Name) and owner.id in _ARRAYS) or node is function:
        return None
    places, keywords = _CHOICES[name]
    if isinstance(node, ast.keyword):
        return node.arg in keywords
    return any(node is given and at in places for at, given in enumerate(call.args))


def _fate_of_names(given: ast.Assign | ast.AnnAssign | ast.NamedExpr, parents: _Parents, met: set[str]) -> Fate:
    """What becomes of an assigned value: the first in `Fate`'s order of the fates at all reads of its name."""
    targets = given.targets if isinstance(given, ast.Assign) else [given.target]
    names = {one.id for target in targets for one in ast.walk(target) if isinstance(one, ast.Name)} - met
    met |= names
    fates = {_fate_of(read, parents, met) for read in _reads(given, names, parents)}
    return next((fate for fate in Fate if fate in fates), Fate.USED)


def _reads(given: ast.AST, names: set[str], parents: _Parents) -> Iterator[ast.Name]:
    """Where the function, or the module, around the assignment `given` reads one of `names`."""
    around = given
    while around in parents and not isinstance(around, _FUNCTIONS):
        around = parents[around]
    for node in ast.walk(around):
        if isinstance(node, ast.Name) and node.id in names and isinstance(node.ctx, ast.Load):
            yield node
