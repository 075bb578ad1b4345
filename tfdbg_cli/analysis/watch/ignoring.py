"""The places that the watches of one debugger have left out so far."""

from __future__ import annotations

import threading
from collections.abc import Iterable

from tfdbg_cli.model.ignored import IgnoredPlace

_NAMED = 2


class Ignored:
    """A list that grows. Several threads may add to it."""

    def __init__(self, places: Iterable[IgnoredPlace] = ()) -> None:
        self._lock = threading.Lock()
        self._places = tuple(places)

    @property
    def places(self) -> tuple[IgnoredPlace, ...]:
        """All of them, in the order in which they were found."""
        return self._places

    @property
    def nodes(self) -> frozenset[tuple[str, str]]:
        """What is left out: nodes, each with the function that it is in."""
        return frozenset().union(*(place.keys for place in self._places))

    def add(self, places: Iterable[IgnoredPlace], *, by_line: bool = False) -> tuple[IgnoredPlace, ...]:
        """Add those of `places` with a node, or `by_line` with a line, that is not left out yet; give them back."""
        with self._lock:
            known, titles = self.nodes, {place.title for place in self._places}
            new = tuple(place for place in places if (place.title not in titles if by_line else place.keys - known))
            self._places += new
        return new

    @property
    def words(self) -> str:
        """`ignored 3 places: -inf made on purpose at x.py:12, NaN of which nothing comes at x.py:30, …`."""
        shown = list(dict.fromkeys(place.title for place in self._places))
        named = ", ".join([*shown[:_NAMED], *(["…"] if len(shown) > _NAMED else [])])
        return f"ignored {len(self._places)} place{'s' * (len(self._places) != 1)}: {named}"
