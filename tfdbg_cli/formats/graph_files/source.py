"""What a meta graph is made of, in whichever form a file has it, binary or text."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Protocol

from tfdbg_cli.formats.graph_files.mended import Damages
from tfdbg_cli.model.graph import Graph


class GraphSource(Protocol):
    """A graph in a file, and the functions that it can call."""

    def graph(self, damages: Damages) -> Graph:
        """The graph, without what cannot be read."""
        ...

    def functions(self, damages: Damages) -> Mapping[str, Callable[[], Any]]:
        """What parses each FunctionDef, by its name; that raises a ValueError where it cannot be parsed."""
        ...


class MetaSource(Protocol):
    """A MetaGraphDef in a file. What cannot be read is an empty message, and told among the damages."""

    def graph_source(self, damages: Damages) -> GraphSource:
        """Its graph."""
        ...

    def message(self, field: str, message: str, damages: Damages) -> Any:
        """The message in one of its fields."""
        ...

    def signatures(self, damages: Damages) -> Mapping[str, Any]:
        """Its SignatureDefs by name."""
        ...

    def collections(self, damages: Damages) -> Mapping[str, Any]:
        """Its CollectionDefs by name."""
        ...
