"""What would have come out, had a tensor had another value: the seam between the prompt and capture."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from tfdbg_cli.model.names import TensorName
from tfdbg_cli.model.values import Array

if TYPE_CHECKING:
    from tfdbg_cli.model.runs import Run


@dataclass(frozen=True)
class Change:
    """What sets a run apart from `base`, the run of the program: the tensors that were replaced.

    `recomputed` counts the tensors that were computed again.
    """

    base: Run
    replaced: tuple[TensorName, ...]
    recomputed: int

    @property
    def title(self) -> str:
        """`what if: loss/Log:0 replaced`."""
        names = ", ".join(map(str, self.replaced[:2]))
        more = f" and {len(self.replaced) - 2} more" if len(self.replaced) > 2 else ""
        return f"what if: {names}{more} replaced"


class WhatIf(Protocol):
    """The means to compute a part of a run again, away from the program's state."""

    def require_replaceable(self, run: Run, name: TensorName) -> None:
        """Refuse a tensor of `run` that cannot be given another value.

        Raises:
            TfdbgError: it cannot; the message says why.

        """
        ...

    def again(self, run: Run, replaced: Mapping[TensorName, Array]) -> Run:
        """`run` with the values `replaced`, and everything that is computed from them computed again.

        Variables, random numbers and batches are those of the run; nothing is written anywhere. `Run.change` of the
        answer says what was done, its notes what was not.

        Raises:
            TfdbgError: it cannot be computed; the message names the tensor in the way.

        """
        ...
