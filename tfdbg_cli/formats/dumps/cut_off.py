"""Whether the process that wrote a dump came to the end of the run, as far as the files tell.

TensorFlow says what it is going to run before it runs, dumps each watched tensor when it is made, and never writes
that it is done. tfdbg adds its folder at the end. TensorFlow writes the graph once for each address of dumps, so the
later runs of one address have none until tfdbg adds it.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence

from tfdbg_cli.formats.dumps.case_layout import CASE_DIRECTORY
from tfdbg_cli.formats.dumps.listing import DumpFile, DumpListing
from tfdbg_cli.formats.messages.graph_def import parse_graph_def
from tfdbg_cli.formats.messages.graph_nodes import is_debug_node
from tfdbg_cli.formats.recording.writing import is_unfinished
from tfdbg_cli.model.names import TensorName, parse_tensor_name, tensor_name_of

_WHY = "its process was killed, or is still at it, or the run failed"


def cut_off(
    listing: DumpListing, files: Sequence[DumpFile], parts: Iterable[tuple[str, bytes]], fetches: Sequence[str]
) -> str:
    """A sentence that says that the run was cut off while it was dumped; empty where nothing speaks for that.

    Args:
        listing: what lies in the folder, to which tfdbg has not added its own.
        files: its tensors.
        parts: the partition graphs, serialized, each with its device.
        fetches: the names of what the run fetches.

    """
    if _is_half_saved(listing):
        return f"This run was cut off while it was saved: {_WHY}. What is known of the program is missing."
    announced = bool(listing.core_metadata or listing.fetches or listing.feed_keys)
    if not files and (any(True for _ in watched_tensors(parts)) or (announced and not listing.graphs)):
        return f"This run was cut off before it dumped a tensor: {_WHY}."
    names = list(map(tensor_name_of, fetches))
    fetched = {name.node for name in names}
    dumped = {(file.node, file.slot) for file in files if file.node in fetched}  # of very many, few are fetched
    missing = [name for name in names if (name.node, name.slot) not in dumped]
    if missing and (listing.graphs or not announced):
        watched = set(watched_tensors(parts))
        missing = [name for name in missing if name in watched]
    if missing:
        return f"This run was cut off while it was dumped: {missing[0]}, which it fetches, is missing; {_WHY}."
    return ""


def _is_half_saved(listing: DumpListing) -> bool:
    try:
        names = os.listdir(listing.root)  # noqa: PTH208 - names are all that is wanted
    except OSError:
        return False
    return any(name.startswith(f"{CASE_DIRECTORY}.") and is_unfinished(name) for name in names)


def watched_tensors(parts: Iterable[tuple[str, bytes]]) -> Iterator[TensorName]:
    """The tensors for which TensorFlow put a debug op into the graph: `__dbg_node:slot_0_DebugIdentity`."""
    for _, serialized in parts:
        for node in parse_graph_def(serialized).node:
            if is_debug_node(node) and node.op.startswith("Debug"):
                name = parse_tensor_name(node.name.removeprefix("__dbg_").rsplit("_", 2)[0])
                if name is not None:
                    yield name
