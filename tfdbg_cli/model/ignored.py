"""Places that a watch ignores: NaN and infinities there are intended, harmless, or accepted by the user."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import PurePath
from typing import overload

from tfdbg_cli.model.names import TensorName
from tfdbg_cli.model.units import count_text

_NAMED = 2


class IgnoredBy(StrEnum):
    """Who says that a place counts as fine: a watch that found it harmless, or the user, and what they named."""

    WATCH = "watch"
    NODE = "node"
    LAYER = "layer"
    CAUSE = "cause"


@dataclass(frozen=True, slots=True)
class IgnoredPlace:
    """A place whose NaN or infinities count as fine, first seen in run number `run` of `function` ("" for a session).

    `tensor` is the first tensor that held them; `holds` says what: "NaN", "-inf", "inf and NaN", or "" if nothing had
    been computed yet. `nodes` are ignored from then on; they include all others that held them. `why` says why they
    are harmless, `intended` that the program means them. `file` and `line` are where the node was created, if known.
    Of a place that the user ignores, `name` is what they typed (for a cause, its rule), `named` are the nodes that it
    means, `held` those that were bad because of these at the time; a node that only later makes NaN of such an
    infinity is not covered. `spoiled` are variables written with the values: in later runs they count as fine, too.
    What comes out of the run is finite, but if `used` it depends on an infinity here, as what tanh makes of one does.
    """

    run: int
    function: str
    tensor: TensorName
    op_type: str
    holds: str
    why: str
    intended: bool
    nodes: tuple[str, ...]
    file: str = ""
    line: int | None = None
    by: IgnoredBy = IgnoredBy.WATCH
    name: str = ""
    named: tuple[str, ...] = ()
    held: tuple[str, ...] = ()
    spoiled: tuple[str, ...] = ()
    used: bool = False

    @property
    def by_hand(self) -> bool:
        """Whether the user said so, and not a watch."""
        return self.by is not IgnoredBy.WATCH

    @property
    def keys(self) -> frozenset[tuple[str, str]]:
        """The nodes, each with the function that it is in."""
        return frozenset((self.function, node) for node in self.nodes)

    @property
    def title(self) -> str:
        """`-inf made on purpose at x.py:12`, `NaN of which nothing comes at x.py:30`, or `the node log`."""
        if self.by is IgnoredBy.CAUSE:
            return f"the cause ({self.why.removesuffix('.')})"
        if self.by_hand:
            return f"the {self.by} {self.name}"
        where = f"{PurePath(self.file).name}:{self.line}" if self.file else str(self.tensor)
        harmless = "that leaves results and variables finite" if self.used else "of which nothing comes"
        return f"{self.holds} {'made on purpose' if self.intended else harmless} at {where}"


class Ignored(Sequence[IgnoredPlace]):
    """The ignored places in the order in which they were added; each keeps its number, counted from 1.

    Thread-safe: watches add places from several threads, and the user adds and withdraws them at a stop.
    """

    def __init__(self, places: Iterable[IgnoredPlace] = ()) -> None:
        self._lock = threading.Lock()
        self._numbered: dict[int, IgnoredPlace] = dict(enumerate(places, 1))
        self._last = len(self._numbered)

    @overload
    def __getitem__(self, at: int) -> IgnoredPlace: ...

    @overload
    def __getitem__(self, at: slice) -> Sequence[IgnoredPlace]: ...

    def __getitem__(self, at: int | slice) -> IgnoredPlace | Sequence[IgnoredPlace]:
        return self.places[at]

    def __len__(self) -> int:
        return len(self._numbered)

    @property
    def places(self) -> tuple[IgnoredPlace, ...]:
        """All of them, in the order in which they came."""
        return tuple(self._numbered.values())

    @property
    def numbered(self) -> tuple[tuple[int, IgnoredPlace], ...]:
        """All of them, each with its number."""
        return tuple(self._numbered.items())

    @property
    def by_hand(self) -> tuple[IgnoredPlace, ...]:
        """The places that the user ignores by hand, not those that a watch found harmless."""
        return tuple(place for place in self.places if place.by_hand)

    @property
    def nodes(self) -> frozenset[tuple[str, str]]:
        """What is left out: nodes, each with the function that it is in."""
        return frozenset[tuple[str, str]]().union(*(place.keys for place in self.places))

    def add(self, places: Iterable[IgnoredPlace], *, by_line: bool = False) -> tuple[IgnoredPlace, ...]:
        """Add those of `places` that have a node (or `by_line`, a title) not covered yet; return the ones added."""
        with self._lock:
            known, titles = self.nodes, {place.title for place in self.places}
            new = tuple(place for place in places if (place.title not in titles if by_line else place.keys - known))
            for place in new:
                self._put(place)
        return new

    def say(self, place: IgnoredPlace) -> int:
        """Add a place that the user ignores, or replace the one they named likewise before; return its number."""
        with self._lock:
            for number, known in self._numbered.items():
                if (known.by, known.name, known.function) == (place.by, place.name, place.function):
                    self._numbered[number] = replace(
                        known,
                        nodes=tuple(dict.fromkeys((*known.nodes, *place.nodes))),
                        named=tuple(dict.fromkeys((*known.named, *place.named))),
                        held=tuple(dict.fromkeys((*known.held, *place.held))),
                        spoiled=tuple(dict.fromkeys((*known.spoiled, *place.spoiled))),
                    )
                    return number
            return self._put(place)

    def adopt(self, places: Iterable[IgnoredPlace]) -> None:
        """Add `places`, which came with a recording."""
        for place in places:
            if place.by_hand:
                self.say(place)
            else:
                self.add([place])

    def withdraw(self, number: int) -> IgnoredPlace | None:
        """Remove the place with that number and return it; None if there is none."""
        with self._lock:
            return self._numbered.pop(number, None)

    def _put(self, place: IgnoredPlace) -> int:
        self._last += 1
        self._numbered[self._last] = place
        return self._last

    def __iter__(self) -> Iterator[IgnoredPlace]:
        return iter(self.places)

    @property
    def words(self) -> str:
        """`ignored 3 places: -inf made on purpose at x.py:12, NaN of which nothing comes at x.py:30, …`."""
        shown = list(dict.fromkeys(place.title for place in self.places))
        named = ", ".join([*shown[:_NAMED], *(["…"] if len(shown) > _NAMED else [])])
        return f"ignored {count_text(len(self), 'place')}: {named}"
