"""Which execution of its node each of a call's values is: the same in each call of a function without loops."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import count
from operator import is_

from tfdbg_cli.capture.functions.definition.shown_values import Shown
from tfdbg_cli.model.dtypes import element_type
from tfdbg_cli.model.names import TensorName


class ValueExecutions:
    """Which execution of its node each of the values `shown` is, and where those of a node are."""

    def __init__(self, shown: Sequence[Shown]) -> None:
        self.shown = shown
        self.numbers: list[int] = []
        counts: defaultdict[TensorName, Iterator[int]] = defaultdict(count)  # to hash a name takes the longest here
        for one in shown:
            self.numbers.append(next(counts[one.name]))

    @cached_property
    def repeated(self) -> bool:
        """Whether some node was executed more than once."""
        return any(self.numbers)

    @cached_property
    def by_node(self) -> dict[str, list[int]]:
        """The places of the values of each node."""
        found: dict[str, list[int]] = {}
        for index, one in enumerate(self.shown):
            found.setdefault(one.name.node, []).append(index)
        return found

    @cached_property
    def nodes(self) -> Sequence[str]:
        """The nodes that have values, each once, in order of first execution."""
        return tuple(self.by_node)

    @cached_property
    def itemsizes(self) -> list[int]:
        """The bytes of an element of each value; 0 where that is not fixed, as of texts."""
        return [element_type(one.dtype).itemsize or 0 for one in self.shown]


_KNOWN: deque[ValueExecutions] = deque(maxlen=4)  # a function without loops shows the same tensors in each call
_WORTH = 100_000  # values: of more it is not kept


def executions_of(shown: Sequence[Shown]) -> ValueExecutions:
    """The executions of `shown`, found anew where none of the last calls had the same values."""
    for known in tuple(_KNOWN):
        if known.shown is shown or (len(known.shown) == len(shown) and all(map(is_, known.shown, shown))):
            return known
    made = ValueExecutions(shown)
    if len(shown) <= _WORTH:
        _KNOWN.append(made)
    return made
