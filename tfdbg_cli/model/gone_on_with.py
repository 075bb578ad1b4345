"""What `set` gave a program at stops in eager code from which it has gone on: nothing takes that back any more."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from tfdbg_cli.model.names import TensorName
from tfdbg_cli.model.pausing import Replaceable
from tfdbg_cli.model.values import Array


@dataclass(frozen=True, slots=True)
class GivenThere:
    """That the tensor or variable `name` was given another value behind the op `node` of the run with that number.

    `held` is a fingerprint of what a variable was given; empty for a tensor.
    """

    name: TensorName
    is_variable: bool
    run: int
    node: str
    held: bytes = b""


class GoneOnWith:
    """Which tensors and variables were given another value at stops that are over, the last time of each."""

    def __init__(self) -> None:
        self._by_name: dict[TensorName, GivenThere] = {}

    def note(self, run: int, paused: Replaceable, fingerprint: Callable[[Array], bytes]) -> None:
        """Note that the program goes on from a stop in `run`, with what it was given behind the op `paused`."""
        given = [GivenThere(name, False, run, paused.node) for name in paused.pending]
        for name in paused.written:
            given.append(GivenThere(name, True, run, paused.node, fingerprint(paused.value(name))))
        for one in given:
            self._by_name.pop(one.name, None)
            self._by_name[one.name] = one

    def __iter__(self) -> Iterator[GivenThere]:
        return iter(tuple(self._by_name.values()))

    def __len__(self) -> int:
        return len(self._by_name)
