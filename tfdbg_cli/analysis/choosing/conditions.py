"""Conditions on what a tensor holds, such as `min < 0 and nan == 0`, for breakpoints: asked of many tensors."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import SimpleNamespace

from tfdbg_cli.analysis.choosing.figures import FIGURES, figure
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.model.names import did_you_mean
from tfdbg_cli.model.statistics import summarize
from tfdbg_cli.model.values import Array

INPUT = "input"
_OUTPUT = "output"
# These say something alone: that there are some.
_COUNTS = frozenset({"nan", "inf", "bad", "neg", "zero", "pos", "size"})
_ALLOWED = (
    ast.Expression, ast.BoolOp, ast.And, ast.Or, ast.UnaryOp, ast.Not, ast.USub, ast.UAdd, ast.BinOp, ast.Add,
    ast.Sub, ast.Mult, ast.Div, ast.Compare, ast.Lt, ast.LtE, ast.Gt, ast.GtE, ast.Eq, ast.NotEq, ast.Name, ast.Load,
    ast.Constant,
)  # fmt: skip


class Condition:
    """A parsed condition (`condition_of`). `asks_inputs` says whether it refers to the op's inputs, too."""

    def __init__(self, tree: ast.Expression) -> None:
        attributes = [node for node in ast.walk(tree) if isinstance(node, ast.Attribute)]
        self.asks_inputs = bool(attributes)
        self._of_inputs = {node.attr for node in attributes}
        self._names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)} - {INPUT}
        self._code = compile(tree, "<condition>", "eval")

    def holds(self, outputs: Sequence[Array], inputs: Callable[[], Sequence[Array]]) -> bool:
        """Whether it holds for some pair of one of `outputs` and, if it refers to inputs, one of `inputs()`."""
        given = [_figures(value, self._of_inputs) for value in inputs()] if self.asks_inputs else [{}]
        gave = [_figures(value, self._names) for value in outputs] if self._names else [{}]
        return any(self._of(one, other) for one in gave for other in given)

    def _of(self, gave: Mapping[str, float] | None, given: Mapping[str, float] | None) -> bool:
        if gave is None or given is None:
            return False
        try:
            return bool(eval(self._code, {"__builtins__": {}}, {**gave, INPUT: SimpleNamespace(**given)}))
        except (ZeroDivisionError, OverflowError):
            return False


def _figures(value: Array, names: Iterable[str]) -> dict[str, float] | None:
    """The figures called `names` of `value`; None for strings and objects, which have no figures."""
    if value.dtype.kind in "SUO":
        return None
    summary = summarize(value)
    return {name: value.ndim if name == "rank" else figure(summary, name) for name in names}


class _OutputsByFigure(ast.NodeTransformer):
    """Makes `output.max` the figure `max`, which means that already."""

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        if isinstance(node.value, ast.Name) and node.value.id == _OUTPUT:
            return ast.copy_location(ast.Name(node.attr, ast.Load()), node)
        return node


def condition_of(text: str) -> Condition:
    """The condition that `text` states over `FIGURES` of what an op gives, with `input.` before of what it is given.

    `output.` may stand before the former. Numbers, comparisons, `and`, `or`, `not`, + - * / go with them.

    Raises:
        TfdbgError: it is none.

    """
    try:
        tree: ast.Expression = _OutputsByFigure().visit(ast.parse(text.strip(), mode="eval"))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise TfdbgError(f"{text!r} is no condition.", hint="Such as: min < 0, or: nan > 0 or absmax > 1e4") from None
    figures: list[str] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == INPUT:
            figures.append(node.attr)
        elif isinstance(node, ast.Name):
            figures += [node.id] * (node.id != INPUT)
        elif not isinstance(node, _ALLOWED) or (
            isinstance(node, ast.Constant) and type(node.value) not in (int, float)
        ):
            raise TfdbgError(
                f"{ast.unparse(node)!r} is nothing that a condition has.",
                hint=f"It has numbers, comparisons, and, or, not, + - * / and the figures {', '.join(FIGURES)}; "
                f"with {INPUT}. before them they are of what an op is given.",
            )
    for name in figures:
        if name not in FIGURES:
            raise TfdbgError(
                f"There is no figure {name!r} to compare.", hint=did_you_mean(name, FIGURES) or ", ".join(FIGURES)
            )
    if not figures:
        raise TfdbgError(f"{text!r} asks for no figure.", hint=f"There are {', '.join(FIGURES)}.")
    if isinstance(tree.body, (ast.Name, ast.Attribute)) and figures[0] not in _COUNTS:
        raise TfdbgError(f"{text!r} compares nothing.", hint=f"Such as: {text.strip()} > 0")
    return Condition(tree)
