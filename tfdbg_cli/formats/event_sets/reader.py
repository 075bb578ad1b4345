"""A run of an event set, made of its records."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from tfdbg_cli.formats.event_sets.eager_tensors import EagerPlaces, EagerTensors
from tfdbg_cli.formats.event_sets.event_set import EventSet
from tfdbg_cli.formats.event_sets.executions import Executed, RunSpan
from tfdbg_cli.formats.event_sets.health import DebugMode, not_recorded, records_text
from tfdbg_cli.formats.event_sets.store import EventSetTensors, EventTensorStore, ListedTensors, RecordedTensor
from tfdbg_cli.formats.event_sets.tracebacks import RecordAt, SavedTracebacks
from tfdbg_cli.model.calls import Call, CallArgument, RunKind
from tfdbg_cli.model.graph import Graph, GraphKind, Node
from tfdbg_cli.model.names import TensorName
from tfdbg_cli.model.runs import Run
from tfdbg_cli.model.sources import LostTracebacks, Traceback
from tfdbg_cli.model.units import count_text

_BLIND = (DebugMode.NO_TENSOR, DebugMode.SHAPE)  # modes that tell nothing of NaN and infinities
_GIVEN_SHOWN = 6
_OUTSIDE = "what graphs did outside of any recorded call"
_OUTSIDE_NOTE = "No call is recorded that made these tensors: `execution` counts what was computed again."
_LOST = "calls whose executions are missing"
_LOST_NOTE = (
    "The executions of these calls are cut off or missing, so nobody can tell the calls apart: their tensors stand"
    " here together, and `execution` counts what was computed again."
)


def read_run(events: EventSet, place: int) -> Run:
    """The run at `place` of the set."""
    span, mode = events.spans[place], events.mode()
    run = _call(events, place, span) if span.call else _eager(events, place, span)
    call, tensors, graph, places = run
    notes = [] if mode is DebugMode.FULL_TENSOR or mode is None else [f"Mode {mode.name}: {records_text(mode)}."]
    lacks = not_recorded(mode).text if mode in _BLIND or mode is None else ""
    return Run(
        call,
        EventTensorStore(tensors, counted=mode not in (DebugMode.NO_TENSOR, DebugMode.FULL_TENSOR)),
        graph,
        tracebacks=_tracebacks(events, span, SavedTracebacks(events.program, places)),
        sources=events.program,
        notes=(*notes, *events.troubles()),
        lacks=lacks,
        inside_lacks=_inside_lacks(events, span) if span.call and not span.is_open else "",
        origin_path=str(events.files.hosts[0].folder),
    )


def _tracebacks(events: EventSet, span: RunSpan, found: Mapping[str, Traceback]) -> Mapping[str, Traceback]:
    """What was `found`, which says so where a file of the set that tells of stacks is gone."""
    kinds = ("stack_frames", "source_files", *(("graphs",) if span.call else ()))
    gone = [name for host in events.files.hosts for name in host.missing(*kinds)]
    if not gone:
        return found
    some = len(events.files.hosts) > 1 or all(name.endswith(".graphs") for name in gone)  # may still be found
    return LostTracebacks(_are_missing(gone), found if some else None)


def _inside_lacks(events: EventSet, span: RunSpan) -> str:
    """That of a call nothing is there but what it returned, with the file that should tell of it where it is gone."""
    if events.traced(span):
        return ""
    gone = [name for host in events.files.hosts for name in host.missing("graph_execution_traces")]
    why = _are_missing(gone) if gone else "none of it was recorded"
    return f"What the function computed on the way is not known: {why}."


def _are_missing(names: Sequence[str]) -> str:
    return f"the file {names[0]} is missing" if len(names) == 1 else f"the files {', '.join(names)} are missing"


_Parts = tuple[Call, EventSetTensors, Graph, Mapping[str, RecordAt]]


def _call(events: EventSet, place: int, span: RunSpan) -> _Parts:
    """A call of a function: what its graphs made, then what it returned."""
    traced = events.traced(span)
    shown = events.call_graph(span, traced)
    tensors = []
    for row in traced:
        name = shown.name(row.key)
        op = shown.ops.get(name.node)
        tensors.append(
            RecordedTensor(name, op.op_type if op else "", row.key.device, row.time, row.file, row.offset, None)
        )
    places: dict[str, RecordAt] = {name: (op.file, op.offset) for name, op in shown.ops.items()}
    if span.is_open:
        words, note = (_LOST, _LOST_NOTE) if events.lost_calls else (_OUTSIDE, _OUTSIDE_NOTE)
        call = Call(place + 1, RunKind.FUNCTION, (), function=words, notes=(note,))
        return call, ListedTensors(tensors), shown.graph, places
    executed = events.executions[span.first]
    node = events.node_names(place)[0]
    tensors += _outputs(events, executed, node)
    places[node] = events.executions.files[executed.host], executed.offset
    results = tuple(f"{node}:{slot}" for slot in range(len(executed.gave)))
    arguments, notes = _arguments(events, span.first, shown.graph)
    call = Call(
        place + 1,
        RunKind.FUNCTION,
        results,
        feeds=dict.fromkeys(argument.name for argument in arguments),
        function=executed.function,
        arguments=arguments,
        notes=notes,
    )
    return call, ListedTensors(tensors), shown.graph, places


def _arguments(events: EventSet, at: int, graph: Graph) -> tuple[tuple[CallArgument, ...], tuple[str, ...]]:
    """What the function was given, and sentences about where it came from; nothing where the set does not tell."""
    inputs = events.executions[at].read
    placeholders = [node for node in graph if node.op_type == "Placeholder" and "/" not in node.name]
    named = [node.name for node in placeholders] if len(placeholders) == len(inputs) else []
    if not named:
        placeholders = [node for node in graph if node.op_type == "Placeholder"][: len(inputs)]
        named = [node.name for node in placeholders] if len(placeholders) == len(inputs) else []
    arguments, notes = [], []
    for name, tensor_id in zip(named, inputs, strict=False):
        made = events.made_by(tensor_id)
        captured = made is not None and made[3].op_type == "VarHandleOp"
        arguments.append(CallArgument(f"{name}:0", "", None, captured))
        if made is not None and not captured:
            run, node, slot, _ = made
            notes.append(f"{name}:0 was given {node}:{slot} of run {run + 1}.")
    return tuple(arguments), tuple(notes[:_GIVEN_SHOWN])


def _eager(events: EventSet, place: int, span: RunSpan) -> _Parts:
    """Ops that ran eagerly, one after the other."""
    count = span.end - span.first
    words = count_text(count, "eager op")
    graph = Graph(lambda: _eager_nodes(events, span, events.node_names(place)), GraphKind.PYTHON)
    call = Call(place + 1, RunKind.EAGER, (), function=words)
    return call, EagerTensors(events, place, span), graph, EagerPlaces(events, place, span)


def _outputs(events: EventSet, executed: Executed, node: str) -> Iterator[RecordedTensor]:
    file = events.executions.files[executed.host]
    for slot in range(len(executed.gave)):
        device_id = executed.devices[slot] if slot < len(executed.devices) else 0
        device = events.graphs.device(executed.host, device_id)
        yield RecordedTensor(
            TensorName(node, slot), executed.op_type, device, executed.time, file, executed.offset, slot
        )


def _eager_nodes(events: EventSet, span: RunSpan, names: Sequence[str]) -> Iterator[Node]:
    """The ops as a graph: what each read, by the ids of tensors; what came from elsewhere is a node of its own."""
    outside: set[str] = set()
    op_types = events.executions.op_types(span.first, span.end)
    devices = events.devices(span.first, span.end)
    for at, read in enumerate(events.executions.inputs(span.first, span.end), span.first):
        inputs = []
        for tensor_id, maker, slot in read:
            if span.first <= maker < at:
                inputs.append(TensorName(names[maker - span.first], slot))
                continue
            told = None if maker < 0 else events.made_by(tensor_id)
            given = TensorName(f"tensor_{tensor_id}", 0)
            attributes = {}
            if told is not None:
                run, node, slot_there, _ = told
                given = TensorName(f"run_{run + 1}/{node}", slot_there)
                attributes = {"from": f"{node}:{slot_there} of run {run + 1}"}
            inputs.append(given)
            if given.node not in outside:
                outside.add(given.node)
                yield Node(given.node, "Placeholder", "", attributes=attributes)
        place = at - span.first
        yield Node(names[place], op_types[place], devices[place], tuple(inputs))
