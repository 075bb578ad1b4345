"""The part of a run's graph that is computed from given tensors, and which nodes of it keep their values."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from enum import Enum, auto
from typing import Generic, Protocol, TypeVar


class HasName(Protocol):
    """A node of a graph: all that is asked of it here is its name."""

    @property
    def name(self) -> str: ...


Node = TypeVar("Node", bound=HasName)
Key = TypeVar("Key")  # what a tensor is known by


class Kept(Enum):
    """Why what depends on a replaced tensor is not computed again."""

    WRITES = auto()  # the node changes variables
    DRAWN = auto()  # the node draws, and would draw something else now
    ASKED = auto()  # the node calls a Python function, which is not called a second time
    LOOKED_UP = auto()  # the node looks something up in a table, of which nothing is held
    LATE = auto()  # the node reads a variable after its update in the run


@dataclass(frozen=True)
class Slice(Generic[Node]):
    """What depends on replaced tensors: nodes to compute `again`, by name, in order, and those `kept`, with why."""

    again: Mapping[str, Node]
    kept: Mapping[str, Kept]

    def names(self, why: Kept) -> list[str]:
        """The nodes that are kept for the reason `why`."""
        return names_kept(self.kept, why)


def names_kept(kept: Mapping[str, Kept], why: Kept) -> list[str]:
    """Those of the nodes `kept` that are so for the reason `why`."""
    return [name for name, reason in kept.items() if reason is why]


class RunEdges(ABC, Generic[Node, Key]):
    """Who reads what in the graph of one run, and who changes which variable, of the nodes that the run needed."""

    @property
    @abstractmethod
    def nodes(self) -> Mapping[str, Node]:
        """The nodes by name, in the order in which they are to be shown."""

    @abstractmethod
    def readers(self, tensor: Key) -> Iterable[Node]:
        """The nodes that read `tensor`."""

    @abstractmethod
    def outputs(self, node: Node) -> Iterable[Key]:
        """The tensors that `node` gives."""

    @abstractmethod
    def writers_beside(self, node: Node) -> Collection[str]:
        """The names of nodes other than `node` that change a variable whose handle `node` reads."""

    @abstractmethod
    def before(self, node: Node) -> Iterable[str]:
        """The names of the nodes that certainly ran before `node`."""

    @abstractmethod
    def why_kept(self, node: Node) -> Kept | None:
        """Why `node` is not computed again with other inputs; None when it is.

        Raises:
            TfdbgError: it cannot be, and what depends on it cannot be left as it was.

        """

    def is_late(self, node: Node) -> bool:
        """Whether `node` sees a variable after the run has changed it."""
        writers = self.writers_beside(node)
        return bool(writers) and any(name in writers for name in self.before(node))

    def after(self, starts: Iterable[Key]) -> Slice[Node]:
        """What is computed from the tensors `starts`.

        Raises:
            TfdbgError: it reaches into a loop or a branch of which no part can be computed alone.

        """
        fixed = set(starts)
        again: set[str] = set()
        kept: dict[str, Kept] = {}
        waiting = list(fixed)
        while waiting:
            for node in self.readers(waiting.pop()):
                name = node.name
                if name in again or name in kept:
                    continue
                why = self.why_kept(node)
                if why is not None:
                    kept[name] = why
                    continue
                again.add(name)
                waiting.extend(tensor for tensor in self.outputs(node) if tensor not in fixed)
        return Slice({name: node for name, node in self.nodes.items() if name in again}, kept)
