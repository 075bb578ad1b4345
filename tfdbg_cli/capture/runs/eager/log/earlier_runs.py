"""What earlier runs tell of a tensor that comes into a run from outside.

Which of them computed it, as the state of a loop's last turn; and whether the last turn of the same loop was given
it, too, while other data came anew.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable, Iterator, Mapping, Set
from dataclasses import dataclass, field

from tfdbg_cli.model.tensors import Shape
from tfdbg_cli.model.values import Array

_MOST_TENSORS = 100_000  # whose ids are known: 6 MB
_MOST_LENGTHS = 100  # of batches that are remembered of each loop
_MOST_LOOPS = 1_000
_COMPARED = 16  # elements of a matrix by which it is told from that of the turn before


@dataclass
class _LoopGiven:
    """What the last turn of a loop was given: the ids of tensors, and by ids how matrices of floats begin.

    `anew` are the numbers of rows of such matrices that came in some turn and not in the one before.
    """

    ids: Set[int]
    begins: Mapping[int, tuple[Shape, bytes]]
    anew: set[int] = field(default_factory=set)


class EarlierRuns:
    """Knows the ids of the tensors that ops of the latest runs gave; of older runs it forgets them."""

    def __init__(self) -> None:
        self._runs: deque[tuple[int, Set[int]]] = deque()
        self._known = 0
        self._loops: dict[Hashable, _LoopGiven] = {}

    def given_before(self, loop: Hashable) -> Set[int]:
        """The ids of the tensors that the last turn of `loop` was given."""
        known = self._loops.get(loop)
        return frozenset() if known is None else known.ids

    def note_turn(self, loop: Hashable, given: Set[int], arrays: Mapping[int, Array]) -> None:
        """Note that a turn of `loop`, which is over, was `given` tensors with these ids from outside.

        `arrays` has at least those that the turn before was not given.
        """
        before = self._loops.pop(loop, _LoopGiven(frozenset(), {}))
        anew = before.anew | set(self._anew(before, arrays)) if before.ids else set()
        begins = {key: begin for key, begin in before.begins.items() if key in given}
        begins.update((key, _begin(array)) for key, array in arrays.items() if _is_matrix(array))
        self._loops[loop] = _LoopGiven(given, begins, anew if len(anew) < _MOST_LENGTHS else set())
        while len(self._loops) > _MOST_LOOPS:
            del self._loops[next(iter(self._loops))]

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

    def unchanged(self, loop: Hashable, names: Mapping[str, int], given: Mapping[int, Array]) -> tuple[str, ...]:
        """Those of `names` that the turn of the `loop` before was given, too, while data of other lengths came anew.

        `names` have the ids of what this turn is `given`, or some of it. Empty where nothing came anew: all data may
        be used in each turn.
        """
        known = self._loops.get(loop)
        if known is None:
            return ()
        anew = known.anew | set(self._anew(known, given))
        lengths = {key: len(array) for key, array in given.items() if key in known.ids and array.ndim}
        shared = ((name, lengths[key]) for name, key in names.items() if key in lengths)
        return tuple(name for name, length in shared if anew and length > 1 and length not in anew)

    def _anew(self, before: _LoopGiven, given: Mapping[int, Array]) -> Iterator[int]:
        """The numbers of rows, new ones, of matrices among `given` that the turn `before` had not, nor a run gave."""
        for key, array in given.items():
            if key in before.ids or not _is_matrix(array) or len(array) in before.anew:
                continue
            if _begin(array) not in before.begins.values() and not any(key in computed for _, computed in self._runs):
                yield len(array)


def _is_matrix(array: Array) -> bool:
    """Whether it may be a batch that comes anew: floats in several rows."""
    return array.ndim > 1 and len(array) > 1 and array.dtype.kind == "f"


def _begin(array: Array) -> tuple[Shape, bytes]:
    return array.shape, array.reshape(-1)[:_COMPARED].tobytes()
