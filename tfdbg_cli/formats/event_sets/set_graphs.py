"""The graphs that a program built, as an event set has them: their ops, how they lie in each other, and devices."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from tfdbg_cli.formats.event_sets.listing import HostFiles
from tfdbg_cli.formats.event_sets.records import RecordFile
from tfdbg_cli.formats.messages import schema

_DEEPEST = 1_000  # graphs, one in the other


class SavedOp(NamedTuple):
    """An op as it was made: its type, the names of the tensors that it reads, and where its record lies."""

    op_type: str
    inputs: tuple[str, ...]
    file: RecordFile
    offset: int


@dataclass
class SavedFunction:
    """A graph: that of a function, of a loop or of a branch, inside the one with the id `outer`, and its ops."""

    graph_id: str
    name: str
    outer: str
    ops: dict[str, SavedOp] = field(default_factory=dict)


class SetGraphs:
    """The graphs of a set by their id. Read when somebody asks; `look` reads what was written since."""

    def __init__(self, hosts: Sequence[HostFiles]) -> None:
        self.files = [host.file("graphs") for host in hosts]
        self._graphs: dict[str, SavedFunction] = {}
        self._devices: list[dict[int, str]] = [{} for _ in hosts]
        self._looked = False
        self.damaged = 0

    def join(self, host: HostFiles) -> None:
        """Read what `host` writes, too, from the next look on."""
        self.files.append(host.file("graphs"))
        self._devices.append({})

    def look(self) -> None:
        """Read what was written since the last time."""
        self._looked = True
        for file, devices in zip(self.files, self._devices, strict=True):
            for record in file.scan():
                try:
                    event = schema.EventHead.FromString(record.content)
                except schema.DecodeError:
                    self.damaged += 1
                    continue
                self._take(event, devices, file, record.offset)

    def look_again(self) -> None:
        """Read what was written since, unless nobody asked for graphs yet."""
        if self._looked:
            self.look()

    def _take(self, event: schema.EventHead, devices: dict[int, str], file: RecordFile, offset: int) -> None:
        what = event.WhichOneof("what")
        if what == "graph_op_creation":
            made = event.graph_op_creation
            ops = self._graphs.setdefault(made.graph_id, SavedFunction(made.graph_id, "", "")).ops
            ops.setdefault(made.op_name, SavedOp(made.op_type, tuple(made.input_names), file, offset))
        elif what == "debugged_graph":
            told = event.debugged_graph
            graph = self._graphs.setdefault(told.graph_id, SavedFunction(told.graph_id, "", ""))
            graph.name, graph.outer = told.graph_name, told.outer_context_id
        elif what == "debugged_device":
            devices[event.debugged_device.device_id] = event.debugged_device.device_name

    def device(self, host: int, device_id: int) -> str:
        """The name of a device of the host; empty where nobody knows it."""
        if not self._looked:
            self.look()
        return self._devices[host].get(device_id, "")

    def find(self, graph_id: str) -> SavedFunction | None:
        """The graph with that id, or None."""
        if not self._looked or graph_id not in self._graphs:
            self.look()
        return self._graphs.get(graph_id)

    def around(self, graph_id: str) -> list[SavedFunction]:
        """The graph with that id and those it lies in, the outermost first; what has no name holds no code."""
        chain: dict[str, SavedFunction] = {}
        graph = self.find(graph_id)
        while graph is not None and graph.graph_id not in chain and len(chain) < _DEEPEST:
            chain[graph.graph_id] = graph
            graph = self.find(graph.outer) if graph.outer else None
        return [graph for graph in reversed(chain.values()) if graph.name or graph.ops]

    def inside(self, graph_id: str) -> Iterator[SavedFunction]:
        """The graphs that lie in the one with that id, outer ones first."""
        within = {graph_id}
        for graph in self._graphs.values():
            if graph.outer in within and graph.graph_id not in within:
                within.add(graph.graph_id)
                yield graph
