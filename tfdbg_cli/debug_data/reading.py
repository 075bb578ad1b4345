"""The files of a dump: which there are, and the graphs in them."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

from tfdbg_cli.debug_data.graph_messages import graph_def_class
from tfdbg_cli.debug_data.partition_graph import PartitionGraph
from tfdbg_cli.formats.dumps.listing import DumpListing, list_dump
from tfdbg_cli.formats.messages import schema
from tfdbg_cli.formats.messages.event_file import DamagedFileError, read_event

_RUN_FOLDER = re.compile(r"run_\d+_\d+")


def listed_dump(dump_root: str) -> DumpListing:
    """The files of the dump, with paths that begin with `dump_root` as it was given.

    Raises:
        FileNotFoundError: there is no such directory.
        TfdbgError: nobody may read it.

    """
    if not Path(dump_root).is_dir():
        raise FileNotFoundError(f"Dump root directory {dump_root} does not exist")
    listing = list_dump(Path(dump_root))
    real = str(listing.root)
    given, listed = os.path.join(dump_root, ""), os.path.join(real, "")  # noqa: PTH118  # with a slash at the end
    files = [file._replace(path=given + file.path.removeprefix(listed)) for file in listing.tensors]
    runs = [] if listing.devices else sorted(entry.name for entry in os.scandir(real) if _is_run(entry))
    told = [f"The directory {dump_root} holds {len(runs)} runs and is none itself: read {runs[0]}."] if runs else []
    return replace(listing, tensors=files, notes=[*listing.notes, *told])


def _is_run(entry: os.DirEntry[str]) -> bool:
    return _RUN_FOLDER.fullmatch(entry.name) is not None and entry.is_dir()


def device_graphs(listing: DumpListing, given: Iterable[Any] | None, notes: list[str]) -> dict[str, PartitionGraph]:
    """By device its graph: from the dump, newest first, or else the one of the GraphDefs `given` that names it.

    What is damaged or missing is told in `notes`.
    """
    kind = graph_def_class()
    fallbacks = list(given or ())
    found: dict[str, PartitionGraph] = {}
    for device in listing.devices:
        graph_defs = []
        for path in reversed(listing.graphs.get(device, [])):
            try:
                graph_defs.append(kind.FromString(read_event(path).graph_def))
            except DamagedFileError as error:
                notes.append(str(error))
            except schema.DecodeError:
                notes.append(f"The file {path.name} holds no graph and was left out.")
        if not graph_defs:
            graph_defs = [graph for graph in fallbacks if any(node.device == device for node in graph.node)][:1]
        if graph_defs:
            found[device] = PartitionGraph(device, graph_defs)
        else:
            notes.append(f"The graph of {device} was not saved; op types and neighbours of its nodes are not known.")
    return found
