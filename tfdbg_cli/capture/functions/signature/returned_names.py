"""What a function of the program calls what it returns: `loss` in `return loss`, read from its source."""

from __future__ import annotations

import ast
import inspect
import re
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache, partial
from types import CodeType
from typing import Any

from tfdbg_cli.capture.tf.callers import is_users
from tfdbg_cli.process.source_text import text_lines

_KEPT_ANSWERS = 256
_PLACES = re.compile(r"(\[\d+\])+")


def as_returned(names: Sequence[str], function: Any) -> tuple[str, ...]:
    """`names` of what the tf.function `function` returned, with the function's own in place of numbers.

    So `""` becomes `loss` for `return loss`, and `[1]` `accuracy` for `return loss, accuracy`. Keys of a dict stay.
    """
    code = _code_of(function)
    returned = _returned_by(code) if code is not None and is_users(code.co_filename) else {}
    return tuple(_renamed(name, returned) for name in names) if returned else tuple(names)


def _renamed(name: str, returned: Mapping[str, str]) -> str:
    if "" in returned:
        return returned[""] + name if not name or name.startswith("[") else name
    places = _PLACES.match(name)
    found = places[0] if places else ""
    while found and found not in returned:  # the innermost list that has a name
        found = found[: found.rindex("[")]
    return returned[found] + name.removeprefix(found) if found else name


def _code_of(function: Any) -> CodeType | None:
    """The code of the Python function behind `function`; None where there is none."""
    python = inspect.unwrap(getattr(function, "python_function", function))
    while not hasattr(python, "__code__") and isinstance(python, partial):
        python = inspect.unwrap(python.func)
    code = getattr(python, "__code__", None)
    return code if isinstance(code, CodeType) else None


@lru_cache(_KEPT_ANSWERS)
def _returned_by(code: CodeType) -> Mapping[str, str]:
    """What is returned under a name: by "" all of it, else by `[0]`, `[1][2]` and so on; nothing if returns differ.

    Of what is returned twice, the first place alone has the name.
    """
    lines = text_lines(code.co_filename)[code.co_firstlineno - 1 :]
    try:
        (made,) = ast.parse(textwrap.dedent("".join(inspect.getblock(list(lines))))).body
    except (SyntaxError, ValueError):  # a lambda in the middle of an expression, or source that is another by now
        return {}
    if not isinstance(made, (ast.FunctionDef, ast.AsyncFunctionDef)) or made.name != code.co_name:
        return {}
    found = [_names_in(one.value) for one in _returns(made.body)]
    if not found or any(one != found[0] for one in found):
        return {}
    first = {name: place for place, name in reversed(found[0].items())}
    return {place: name for place, name in found[0].items() if first[name] == place}


def _returns(body: Sequence[ast.AST]) -> Iterator[ast.Return]:
    """The `return` statements of a function, without those of functions and classes in it."""
    for node in body:
        if isinstance(node, ast.Return):
            yield node
        elif not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)):
            yield from _returns([*ast.iter_child_nodes(node)])


def _names_in(value: ast.expr | None, place: str = "") -> dict[str, str]:
    if isinstance(value, ast.Name):
        return {place: value.id}
    if not isinstance(value, (ast.Tuple, ast.List)):
        return {}
    return {at: name for i, one in enumerate(value.elts) for at, name in _names_in(one, f"{place}[{i}]").items()}
