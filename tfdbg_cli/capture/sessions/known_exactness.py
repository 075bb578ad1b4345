"""What is known of how exact watched runs of one kind are."""

from __future__ import annotations

from dataclasses import dataclass, field

from tfdbg_cli.model.exactness import Parting


@dataclass
class KnownExactness:
    """How exact the watched runs of one kind are, as far as it is known.

    `prepared` says that the plain run on copies was prepared, or is being. `proven` says that the graphs were
    compared; `other_ops` are the ops of the plain graph that the watched one computes otherwise. `differs` is where a
    watched run gave other numbers than a plain one: from then on no run of the kind is watched in place. `unlike`
    says why runs of the kind cannot be compared; empty if they can.
    """

    runs: int = 0
    prepared: bool = False
    proven: bool = False
    other_ops: tuple[str, ...] = ()
    differs: tuple[Parting, ...] = field(default=())
    unlike: str = ""

    def next_is_due(self) -> bool:
        """Whether the next run is to be made plainly, too: the runs 1, 2, 4, 8 and so on. Counts the runs."""
        self.runs += 1
        return self.runs & (self.runs - 1) == 0
