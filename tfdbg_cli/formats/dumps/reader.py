"""One v1 dump directory as a run."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from tfdbg_cli.collection import COLLECTOR, count_as_old
from tfdbg_cli.formats.dumps.call_info import call_of
from tfdbg_cli.formats.dumps.case_reader import SavedCase, read_case
from tfdbg_cli.formats.dumps.case_tensors import missing_note, written_files
from tfdbg_cli.formats.dumps.cut_off import cut_off
from tfdbg_cli.formats.dumps.listing import DumpFile, DumpListing, list_dump, run_number
from tfdbg_cli.formats.dumps.misfits import check_dump
from tfdbg_cli.formats.dumps.store import DumpTensorStore, debug_op_nodes, in_order
from tfdbg_cli.formats.messages.event_file import DamagedFileError, read_event
from tfdbg_cli.formats.messages.graph_def import GraphPartition, SavedGraph, graph_of, parse_graph_def
from tfdbg_cli.model.calls import Call
from tfdbg_cli.model.graph import RUNTIME_GRAPH_SHOWN, Graph, GraphKind
from tfdbg_cli.model.lazy_values import LateNotes
from tfdbg_cli.model.runs import Run
from tfdbg_cli.model.values import NoValue

_SLASHES = re.compile("/{2,}")


def read_dump(directory: Path) -> Run:
    """The run whose dump lies in `directory`, written by TensorFlow's debugger or by tfdbg.

    Only names and graphs are read now; headers and values when somebody looks. Whatever is damaged, missing or
    contradictory becomes a sentence in `Run.notes` or a NoValue and costs nothing else.

    Raises:
        TfdbgError: the directory itself cannot be read.

    """
    with COLLECTOR.put_off():
        run = _read(directory)
        count_as_old()
        return run


def _read(directory: Path) -> Run:
    listing = list_dump(directory)
    notes = list(listing.notes)
    case = read_case(listing.root, notes)
    tensors, missing = listing.tensors, dict[str, NoValue]()
    if case is not None:
        tensors, missing = written_files(case.tensors, listing.tensors, listing.root)
    if missing:
        notes.append(missing_note(tensors, missing))
    runtime = _runtime_graph(listing, notes)
    graph: Graph = runtime
    if (
        case is not None
        and case.python_graph is not None
        and (case.graph_kind is GraphKind.PYTHON or not len(runtime))
    ):
        graph = case.python_graph
    instead = case is not None and graph is not runtime and case.graph_kind is GraphKind.RUNTIME
    if instead and listing.devices:
        notes.append("The graph that TensorFlow ran was not saved; the program's own is shown.")
    _note_missing_graphs(listing, graph, notes)
    files = in_order(_with_true_names(tensors, graph), graph)
    call = (case and case.call) or call_of(listing, notes)
    number = run_number(directory.name)
    call = call if number is None else replace(call, number=number)
    ended = "" if case is not None else cut_off(listing, files, runtime.parts, call.fetches)
    if ended:
        notes.insert(0, ended)
    elif not files:
        notes.append("This dump holds no tensors: nothing was watched, or all of it was folded into constants.")
    if case is not None:
        noted = [note for note in case.notes if not (instead and note == RUNTIME_GRAPH_SHOWN)]
        notes = [*noted, *notes]

    def all_notes() -> Iterable[str]:
        # Each node of the graph has to be looked at, of which there can be very many.
        checked = check_dump(files, graph, set(listing.graphs)) if graph is runtime else ()
        return dict.fromkeys((*notes, *checked))

    return replace(
        _assemble(listing, case, call, graph, files, missing), notes=LateNotes(all_notes), cut_off=bool(ended)
    )


def _assemble(
    listing: DumpListing,
    case: SavedCase | None,
    call: Call,
    graph: Graph,
    files: Sequence[DumpFile],
    missing: Mapping[str, NoValue],
) -> Run:
    if case is None:
        store = DumpTensorStore(files, graph, {})
        return Run(call, store, graph, origin_path=str(listing.root))
    lacks = {f"{listing.root}{os.sep}{path}": value for path, value in case.lacks.items()} | dict(missing)
    store = DumpTensorStore(files, graph, lacks, case.timed)
    return Run(
        call=call,
        tensors=store,
        graph=graph,
        python_graph=case.python_graph,
        tracebacks=case.tracebacks,
        sources=case.sources,
        error=case.error,
        profile=case.profile,
        origin_path=str(listing.root),
        ignored=case.ignored,
        unfinished=case.unfinished,
        exactness=case.exactness,
        no_replay=case.no_replay,
    )


def _runtime_graph(listing: DumpListing, notes: list[str]) -> SavedGraph:
    """The partition graphs of every device as one graph; of several of one device the newest counts first."""
    parts: list[GraphPartition] = []
    for device, paths in listing.graphs.items():
        for path in reversed(paths):
            try:
                serialized = read_event(path).graph_def
                part = GraphPartition(device, serialized, parse_graph_def(serialized))
            except DamagedFileError as error:
                notes.append(str(error))
            except ValueError:
                notes.append(f"The file {path.name} holds no graph and was left out.")
            else:
                parts.append(part)
    graph = graph_of(parts, GraphKind.RUNTIME)
    return graph.with_nodes(debug_op_nodes(listing.tensors))


def _note_missing_graphs(listing: DumpListing, graph: Graph, notes: list[str]) -> None:
    if graph.kind is GraphKind.PYTHON:
        return
    missing = [device for device in listing.devices if device not in listing.graphs]
    if missing and len(graph):
        notes.append(f"The graph of {missing[0]} was not saved; op types and neighbours of its nodes are not known.")
    elif missing:
        notes.append("The graph of this run was not saved; op types and neighbours of its nodes are not known.")


def _with_true_names(files: list[DumpFile], graph: Graph) -> list[DumpFile]:
    """`files` with the double slashes that their paths could not keep."""
    true_names = {_SLASHES.sub("/", name): name for name in graph.names() if "//" in name}
    if not true_names:
        return files
    return [file._replace(node=true_names.get(file.node, file.node)) for file in files]
