"""What is searched in, be it a document or an array."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol


class Seeker(Protocol):
    """One search: `notice` is what it has to say, `failed` whether that is bad news."""

    notice: str
    failed: bool

    @property
    def active(self) -> bool:
        """Whether there is a search to go on with."""
        ...

    @property
    def text(self) -> str:
        """What is looked for."""
        ...

    @property
    def running(self) -> bool:
        """Whether something is left to look at."""
        ...

    def begin(self) -> None:
        """Remember where the user is, to come back on `cancel`."""
        ...

    def look_for(self, text: str) -> None:
        """Search for `text` from where the user began, and go to the first match.

        Raises:
            TfdbgError: nothing can be looked for by this text.

        """
        ...

    def cancel(self) -> None:
        """Forget the search and go back to where it began."""
        ...

    def stop(self) -> None:
        """Forget the search; stay here."""
        ...

    def halt(self) -> None:
        """Look no further, but keep what was found."""
        ...

    def next(self) -> None:
        """Go to the next match, round the end if need be."""
        ...

    def previous(self) -> None:
        """Go to the match before, round the top if need be."""
        ...

    def work(self, lines: int, enough: Callable[[], bool]) -> None:
        """Look on, at so much at most and until it is `enough`."""
        ...
