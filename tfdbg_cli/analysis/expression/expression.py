"""Expressions over tensors in backticks, evaluated node by node: no other Python than computing gets through."""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

import numpy as np

from tfdbg_cli.analysis.expression.allowance import check_call, check_digits, check_operator
from tfdbg_cli.analysis.expression.names import BUILT_INS, METHODS, NUMPY, AllowedNames
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.model.names import did_you_mean
from tfdbg_cli.process.interruptions import our_errors

Lookup = Callable[[str], Any]

_AS_A_SLIP = 0.75  # how alike a name and a built-in are of which one is the other with a slip, at least
_BACKTICKED = re.compile(r"`([^`]*)`")
_BINARY: dict[type[ast.operator], tuple[str, Callable[[Any, Any], Any]]] = {
    ast.Add: ("+", operator.add), ast.Sub: ("-", operator.sub), ast.Mult: ("*", operator.mul),
    ast.Div: ("/", operator.truediv), ast.FloorDiv: ("//", operator.floordiv), ast.Mod: ("%", operator.mod),
    ast.Pow: ("**", operator.pow), ast.MatMult: ("@", operator.matmul), ast.LShift: ("<<", operator.lshift),
    ast.RShift: (">>", operator.rshift), ast.BitAnd: ("&", operator.and_), ast.BitOr: ("|", operator.or_),
    ast.BitXor: ("^", operator.xor),
}  # fmt: skip
_UNARY: dict[type[ast.unaryop], Callable[[Any], Any]] = {
    ast.UAdd: operator.pos, ast.USub: operator.neg, ast.Invert: operator.invert, ast.Not: operator.not_,
}  # fmt: skip
_COMPARE: dict[type[ast.cmpop], Callable[[Any, Any], Any]] = {
    ast.Eq: operator.eq, ast.NotEq: operator.ne, ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt,
    ast.GtE: operator.ge, ast.Is: operator.is_, ast.IsNot: operator.is_not,
    ast.In: lambda a, b: a in b, ast.NotIn: lambda a, b: a not in b,
}  # fmt: skip


@dataclass(frozen=True)
class Expression:
    """An expression taken apart; `names` are what its tensors are called in `tree`, with the texts in backticks."""

    tree: ast.Expression
    names: Mapping[str, str]


def evaluate(text: str, lookup: Lookup) -> Any:
    """The value of the expression `text`; `lookup` gives the array for each text between backticks.

    The arrays are seen read-only, since they are what the program computed.

    Raises:
        TfdbgError: it cannot be parsed, uses what is not allowed, fails, or would take too much memory.

    """
    return computed(parsed(text), lookup)


def parsed(text: str) -> Expression:
    """The expression `text`.

    Raises:
        TfdbgError: it cannot be parsed.

    """
    names: dict[str, str] = {}

    def placeholder(match: re.Match[str]) -> str:
        name = f"__tensor_{len(names)}"
        names[name] = match[1].strip()
        return f" {name} "

    source = _BACKTICKED.sub(placeholder, text).strip()
    if "`" in source:
        raise TfdbgError("A closing backtick is missing.", hint="Write `node:slot` between two backticks.")
    if not source:
        raise TfdbgError("There is no expression.", hint="Such as: eval 'np.max(`loss/Log:0`)'")
    try:
        tree = ast.parse(source, mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        reason = error.msg if isinstance(error, SyntaxError) else str(error)
        raise TfdbgError(f"The expression cannot be read: {reason}.", hint="Tensors stand in `backticks`.") from None
    return Expression(tree, names)


def computed(expression: Expression, lookup: Lookup) -> Any:
    """The value of `expression`. See `evaluate`.

    Raises:
        TfdbgError: as `evaluate`.

    """
    tensors = {name: _read_only(lookup(tensor)) for name, tensor in expression.names.items()}
    try:
        with np.errstate(all="ignore"):
            result = _plain(_Evaluator(tensors).value(expression.tree.body))
        check_digits(result)
    except TfdbgError:
        raise
    except MemoryError:
        raise TfdbgError("The expression needs more memory than there is.", hint="Slice the tensors first.") from None
    except RecursionError:
        raise TfdbgError("The expression is nested too deeply.") from None
    except our_errors() as error:  # whatever the expression raises is the answer to it
        reason = _reworded(str(error), expression.names).rstrip(". ")
        raise TfdbgError(f"{type(error).__name__}: {reason}." if reason else f"{type(error).__name__}.") from None
    return result


def _plain(result: Any) -> Any:
    if isinstance(result, AllowedNames) or callable(result):
        raise TfdbgError("The expression is a function, not a value.", hint="Call it: np.max(`node:slot`)")
    return result


def _read_only(array: Any) -> Any:
    if not isinstance(array, np.ndarray):
        return array
    seen = array.view()
    seen.flags.writeable = False
    return seen


def _reworded(message: str, names: Mapping[str, str]) -> str:
    for name, tensor in names.items():
        message = message.replace(name, f"`{tensor}`")
    return message


def _a_slip(name: str) -> str:
    """A question for the built-in that `name` nearly is, or an empty text: more often a tensor is meant."""
    near = get_close_matches(name, BUILT_INS, 1, _AS_A_SLIP)
    return f"Or did you mean {near[0]}?" if near else ""


class _Evaluator:
    """Walks an expression. `names` are the tensors and the variables of comprehensions."""

    def __init__(self, names: dict[str, Any]) -> None:
        self._names = names

    def value(self, node: ast.AST) -> Any:
        method = getattr(self, f"_{type(node).__name__.lower()}", None)
        if method is None:
            raise TfdbgError(
                f"{type(node).__name__} is not part of what eval computes.",
                hint="Operators, calls of NumPy and methods, indexing and comprehensions are.",
            )
        return method(node)

    def _constant(self, node: ast.Constant) -> Any:
        return node.value

    def _name(self, node: ast.Name) -> Any:
        if node.id in self._names:
            return self._names[node.id]
        if node.id in {"np", "numpy"}:
            return NUMPY
        if node.id in BUILT_INS:
            return BUILT_INS[node.id]
        if node.id in NUMPY.entries:
            raise TfdbgError(f"There is no name {node.id!r}.", hint=f"Write np.{node.id}.")
        raise TfdbgError(
            f"There is no name {node.id!r}.",
            hint=f"A tensor stands in backticks: `{node.id}:0`. {_a_slip(node.id)}".rstrip(),
        )

    def _attribute(self, node: ast.Attribute) -> Any:
        owner = self.value(node.value)
        if isinstance(owner, AllowedNames):
            if node.attr not in owner.entries:
                hint = (
                    did_you_mean(node.attr, owner.entries) or "eval has what computes, nothing that reads or writes."
                )
                raise TfdbgError(f"{owner.title}.{node.attr} is not available here.", hint=hint)
            return owner.entries[node.attr]
        if node.attr not in METHODS:
            raise TfdbgError(f".{node.attr} is not available here.", hint=did_you_mean(node.attr, METHODS))
        return getattr(owner, node.attr)

    def _call(self, node: ast.Call) -> Any:
        function = self.value(node.func)
        arguments = self._elements(node.args)
        keywords: dict[str, Any] = {}
        for keyword in node.keywords:
            if keyword.arg is None:
                keywords.update(self.value(keyword.value))
            else:
                keywords[keyword.arg] = self.value(keyword.value)
        if any(isinstance(argument, AllowedNames) for argument in (*arguments, *keywords.values())):
            raise TfdbgError("np itself is no value.", hint="Write np.NAME(…).")
        check_call(function, arguments, keywords)
        return function(*arguments, **keywords)

    def _elements(self, nodes: list[ast.expr]) -> list[Any]:
        found: list[Any] = []
        for node in nodes:
            if isinstance(node, ast.Starred):
                found += self.value(node.value)
            else:
                found.append(self.value(node))
        return found

    def _binop(self, node: ast.BinOp) -> Any:
        symbol, apply = _BINARY[type(node.op)]
        left, right = self.value(node.left), self.value(node.right)
        if symbol == "%" and isinstance(left, str | bytes):
            raise TfdbgError("Text is not formatted here.")
        check_operator(symbol, left, right)
        return apply(left, right)

    def _unaryop(self, node: ast.UnaryOp) -> Any:
        return _UNARY[type(node.op)](self.value(node.operand))

    def _boolop(self, node: ast.BoolOp) -> Any:
        stop_at = isinstance(node.op, ast.Or)
        result: Any = None
        for part in node.values:
            result = self.value(part)
            if bool(result) is stop_at:
                break
        return result

    def _compare(self, node: ast.Compare) -> Any:
        left = self.value(node.left)
        result: Any = True
        for comparison, part in zip(node.ops, node.comparators, strict=True):
            right = self.value(part)
            check_operator("==", left, right)
            result = _COMPARE[type(comparison)](left, right)
            if len(node.ops) > 1 and not bool(result):
                break
            left = right
        return result

    def _ifexp(self, node: ast.IfExp) -> Any:
        return self.value(node.body if self.value(node.test) else node.orelse)

    def _subscript(self, node: ast.Subscript) -> Any:
        return self.value(node.value)[self.value(node.slice)]

    def _slice(self, node: ast.Slice) -> slice:
        lower, upper, step = (None if n is None else self.value(n) for n in (node.lower, node.upper, node.step))
        return slice(lower, upper, step)

    def _tuple(self, node: ast.Tuple) -> tuple[Any, ...]:
        return tuple(self._elements(node.elts))

    def _list(self, node: ast.List) -> list[Any]:
        return self._elements(node.elts)

    def _set(self, node: ast.Set) -> set[Any]:
        return set(self._elements(node.elts))

    def _dict(self, node: ast.Dict) -> dict[Any, Any]:
        found: dict[Any, Any] = {}
        for key, part in zip(node.keys, node.values, strict=True):
            if key is None:
                found.update(self.value(part))
            else:
                found[self.value(key)] = self.value(part)
        return found

    def _listcomp(self, node: ast.ListComp) -> list[Any]:
        return [inner.value(node.elt) for inner in self._rounds(node.generators)]

    def _setcomp(self, node: ast.SetComp) -> set[Any]:
        return {inner.value(node.elt) for inner in self._rounds(node.generators)}

    def _generatorexp(self, node: ast.GeneratorExp) -> Iterator[Any]:
        return iter([inner.value(node.elt) for inner in self._rounds(node.generators)])

    def _dictcomp(self, node: ast.DictComp) -> dict[Any, Any]:
        return {inner.value(node.key): inner.value(node.value) for inner in self._rounds(node.generators)}

    def _rounds(self, generators: list[ast.comprehension]) -> Iterator[_Evaluator]:
        """An evaluator for each round of the nested loops, with its variables."""
        if not generators:
            yield self
            return
        first, *rest = generators
        if first.is_async:
            raise TfdbgError("async is not part of what eval computes.")
        for item in self.value(first.iter):
            inner = _Evaluator({**self._names, **_bound(first.target, item)})
            if all(inner.value(condition) for condition in first.ifs):
                yield from inner._rounds(rest)


def _bound(target: ast.expr, item: Any) -> dict[str, Any]:
    """The variables that `target` names, bound to (parts of) `item`."""
    if isinstance(target, ast.Name):
        return {target.id: item}
    if not isinstance(target, ast.Tuple | ast.List):
        raise TfdbgError("A comprehension binds plain names only.")
    parts = list(item)
    if len(parts) != len(target.elts):
        raise TfdbgError(f"{len(parts)} values cannot be bound to {len(target.elts)} names.")
    found: dict[str, Any] = {}
    for part, value in zip(target.elts, parts, strict=True):
        found |= _bound(part, value)
    return found
