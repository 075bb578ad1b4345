"""The state of a run, held as capture holds it: enough to write a bundle, and to undo the run."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.model.calls import RunKind
from tfdbg_cli.model.replay import InputRole, ReplayInput, ReplaySpec


@dataclass
class Held:
    """A run whose state is held."""

    lacks: tuple[str, ...] = ()
    obstacle: str = ""
    undone: list[int] = field(default_factory=list)

    def replay_spec(self) -> ReplaySpec:
        if self.obstacle:
            raise TfdbgError(self.obstacle, hint="Take an array.")
        inputs = (ReplayInput("x", InputRole.GIVEN, "float32", np.ones(3, np.float32)),)
        return ReplaySpec(RunKind.FUNCTION, b"graph", "step", inputs=inputs, limits=("A file was read.",))

    def undo(self) -> tuple[str, ...]:
        self.undone.append(1)
        return self.lacks
