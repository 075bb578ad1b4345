"""The Python call stack of a program that is stopped in the middle of a run, with the variables of each call."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tfdbg_cli.model.sources import Frame


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

    def evaluate(self, text: str) -> Any:
        """Evaluate the Python expression, or execute the statement, `text` in this frame; None for a statement.

        Names that it assigns are discarded afterwards. Raises SyntaxError, and whatever `text` raises.
        """
        here = dict(self.names)
        try:
            code = compile(text, "<tfdbg>", "eval")
        except SyntaxError:
            exec(compile(text, "<tfdbg>", "exec"), self.outer, here)
            return None
        return eval(code, self.outer, here)
