"""The names of a graph, sorted once and kept as long as the graph, so that completion is instant on big ones."""

from __future__ import annotations

import bisect
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from weakref import ref

from tfdbg_cli.analysis.layers.layers import layers_of
from tfdbg_cli.model.graph import Graph, once_per_graph
from tfdbg_cli.model.sources import Traceback, is_library
from tfdbg_cli.model.tensors import TensorStore

_LAST = chr(0x10FFFF)  # sorts after every character of a name


@dataclass(frozen=True, slots=True)
class NameMatches:
    """Names that fit what was typed, in order; `common` is what all `total` of them begin with."""

    names: Sequence[str] = field(default_factory=list)
    common: str = ""
    total: int = 0

    @classmethod
    def of(cls, names: Sequence[str]) -> NameMatches:
        """A match of all of `names`."""
        return cls(names, common_prefix(names), len(names))

    @classmethod
    def holding(cls, names: Sequence[str], word: str) -> NameMatches:
        """A match of all of `names`, of which some may only hold `word`, in any case of letters."""
        # The part in common replaces what was typed: that must never be lost by it.
        common = common_prefix(names)
        return cls(names, common if word.lower() in common.lower() else word, len(names))


def common_prefix(texts: Sequence[str]) -> str:
    """What all `texts` begin with."""
    if not texts:
        return ""
    first, last = min(texts), max(texts)
    same = next((i for i, (a, b) in enumerate(zip(first, last, strict=False)) if a != b), len(first))
    return first[:same]


class SortedNames:
    """Names in alphabetical order."""

    def __init__(self, names: Iterable[str]) -> None:
        self._names = sorted(names)

    def matching(self, word: str) -> NameMatches:
        """The names that begin with `word`; when none does, those that hold it, in any case of letters."""
        low = bisect.bisect_left(self._names, word)
        high = bisect.bisect_right(self._names, word + _LAST)
        return NameMatches.of(self._names[low:high]) if high > low else _holding(word, self._names)


def matching(word: str, names: Sequence[str]) -> NameMatches:
    """As `SortedNames.matching`, for few names, in the order they come in."""
    found = [name for name in names if name.startswith(word)]
    return NameMatches.of(found) if found else _holding(word, names)


def _holding(word: str, names: Sequence[str]) -> NameMatches:
    lowered = word.lower()
    found = [name for name in names if lowered in name.lower()]
    return NameMatches.holding(found, word)


class Vocabulary:
    """The names of one graph and of what was made from it, each list made on first use."""

    def __init__(self, graph: Graph) -> None:
        self._graph = ref(graph)
        self._sources: list[str] | None = None
        self._tensors: tuple[ref[TensorStore], SortedNames] | None = None

    @cached_property
    def nodes(self) -> SortedNames:
        """Node names."""
        return SortedNames(self._nodes())

    @cached_property
    def op_types(self) -> list[str]:
        """Op types, sorted."""
        graph = self._graph()
        return sorted(graph.distinct_op_types()) if graph is not None else []

    @cached_property
    def layers(self) -> list[str]:
        """Names of layers and scopes, sorted, and behind them the paths of those that stand inside others."""
        graph = self._graph()
        paths = layers_of(graph).names if graph is not None else []
        alone = sorted({path.rpartition("/")[2] for path in paths})
        return alone + [path for path in paths if "/" in path]

    def sources(self, tracebacks: Mapping[str, Traceback]) -> list[str]:
        """Files that created nodes, the user's own before those of libraries."""
        if self._sources is None:
            files = {frame.file for name in tracebacks for frame in tracebacks[name]}
            self._sources = sorted(files, key=lambda file: (is_library(file), file))
        return self._sources

    def tensors(self, store: TensorStore) -> SortedNames:
        """Names of the nodes of which `store` holds a tensor."""
        if self._tensors is None or self._tensors[0]() is not store:
            self._tensors = (ref(store), SortedNames(store.nodes()))
        return self._tensors[1]

    def _nodes(self) -> Iterable[str]:
        graph = self._graph()
        return graph.names() if graph is not None else ()


@once_per_graph
def vocabulary_of(graph: Graph) -> Vocabulary:
    """The vocabulary of `graph`, the same one each time."""
    return Vocabulary(graph)
