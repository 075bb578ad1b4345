"""The front end of a debugger, made when it is first needed; a fault of it does not end the program."""

from __future__ import annotations

from collections.abc import Callable

from tfdbg_cli.capture.failures import report
from tfdbg_cli.config.settings import Settings
from tfdbg_cli.debugger.frontend import Frontend
from tfdbg_cli.debugger.prompt_threads import terminal
from tfdbg_cli.model.decision import Decision, Detach, Resume
from tfdbg_cli.model.runs import Stop


class LateFrontend:
    """What `make` gives, made at the first stop or message (`Frontend`). Until then `settings` hold."""

    def __init__(self, make: Callable[[], Frontend], settings: Settings) -> None:
        self._make = make
        self._settings = settings
        self._made: Frontend | None = None

    @property
    def settings(self) -> Settings:
        return self._settings if self._made is None else self._made.settings

    @property
    def failures(self) -> int:
        return 0 if self._made is None else self._made.failures

    @property
    def broken(self) -> bool:
        return self._made is not None and self._made.broken

    def stop(self, event: Stop) -> Decision | Resume:
        """Open the prompt on `event`, as soon as no other thread is at one; `Detach` if the front end fails."""
        with terminal():
            try:
                return self._front().stop(event)
            except Exception as error:  # noqa: BLE001  # a fault of the screen must not end the program
                report("open the prompt", error)
                return Detach()

    def notify(self, message: str) -> None:
        self._front().notify(message)

    def _front(self) -> Frontend:
        if self._made is None:
            self._made = self._make()
        return self._made
