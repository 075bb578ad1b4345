"""What `set` gave a program at stops in eager code from which it has gone on: nothing takes that back any more."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from tfdbg_cli.model.names import TensorName
from tfdbg_cli.model.pausing import Replaceable


@dataclass(frozen=True, slots=True)
class GivenThere:
    """That the tensor or variable `name` was given another value behind the op `node` of the run with that number."""

    name: TensorName
    is_variable: bool
    run: int
    node: str


class GoneOnWith:
    """Which tensors and variables were given another value at stops that are over, the last time of each."""

    def __init__(self) -> None:
        self._by_name: dict[TensorName, GivenThere] = {}

    def note(self, run: int, paused: Replaceable) -> None:
        """Note that the program goes on from a stop in `run`, with what it was given behind the op `paused`."""
        for names, are_variables in ((paused.pending, False), (paused.written, True)):
            for name in names:
                self._by_name.pop(name, None)
                self._by_name[name] = GivenThere(name, are_variables, run, paused.node)

    def __iter__(self) -> Iterator[GivenThere]:
        return iter(tuple(self._by_name.values()))

    def __len__(self) -> int:
        return len(self._by_name)
