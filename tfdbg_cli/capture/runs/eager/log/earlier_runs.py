"""Which earlier run computed a tensor that comes into a run from outside, as the state of a loop's last turn does."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Set

_MOST_TENSORS = 100_000  # whose ids are known: 6 MB


class EarlierRuns:
    """Knows the ids of the tensors that ops of the latest runs gave; of older runs it forgets them."""

    def __init__(self) -> None:
        self._runs: deque[tuple[int, Set[int]]] = deque()
        self._known = 0

    def note(self, number: int, computed: Set[int]) -> None:
        """Note that ops of the run with this number, which is over, gave the tensors with the ids `computed`."""
        self._runs.append((number, computed))
        self._known += len(computed)
        while self._known > _MOST_TENSORS and len(self._runs) > 1:
            self._known -= len(self._runs.popleft()[1])

    def behind(self, given: Mapping[str, int]) -> dict[str, int]:
        """Of what is `given`, ids by names, that which such a run computed: by its name the number of that run."""
        found = {}
        for name, key in given.items():
            number = next((number for number, computed in reversed(self._runs) if key in computed), None)
            if number is not None:
                found[name] = number
        return found
