"""The name scopes of nodes as a tree whose levels are made when they are looked at."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate

from tfdbg_cli.model.whole_numbers import whole_number

_DIGITS = re.compile(r"(\d+)")
_BEHIND = chr(ord("/") + 1)  # what stands behind every name inside a scope


@dataclass(frozen=True, slots=True)
class Branch:
    """An entry of one level: a node called `name`, a scope, or both, if an op has helpers under its own name."""

    name: str
    is_node: bool
    is_scope: bool

    @property
    def last(self) -> str:
        """The part of the name that the level adds."""
        return self.name.rpartition("/")[2]


@dataclass(frozen=True, slots=True)
class TreeRow:
    """A row of a folded tree: how deep it stands, and whether its contents are shown (None: it is no scope)."""

    branch: Branch
    depth: int
    is_open: bool | None


class NameTree:
    """The tree of the node `names`; `indices(name)` gives the tensors of a node. The root is the empty scope name.

    Names are sorted once; a scope is then a range of them, found by bisection.
    """

    def __init__(self, names: Iterable[str], indices: Callable[[str], Sequence[int]]) -> None:
        self._names = sorted(set(names))
        self._indices = indices
        self._tensors = [0, *accumulate(len(indices(name)) for name in self._names)]
        self._levels: dict[str, tuple[Branch, ...]] = {}

    def children(self, scope: str) -> Sequence[Branch]:
        """What stands right below `scope`, numbers in names in their order."""
        if scope not in self._levels:
            self._levels[scope] = self._level(scope)
        return self._levels[scope]

    def rows(self, root: str, is_open: Callable[[str, bool], bool]) -> Iterator[TreeRow]:
        """The visible rows below `root`. `is_open(scope, at_first)` says whether a scope is unfolded.

        `at_first` is the default: a scope is unfolded if it, and each scope around it, is alone on its level.
        """
        waiting = [(iter(self.children(root)), len(self.children(root)) == 1)]
        while waiting:
            level, alone = waiting[-1]
            branch = next(level, None)
            if branch is None:
                waiting.pop()
                continue
            row = TreeRow(branch, len(waiting) - 1, is_open(branch.name, alone) if branch.is_scope else None)
            yield row
            if row.is_open:
                children = self.children(branch.name)
                waiting.append((iter(children), alone and len(children) == 1))

    def __contains__(self, scope: str) -> bool:
        """Whether names lie in `scope`."""
        first, end = self._inside(scope)
        return end > first

    def nodes(self, scope: str) -> int:
        """How many nodes lie in `scope`, including the node of that name, if there is one."""
        first, end = self._inside(scope)
        return end - first + self._is_name(scope)

    def tensors(self, scope: str) -> int:
        """How many tensors these nodes have."""
        first, end = self._inside(scope)
        return self._tensors[end] - self._tensors[first] + (len(self._indices(scope)) if self._is_name(scope) else 0)

    def indices(self, scope: str) -> list[int]:
        """The indices of the tensors of these nodes."""
        first, end = self._inside(scope)
        own = list(self._indices(scope)) if self._is_name(scope) else []
        return own + [index for name in self._names[first:end] for index in self._indices(name)]

    def _is_name(self, name: str) -> bool:
        at = bisect_left(self._names, name)
        return at < len(self._names) and self._names[at] == name

    def _inside(self, scope: str) -> tuple[int, int]:
        """The part of the sorted names that lies in `scope`."""
        if not scope:
            return 0, len(self._names)
        return bisect_left(self._names, f"{scope}/"), bisect_left(self._names, f"{scope}{_BEHIND}")

    def _level(self, scope: str) -> tuple[Branch, ...]:
        at, end = self._inside(scope)
        start = len(scope) + bool(scope)
        found: dict[str, Branch] = {}
        while at < end:
            part, slash, _ = self._names[at][start:].partition("/")
            name = f"{scope}/{part}" if scope else part
            known = found.get(name)
            found[name] = Branch(name, not slash or (known is not None and known.is_node), bool(slash))
            at = bisect_left(self._names, f"{name}{_BEHIND}", at, end) if slash else at + 1
        return tuple(sorted(found.values(), key=lambda branch: _natural(branch.last)))


def _natural(text: str) -> list[tuple[int, str]]:
    """A key by which layer_2 stands before layer_10."""
    parts = ((whole_number(part), part) for part in _DIGITS.split(text))
    return [(-1, part) if number is None else (number, "") for number, part in parts]
