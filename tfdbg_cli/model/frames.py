"""The Python call stack of a program that is stopped in the middle of a run, with the variables of each call."""

from __future__ import annotations

import ast
import symtable
from dataclasses import dataclass
from typing import Any

from tfdbg_cli.model.sources import Frame


@dataclass(frozen=True)
class Assigned:
    """What statements did: the names that they gave another object, and what the last one is, if an expression."""

    names: tuple[str, ...]
    value: Any = None


@dataclass(frozen=True, eq=False)
class LiveFrame:
    """A call that is running: where it stands, and its local variables (`names`) at this moment.

    `outer` is the frame's actual dict of globals. `names` is that same dict for a module, a copy for a function.
    """

    place: Frame
    names: dict[str, Any]
    outer: dict[str, Any]

    def let_go(self) -> None:
        """Drop our copy of a function's variables before it goes on, so that we keep none of its objects alive."""
        if self.names is not self.outer:
            self.names.clear()

    @property
    def is_module(self) -> bool:
        """Whether it is the code of a module, whose variables can be changed from here."""
        return self.names is self.outer

    def evaluate(self, text: str) -> Any:
        """Evaluate the Python expression, or execute the statement, `text` in this frame; `Assigned` for a statement.

        What a statement assigns is there for the next one. In a module it is the program's as well; the variables of
        a function that is running cannot be changed from outside. Raises SyntaxError, and whatever `text` raises.
        """
        # As one, since what is nested in `text`, such as a comprehension, sees no variables but global ones.
        here = self.outer if self.is_module else {**self.outer, **self.names}
        try:
            code = compile(text, "<tfdbg>", "eval")
        except SyntaxError:
            before = dict(here)
            value = _executed(text, here)
            own = (name for name in here if name not in before or here[name] is not before[name])
            assigned = tuple(name for name in own if not name.startswith("__"))
            if self.is_module:
                return Assigned(assigned, value)
            symbols = symtable.symtable(text, "<tfdbg>", "exec").get_symbols()
            of_module = {one.get_name() for one in symbols if one.is_declared_global()}
            self.outer.update((name, here[name]) for name in assigned if name in of_module)
            assigned = tuple(name for name in assigned if name not in of_module)
            self.names.update((name, here[name]) for name in assigned)
            return Assigned(assigned, value)
        return eval(code, here)


def _executed(text: str, here: dict[str, Any]) -> Any:
    """Execute the statements of `text` with the names `here`; what the last one is, if an expression."""
    tree = ast.parse(text, "<tfdbg>")
    last = tree.body[-1] if tree.body else None
    if not isinstance(last, ast.Expr):
        exec(compile(text, "<tfdbg>", "exec"), here)
        return None
    compile(text, "<tfdbg>", "exec")  # raises for what only shows there, before anything is done
    exec(compile(ast.Module(tree.body[:-1], []), "<tfdbg>", "exec"), here)
    return eval(compile(ast.Expression(last.value), "<tfdbg>", "eval"), here)
