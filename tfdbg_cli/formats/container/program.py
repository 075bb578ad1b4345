"""What runs of one program have in common: graphs, tracebacks and sources, written once."""

from __future__ import annotations

from typing import Any
from weakref import WeakKeyDictionary

from tfdbg_cli.formats.container.contents import SharedContents
from tfdbg_cli.formats.messages.graph_def import SavedGraph, graph_def_of
from tfdbg_cli.formats.recording.json_fields import json_bytes
from tfdbg_cli.formats.recording.traceback_table import source_texts, traceback_table
from tfdbg_cli.model.graph import Graph
from tfdbg_cli.model.runs import Run


class Programs:
    """Numbers of programs. Of a graph that was written before, nothing is looked at again."""

    def __init__(self, contents: SharedContents) -> None:
        self._contents = contents
        self._known: WeakKeyDictionary[Graph, tuple[tuple[int, int, int], int]] = WeakKeyDictionary()

    def number(self, run: Run) -> int:
        """The content that tells of the graphs, tracebacks and sources of `run`."""
        # The tracebacks and the other graph of a run go with its graph; they are told apart by their sizes.
        python = -1 if run.python_graph is None else len(run.python_graph)
        facts = len(run.graph), python, len(run.tracebacks)
        known = self._known.get(run.graph)
        if known is not None and known[0] == facts:
            return known[1]
        number = self._contents.number(json_bytes(self._fields(run)))
        self._known[run.graph] = facts, number
        return number

    def forget(self) -> None:
        """Know no more what was not written after all."""
        self._known.clear()

    def _fields(self, run: Run) -> dict[str, Any]:
        tracebacks = dict(run.tracebacks)
        table = self._contents.number(json_bytes(traceback_table(tracebacks))) if tracebacks else None
        return {
            "graph": self._graph(run.graph),
            "python_graph": None if run.python_graph is None else self._graph(run.python_graph),
            "tracebacks": table,
            "sources": {path: self._contents.number(text) for path, text in source_texts(run.sources, tracebacks)},
        }

    def _graph(self, graph: Graph) -> dict[str, Any]:
        parts: list[tuple[str, bytes]] = [("", graph_def_of(graph))]
        if isinstance(graph, SavedGraph):
            parts = list(graph.parts)
            if graph.added:
                parts.append(("", graph_def_of(Graph(graph.added))))
        return {"kind": graph.kind, "parts": [[device, self._contents.number(part)] for device, part in parts]}
