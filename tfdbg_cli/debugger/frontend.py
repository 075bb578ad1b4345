"""The seam between the debugger and its front ends."""

from __future__ import annotations

from typing import Protocol

from tfdbg_cli.config.settings import Settings
from tfdbg_cli.model.decision import Outcome
from tfdbg_cli.model.runs import Stop


class Frontend(Protocol):
    """Shows a stop to a user and brings back what they decided."""

    @property
    def settings(self) -> Settings:
        """The settings that hold now: `config set` at a prompt changes them."""
        ...

    @property
    def failures(self) -> int:
        """How many commands did not work without a user to mend them."""
        ...

    @property
    def broken(self) -> bool:
        """Whether nobody reads the output any more."""
        ...

    def stop(self, event: Stop) -> Outcome:
        """Open the prompt on `event` until there is a decision. Restores the terminal on every way out."""
        ...

    def notify(self, message: str) -> None:
        """Say one sentence outside of a stop (a filter that raised, a budget reached)."""
        ...
