"""Places that a watch leaves out, since what is not finite there is meant so, or nothing comes of it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import PurePath

from tfdbg_cli.model.names import TensorName


@dataclass(frozen=True, slots=True)
class IgnoredPlace:
    """Where something not finite came up in run number `run` of `function` (empty for a session), and did no harm.

    `tensor` is the first one that held it, and `holds` tells what: "NaN", "-inf", "inf and NaN". `nodes` are left out
    from then on: those that held it too are among them. `why` says why it does no harm; `intended` whether it is
    meant. `file` and `line` are where the program made the node, if that is known.
    """

    run: int
    function: str
    tensor: TensorName
    op_type: str
    holds: str
    why: str
    intended: bool
    nodes: tuple[str, ...]
    file: str = ""
    line: int | None = None

    @property
    def keys(self) -> frozenset[tuple[str, str]]:
        """The nodes, each with the function that it is in."""
        return frozenset((self.function, node) for node in self.nodes)

    @property
    def title(self) -> str:
        """`-inf made on purpose at x.py:12`, or `NaN of which nothing comes at x.py:30`."""
        where = f"{PurePath(self.file).name}:{self.line}" if self.file else str(self.tensor)
        return f"{self.holds} {'made on purpose' if self.intended else 'of which nothing comes'} at {where}"
