"""An event set: all that Debugger V2 wrote of one run of a program, and what of it are runs.

A run is one call of a function with what its graph did, or the ops that ran eagerly between two calls: so there are
never more than twice as many runs as calls, however many ops ran.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import replace
from itertools import count

from tfdbg_cli.formats.event_sets.call_graph import CallGraph
from tfdbg_cli.formats.event_sets.executions import Executed, Executions, RunSpan
from tfdbg_cli.formats.event_sets.health import DebugMode, mode_of
from tfdbg_cli.formats.event_sets.listing import EventFiles
from tfdbg_cli.formats.event_sets.program import RecordedProgram
from tfdbg_cli.formats.event_sets.records import DamagedRecordError, RecordFile
from tfdbg_cli.formats.event_sets.set_graphs import SetGraphs
from tfdbg_cli.formats.event_sets.traces import TraceRow, Traces
from tfdbg_cli.formats.messages import schema

_GRAPHS_KEPT = 32
_SPANS_KEPT = 16


class EventSet:
    """What is in the files of a set, and the names that runs show for it. Read as far as somebody asks."""

    def __init__(self, files: EventFiles) -> None:
        self.files = files
        self.executions = Executions(files.hosts)
        self.traces = Traces(files.hosts)
        self.graphs = SetGraphs(files.hosts)
        self.program = RecordedProgram(files.hosts)
        self.spans: Sequence[RunSpan] = ()
        self._mode: int | None = None
        self._names: OrderedDict[int, list[str]] = OrderedDict()
        self._call_graphs: OrderedDict[tuple[str, ...], CallGraph] = OrderedDict()
        self.look()

    def look(self) -> None:
        """Read what was written since the last time."""
        self.executions.look()
        self.graphs.look_again()
        self._names.clear()
        self._call_graphs.clear()
        calls = self.executions.spans(behind=False)
        last = next((self.executions[span.first].time for span in reversed(calls) if span.call), float("-inf"))
        self.spans = self.executions.spans(behind=self.traces.any_behind(last))

    def join(self, files: EventFiles) -> bool:
        """Read what other hosts write, too, that are among `files` now, from the next look on; False: there is none.

        What they executed comes behind what is known, though it was earlier: so each run stays where it is.
        """
        known = {host.prefix for host in self.files.hosts}
        others = [host for host in files.hosts if host.prefix not in known]
        for host in others:
            for part in (self.executions, self.traces, self.graphs, self.program):
                part.join(host)
        self.files = replace(files, hosts=[*self.files.hosts, *others])
        return bool(others)

    def mode(self) -> DebugMode | None:
        """The mode in which the set was written; None where nothing tells."""
        if self._mode is None:
            files = [*self.executions.files, *self.traces.files]
            self._mode = next((number for number in map(_first_mode, files) if number is not None), None)
        return None if self._mode is None else mode_of(self._mode)

    @property
    def lost_calls(self) -> bool:
        """Whether the last run is what graphs did in calls whose executions are lost, nobody knows in how many."""
        return bool(self.spans) and self.spans[-1].is_open and self.executions.are_cut

    def traced(self, span: RunSpan) -> list[TraceRow]:
        """The tensors that graphs made in the call of `span`, by their records."""
        return self.traces.between(*self.executions.interval(span))

    def count(self, span: RunSpan) -> int:
        """How many tensors the run of `span` has by now, but for the results of a call."""
        if span.call:
            return len(self.traced(span))
        return len(self.executions.outputs(span.first, span.end)[0])

    def is_over(self, span: RunSpan) -> bool:
        """Whether graphs are seen to have made something behind the run of `span`: then it has all its tensors."""
        return not span.call or self.traces.any_behind(self.executions.interval(span)[1])

    def awaits_calls(self, span: RunSpan) -> bool:
        """Whether what graphs did in `span`, behind the last call, belongs to calls that are not recorded yet.

        What a session computes stands in a graph without a name, and no call of it is ever recorded.
        """
        if len(self.executions):
            return True
        graphs = [self.graphs.find(graph_id) for graph_id in {row.key.graph_id for row in self.traced(span)}]
        return all(graph is None or graph.name for graph in graphs)

    def call_graph(self, span: RunSpan, traced: Sequence[TraceRow]) -> CallGraph:
        """The graph of the call of `span`, in which `traced` ran."""
        root = self.executions[span.first].graph_id if span.end > span.first else ""
        ran = dict.fromkeys(row.key.graph_id for row in traced)
        if not root and span.end > span.first and ran:  # the set does not say which graph was called
            around = self.graphs.around(next(iter(ran)))
            root = around[0].graph_id if around else ""
        key = (root, *ran)
        if key not in self._call_graphs:
            self._call_graphs[key] = CallGraph(self.graphs, root, ran)
            if len(self._call_graphs) > _GRAPHS_KEPT:
                self._call_graphs.popitem(last=False)
        return self._call_graphs[key]

    def run_of(self, execution: int) -> int:
        """The place of the run that the execution at that place belongs to."""
        return bisect_right(self.spans, (execution, len(self.executions), True)) - 1

    def node_names(self, run: int) -> list[str]:
        """What the run calls the nodes of its executions, in order: `MatMul_0`, `MatMul_1`, `step/returned`."""
        known = self._names.get(run)
        if known is None:
            span = self.spans[run]
            known = self._names[run] = (
                [f"{self.executions[at].function}/returned" for at in range(span.first, span.end)]
                if span.call
                else _numbered(self.executions.op_types(span.first, span.end))
            )
            if len(self._names) > _SPANS_KEPT:
                self._names.popitem(last=False)
        return known

    def devices(self, first: int, end: int) -> list[str]:
        """Where the executions at the places from `first` to before `end` gave their first outputs."""
        places = self.executions.first_devices(first, end)
        names = {place: self.graphs.device(*place) for place in set(places)}
        return [names[place] for place in places]

    def made_by(self, tensor_id: int) -> tuple[int, str, int, Executed] | None:
        """Which run gave the tensor with that id: its place, the node and the output; None where no record tells."""
        maker = self.executions.maker(tensor_id)
        if maker is None:
            return None
        at, slot = maker
        run = self.run_of(at)
        return run, self.node_names(run)[at - self.spans[run].first], slot, self.executions[at]

    def troubles(self) -> list[str]:
        """What is wrong with the files, as far as they were read, in sentences."""
        files: list[RecordFile] = [*self.executions.files, *self.traces.files]
        found = [*self.files.notes, *(trouble for file in files for trouble in file.troubles)]
        if self.lost_calls:
            found.append("The last run here is all that graphs did behind the end of the executions.")
        damaged = self.executions.damaged + self.traces.damaged + self.graphs.damaged + self.program.damaged
        if damaged:
            found.append(f"{damaged:,} records could not be read and were left out.")
        return found


def _numbered(op_types: Sequence[str]) -> list[str]:
    numbers = {op_type: count() for op_type in set(op_types)}
    return [f"{op_type}_{next(numbers[op_type])}" for op_type in op_types]


def _first_mode(file: RecordFile) -> int | None:
    again = file.again()
    for record in again.scan():
        try:
            event = schema.DebugEvent.FromString(again.read(record.offset))
        except (DamagedRecordError, schema.DecodeError):
            continue
        what = event.WhichOneof("what")
        if what in ("execution", "graph_execution_trace"):
            return int(getattr(event, what).tensor_debug_mode)
    return None
