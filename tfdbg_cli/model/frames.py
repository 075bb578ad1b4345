"""The Python that is running at a stop in the middle of a program: its calls, with the variables of each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tfdbg_cli.model.sources import Frame


@dataclass(frozen=True, eq=False)
class LiveFrame:
    """A call that is running: its place, and its names as they are at this moment.

    `names` and `outer` are the frame's own locals and globals, not copies.
    """

    place: Frame
    names: Mapping[str, Any]
    outer: dict[str, Any]

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
