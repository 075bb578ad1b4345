"""The interface of those who take every finished run that they want without stopping: recordings, rules, norms."""

from __future__ import annotations

from typing import Protocol

from tfdbg_cli.analysis.layers.node_selection import NodeSelection
from tfdbg_cli.model.runs import Run


class RunTaker(Protocol):
    """Says which runs it wants, and takes them when they have ended. Used by every thread that makes runs."""

    @property
    def on(self) -> bool:
        """Whether it wants runs at all."""
        ...

    @property
    def statistics(self) -> NodeSelection | None:
        """Where it wants statistics alone, the nodes of which it wants values nevertheless; else None."""
        ...

    @property
    def takes_some(self) -> bool:
        """Whether it takes some runs and leaves others between them."""
        ...

    @property
    def unattended(self) -> bool:
        """Whether nobody asked for a prompt, so that an error of a run is reported to it instead."""
        ...

    def wants(self, kind: object) -> bool:
        """Count a run that begins now, separately for each `kind`; whether it is to be captured."""
        ...

    def take(self, run: Run) -> None:
        """Take in a run. Never raises."""
        ...

    def failed(self, run: Run) -> None:
        """Report that `run`, at which nothing stops, raised an error."""
        ...

    def missed(self, sentence: str) -> None:
        """Report why a run was not captured."""
        ...
