"""The Python that is running at a stop in the middle of a program: its calls, with the variables of each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tfdbg_cli.model.sources import Frame


@dataclass(frozen=True, eq=False)
class LiveFrame:
    """A call that is running: its place, and its names as they are at this moment.

    `outer` are the frame's own globals, and so are the `names` of a module; those of a function are a copy.
    """

    place: Frame
    names: dict[str, Any]
    outer: dict[str, Any]

    def let_go(self) -> None:
        """Forget the names of a function that goes on: what it drops is to die."""
        if self.names is not self.outer:
            self.names.clear()

    def evaluate(self, text: str) -> Any:
        """What the Python expression or statement `text` gives in this frame; None of a statement.

        Raises whatever it raises.
        """
        here = dict(self.names)
        try:
            code = compile(text, "<tfdbg>", "eval")
        except SyntaxError:
            exec(compile(text, "<tfdbg>", "exec"), self.outer, here)
            return None
        return eval(code, self.outer, here)
