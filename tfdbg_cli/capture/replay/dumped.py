"""Values from inside of loops, branches and calls, where nothing can be fetched: dumped by TensorFlow, read back."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import replace

from tfdbg_cli.capture.budget import require_room_for_graphs
from tfdbg_cli.capture.functions.definition.call_tree import CallKind, CallSite
from tfdbg_cli.capture.scratch import Scratch
from tfdbg_cli.capture.sessions.called import GraphFunctions, called_roots
from tfdbg_cli.capture.sessions.dump_addresses import DumpAddress, watch_everything
from tfdbg_cli.capture.sessions.hidden_ops import is_hidden
from tfdbg_cli.capture.sessions.reach import has_tensor
from tfdbg_cli.capture.stores import gathered, rows_of
from tfdbg_cli.capture.tf import compat
from tfdbg_cli.capture.tf.types import Op, RawSession, RunOptions, TfGraph
from tfdbg_cli.formats.dumps.reader import read_dump
from tfdbg_cli.model.names import TensorName
from tfdbg_cli.model.tensors import MemoryTensorStore, TensorStore
from tfdbg_cli.model.updates import UPDATED_VARIABLE

v1 = compat.v1


def dumped(session: RawSession, run: Callable[[RunOptions], object]) -> TensorStore:
    """Every tensor computed while `run` makes a run of `session` under the options that it is given, in order.

    Raises:
        OSError: nothing can be written among the temporary files.
        TfdbgError: the disk is nearly full, or the dump cannot be read.

    """
    require_room_for_graphs(None, lambda: session.graph.as_graph_def().ByteSize())
    scratch = Scratch()
    try:
        options = v1.RunOptions()
        address = DumpAddress(session, scratch.path)
        watch_everything(options, address.address)
        address.used_by(options)
        with address:
            run(options)
        return gathered(rows_of(read_dump(scratch.path).tensors))
    finally:
        scratch.delete()


def renamed(dump: TensorStore, names: Mapping[str, str]) -> TensorStore:
    """The tensors of `dump`, those of the nodes `names` under other names."""
    rows = range(len(dump))
    tensors = [dump[row] for row in rows]
    tensors = [
        replace(one, name=TensorName(names[one.node], one.name.slot)) if one.node in names else one for one in tensors
    ]
    return MemoryTensorStore(tensors, [dump.value(row) for row in rows])


def merged(
    first: TensorStore, dump: TensorStore, graph: TfGraph, skipped: Collection[str], inside: Collection[str] = ()
) -> TensorStore:
    """The tensors of `first`, and the further ones of `graph` that are in `dump`, in the order of the dump.

    What was not dumped (handles, fed tensors) comes before. `skipped` names tensors that are left out; `inside` are
    nodes that are taken though they are none of `graph`.
    """
    own = {str(first[row].name): row for row in range(len(first))}
    kept: list[tuple[TensorStore, int]] = []
    seen: set[str] = set()
    for row in range(len(dump)):
        name = str(dump[row].name)
        if name in own:
            if name not in seen:
                kept.append((first, own[name]))
                seen.add(name)
        elif name not in skipped and (dump[row].node in inside or _is_of_program(graph, name)):
            kept.append((dump, row))
    before = [(first, row) for name, row in own.items() if name not in seen and not _is_updated(first, row)]
    after = [(first, row) for row in own.values() if _is_updated(first, row)]
    return gathered([*before, *kept, *after])


def _is_of_program(graph: TfGraph, name: str) -> bool:
    """Whether `graph` has the tensor `name`, and it was not added for the replay."""
    return not is_hidden(name) and has_tensor(graph, name)


def _is_updated(store: TensorStore, row: int) -> bool:
    return store[row].op_type == UPDATED_VARIABLE


def inlined_names(graph: TfGraph, order: Iterable[Op]) -> dict[str, str]:
    """The names by which a run shows the nodes of called functions, by the names that the runtime gives them.

    The runtime puts the nodes of a function in the place of a plain call of it, under the name of the call. Branches
    and loops it takes apart: their nodes are not among these.
    """
    found: dict[str, str] = {}
    for name, root in called_roots(order, GraphFunctions(graph, as_written=True)).items():
        for site in root.calls.values():
            found.update(_inside(site, name))
    return found


def _inside(site: CallSite, call: str) -> Iterator[tuple[str, str]]:
    if site.kind is not CallKind.PLAIN:
        return
    scope = site.scopes[0]
    for name in scope.body.nodes:
        yield f"{call}/{name}", scope.name_of(name)
    for name, inner in scope.calls.items():
        yield from _inside(inner, f"{call}/{name}")
