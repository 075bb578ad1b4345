"""Places that a watch leaves out: what is not finite there is meant so, does no harm, or counts as fine by word."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import PurePath
from typing import overload

from tfdbg_cli.model.names import TensorName

_NAMED = 2


class IgnoredBy(StrEnum):
    """Who says that a place counts as fine: a watch that found it harmless, or the person, and what they named."""

    WATCH = "watch"
    NODE = "node"
    LAYER = "layer"
    CAUSE = "cause"


@dataclass(frozen=True, slots=True)
class IgnoredPlace:
    """Where something not finite came up in run number `run` of `function` (empty for a session), and counts as fine.

    `tensor` is the first one that held it, and `holds` tells what: "NaN", "-inf", "inf and NaN"; empty where nothing
    was computed yet. `nodes` are left out from then on: those that held it too are among them. `why` says why it does
    no harm; `intended` whether it is meant. `file` and `line` are where the program made the node, if that is known.
    What the person ignores has a `name`, as they said it (of a cause its rule); `named` are the nodes that it means,
    `held` those that were bad because of it then. What makes NaN of an infinity later is not among them, and no part
    of what they said. `spoiled` are the variables that were written with it: in later runs they follow from it.
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

    @property
    def by_hand(self) -> bool:
        """Whether the person said so, and not a watch."""
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
        return f"{self.holds} {'made on purpose' if self.intended else 'of which nothing comes'} at {where}"


class Ignored(Sequence[IgnoredPlace]):
    """The places that count as fine, each with a number from 1 on that stays its own.

    Watches add to it, in several threads, and so does the person at a stop, who may take a place out again.
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
        """Those that the person ignores."""
        return tuple(place for place in self.places if place.by_hand)

    @property
    def nodes(self) -> frozenset[tuple[str, str]]:
        """What is left out: nodes, each with the function that it is in."""
        return frozenset[tuple[str, str]]().union(*(place.keys for place in self.places))

    def add(self, places: Iterable[IgnoredPlace], *, by_line: bool = False) -> tuple[IgnoredPlace, ...]:
        """Add those of `places` with a node, or `by_line` with a line, that is not left out yet; give them back."""
        with self._lock:
            known, titles = self.nodes, {place.title for place in self.places}
            new = tuple(place for place in places if (place.title not in titles if by_line else place.keys - known))
            for place in new:
                self._put(place)
        return new

    def say(self, place: IgnoredPlace) -> int:
        """Add what the person ignores, or put it in the place of what they said so before; its number."""
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
        """Let the place with that number count again; None if there is none."""
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
        return f"ignored {len(self)} place{'s' * (len(self) != 1)}: {named}"
