"""The line of a Python statement at which it calls or computes something: ops of no other line of it are run."""

from __future__ import annotations

import dis
import warnings
from collections.abc import Iterator, Sequence
from types import CodeType

# What may run an op, by the beginnings of the names of Python's instructions. Reading an attribute seldom does.
_COMPUTE = ("CALL", "BINARY", "INPLACE", "UNARY", "COMPARE", "CONTAINS", "GET_ITER", "FOR_ITER", "STORE_SUBSCR")
_PREPARES = frozenset({"CALL_INTRINSIC_1", "CALL_INTRINSIC_2"})  # what Python calls for itself


def computing_line(lines: Sequence[str], number: int, statement: range) -> int:
    """Line `number` of `lines` where something is computed there; else the line of its `statement` that is meant.

    An argument that stands on a line of its own is taken for the call, whose line is before it as a rule. It is
    `number` where the statement computes nothing at all, or the text is no Python.
    """
    if len(statement) < 2:
        return number
    try:
        with warnings.catch_warnings():  # of what the program's own compilation has told already
            warnings.simplefilter("ignore")
            code = compile("\n".join(line.rstrip("\n") for line in lines), "<tfdbg>", "exec", dont_inherit=True)
    except (SyntaxError, ValueError, RecursionError):
        return number
    computing = {line for line in _lines_of(code) if line in statement}
    if number in computing or not computing:
        return number
    return max((line for line in computing if line < number), default=min(computing))


def _lines_of(code: CodeType) -> Iterator[int]:
    """The lines at which `code`, or what is defined in it, computes something."""
    for start, end, line in code.co_lines():
        names = {dis.opname[code.co_code[at]] for at in range(start, end, 2)}
        if line is not None and any(name.startswith(_COMPUTE) for name in names - _PREPARES):
            yield line
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _lines_of(constant)
