"""A RunMetadata: what TensorFlow tells of one run that it was asked to trace. Times, and the graphs that ran."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

from tfdbg_cli.formats.graph_files.held_graph import GraphFacts, HeldGraph
from tfdbg_cli.formats.graph_files.mended import ByteSpan, Damages, fields, mended_graph
from tfdbg_cli.formats.graph_files.misfits import tell_misfits
from tfdbg_cli.formats.messages import schema
from tfdbg_cli.formats.messages.graph_def import graph_from_def, graph_from_parts
from tfdbg_cli.formats.messages.step_stats import profile_of
from tfdbg_cli.formats.messages.wire import BYTES
from tfdbg_cli.model.graph import Graph, GraphKind

_TIMES, _PARTITIONS, _FUNCTIONS = 1, 3, 4  # fields of RunMetadata
_OF_FUNCTION, _BEFORE, _AFTER = 1, 2, 3  # fields of FunctionGraphs
_TIMED = "It has times and no values."


def graphs_of_metadata(data: bytes, name: str) -> list[HeldGraph]:
    """What is in the RunMetadata `data` of the file called `name`: what ran, then what each function was made of."""
    damages = Damages(name)
    times: list[ByteSpan] = []
    partitions: list[ByteSpan] = []
    functions: list[ByteSpan] = []
    kept = {_TIMES: times, _PARTITIONS: partitions, _FUNCTIONS: functions}
    for part in fields(data, ByteSpan(0, len(data)), "the metadata", damages):
        if part.wire == BYTES and part.number in kept:
            kept[part.number].append(ByteSpan.of(part))
    wanted = list(_of_functions(data, functions, name, damages))
    if times or not wanted:  # what functions ran stands there twice
        what = "the run" if times else "what ran"
        wanted.insert(0, HeldGraph(what, lambda: _what_ran(data, times, partitions, name, damages)))
    return wanted


def _what_ran(
    data: bytes, times: Sequence[ByteSpan], partitions: Sequence[ByteSpan], name: str, outer: Damages
) -> GraphFacts:
    damages = Damages(name)
    graph = _joined(data, partitions, damages)
    stats = schema.CLASSES["StepStats"]()
    for span in times:
        try:
            stats.MergeFromString(data[span.start : span.end])
        except schema.DecodeError:
            damages.add("the times", span.start, "the bytes are none")
    profile = profile_of(stats, graph) if stats.dev_stats else None
    notes = [_TIMED] if profile is not None else []
    if not len(graph):
        notes.append("The file holds no graph: a session writes it with output_partition_graphs, a function always.")
    return GraphFacts(graph, notes=tuple(notes), damages=(*outer.told(), *damages.told()), profile=profile)


def _of_functions(data: bytes, functions: Sequence[ByteSpan], name: str, damages: Damages) -> Iterator[HeldGraph]:
    for number, span in enumerate(functions, 1):
        found: dict[int, list[ByteSpan]] = {}
        for part in fields(data, span, f"the graphs of function {number}", damages):
            if part.wire == BYTES:
                found.setdefault(part.number, []).append(ByteSpan.of(part))
        before, after = found.get(_BEFORE, []), found.get(_AFTER, [])
        if found.get(_OF_FUNCTION):
            partitions = found[_OF_FUNCTION]
            yield HeldGraph(
                f"function graph {number}",
                partial(_function, data, partitions, before, name),
            )
        for when, spans in (("before", before), ("after", after)):
            if spans:
                yield HeldGraph(f"function graph {number} {when} optimization", partial(_one, data, spans[-1], name))


def _function(data: bytes, partitions: Sequence[ByteSpan], before: Sequence[ByteSpan], name: str) -> GraphFacts:
    damages = Damages(name)
    written = _graph(data, before[-1], damages) if before else None
    return GraphFacts(_joined(data, partitions, damages), damages=tuple(damages.told()), python_graph=written)


def _one(data: bytes, span: ByteSpan, name: str) -> GraphFacts:
    damages = Damages(name)
    return GraphFacts(_graph(data, span, damages), damages=tuple(damages.told()))


def _graph(data: bytes, span: ByteSpan, damages: Damages) -> Graph:
    graph = graph_from_def(mended_graph(data, span, damages), GraphKind.PYTHON)
    tell_misfits(graph, damages)
    return graph


def _joined(data: bytes, spans: Sequence[ByteSpan], damages: Damages) -> Graph:
    """The partitions of several devices as one graph; each node says on which one it is."""
    parts: list[Any] = [("", mended_graph(data, span, damages)) for span in spans]
    graph = graph_from_parts(parts, GraphKind.RUNTIME)
    tell_misfits(graph, damages)
    return graph
