"""Values from inside of loops and branches, where nothing can be fetched: dumped by TensorFlow, read back."""

from __future__ import annotations

from collections.abc import Callable, Collection

from tfdbg_cli.capture.budget import require_room_for_graphs
from tfdbg_cli.capture.replay.dump_folders import DumpFolders
from tfdbg_cli.capture.sessions.dump_addresses import DumpAddress, watch_everything
from tfdbg_cli.capture.sessions.graph_ops import has_tensor
from tfdbg_cli.capture.sessions.hidden_ops import is_hidden
from tfdbg_cli.capture.stores import gathered, rows_of
from tfdbg_cli.capture.tf import compat
from tfdbg_cli.capture.tf.types import RawSession, RunOptions, TfGraph
from tfdbg_cli.formats.dumps.reader import read_dump
from tfdbg_cli.model.tensors import TensorStore
from tfdbg_cli.model.updates import UPDATED_VARIABLE

v1 = compat.v1
_FOLDERS = DumpFolders()


def dumped(session: RawSession, run: Callable[[RunOptions], object]) -> TensorStore:
    """Every tensor computed while `run` makes a run of `session` under the options that it is given, in order.

    Raises:
        OSError: nothing can be written among the temporary files.
        TfdbgError: the disk is nearly full, or the dump cannot be read.

    """
    scratch = _FOLDERS.new(session)
    try:
        require_room_for_graphs(scratch.path, lambda: session.graph.as_graph_def().ByteSize())
        options = v1.RunOptions()
        address = DumpAddress(session, scratch.path)
        watch_everything(options, address.address)
        address.used_by(options)
        with address:
            run(options)
        found = gathered(rows_of(read_dump(scratch.path).tensors))
        _FOLDERS.took(session, found)
        return found
    finally:
        scratch.delete()


def merged(first: TensorStore, dump: TensorStore, graph: TfGraph, skipped: Collection[str]) -> TensorStore:
    """The tensors of `first`, and the further ones of `graph` that are in `dump`, in the order of the dump.

    What was not dumped (handles, fed tensors) comes before. `skipped` names tensors that are left out.
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
        elif name not in skipped and _is_of_program(graph, name):
            kept.append((dump, row))
    before = [(first, row) for name, row in own.items() if name not in seen and not _is_updated(first, row)]
    after = [(first, row) for row in own.values() if _is_updated(first, row)]
    return gathered([*before, *kept, *after])


def _is_of_program(graph: TfGraph, name: str) -> bool:
    """Whether `graph` has the tensor `name`, and it was not added for the replay."""
    return not is_hidden(name) and has_tensor(graph, name)


def _is_updated(store: TensorStore, row: int) -> bool:
    return store[row].op_type == UPDATED_VARIABLE
