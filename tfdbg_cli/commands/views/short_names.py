"""Long names made readable: the path of the calls that most of them share is written once and elided behind it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tfdbg_cli.analysis.graph.nodes.call_scopes import call_scopes
from tfdbg_cli.commands.asked.name_endings import ELIDED
from tfdbg_cli.document.text import Line, Span, Style, line
from tfdbg_cli.model.graph import Graph

_LEAST_SAVED = 8  # columns; a shorter prefix may as well be read
_SAMPLED = 200  # names looked at


@dataclass(frozen=True, slots=True)
class ShortNames:
    """Names without `prefix`, the calls around them such as `StatefulPartitionedCall/`; with none as they are."""

    prefix: str = ""

    def short(self, name: str) -> str:
        """`…/dense/MatMul:0` for a name that begins with the prefix; any other name unchanged."""
        return ELIDED + name[len(self.prefix) :] if self.prefix and name.startswith(self.prefix) else name

    def legend(self) -> list[Line]:
        """What the sign stands for; nothing where no name is shortened."""
        return [line(Span(f"{ELIDED} is {self.prefix}", Style.DIM))] if self.prefix else []


AS_THEY_ARE = ShortNames()


def shared_by_most(graph: Graph, count: int, name: Callable[[int], str]) -> ShortNames:
    """The prefix that shortens a list of `count` nodes most: the innermost call around three in four of them."""
    counts: Counter[str] = Counter()
    scopes = call_scopes(graph)
    places = range(0, count if scopes else 0, max(1, count // _SAMPLED))
    for place in places:
        counts.update(scopes.around(name(place)))
    common = [call for call, number in counts.items() if 4 * number >= 3 * len(places) > 3]
    return _of(max(common, key=len, default=""))


def around(graph: Graph, name: str) -> ShortNames:
    """The calls around the node `name`: what stands beside it in its function is named without them."""
    return _of(next(call_scopes(graph).around(name), ""))


def _of(call: str) -> ShortNames:
    return ShortNames(f"{call}/") if len(call) + 1 >= _LEAST_SAVED else ShortNames()


def shortest_ends(names: Sequence[str]) -> list[str]:
    """The last parts of each name, as few as tell it from the others: `…/mul:0`, `…/a/x:0`, `…/b/x:0`."""
    parts = [name.split("/") for name in names]
    counts = [1] * len(names)

    def end(i: int) -> tuple[str, ...]:
        return tuple(parts[i][-counts[i] :])

    for i, name in enumerate(names):
        while counts[i] < len(parts[i]) and any(end(i) == end(j) for j, other in enumerate(names) if other != name):
            for j in range(len(names)):
                if j != i and end(j) == end(i):
                    counts[j] = min(counts[j] + 1, len(parts[j]))
            counts[i] += 1
    shown = [ELIDED + "/".join(end(i)) for i in range(len(names))]
    return [
        short if len(name) - len(short) >= _LEAST_SAVED else name for name, short in zip(names, shown, strict=True)
    ]
