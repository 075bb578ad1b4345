"""The files of a case that come from the program's graph alone: runs of one graph share them."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from tfdbg_cli.formats.dumps import case_layout as layout
from tfdbg_cli.formats.messages.graph_def import graph_def_of
from tfdbg_cli.formats.recording.json_fields import json_bytes
from tfdbg_cli.formats.recording.traceback_table import source_texts, traceback_table
from tfdbg_cli.model.graph import GraphKind
from tfdbg_cli.model.runs import Run


@dataclass
class GraphFiles:
    """`contents` by path in the case folder. `sources` maps the path of a source file to the hash of its text.

    Made once for a graph and written with every run of it. Within one session root the files are written once and
    then linked, where the file system can do that.
    """

    contents: Mapping[str, bytes]
    sources: Mapping[str, str]
    _home: Path | None = field(default=None, init=False)  # the case folder that has them

    def write(self, place: Path, final: Path) -> None:
        """Put the files into the folder `place`, which is going to be called `final`.

        Raises:
            OSError: a file cannot be written.

        """
        home = self._home
        if home is not None and home.parent.parent != final.parent.parent:
            home = None
        for name, content in self.contents.items():
            path = place / name
            path.parent.mkdir(exist_ok=True)
            if home is None or not _linked(home / name, path, len(content)):
                path.write_bytes(content)
        self._home = final


def _linked(old: Path, new: Path, size: int) -> bool:
    """Make `new` another name of `old`. False where that cannot be done, or when somebody changed the old file."""
    try:
        if old.stat().st_size != size:
            return False
        os.link(old, new, follow_symlinks=False)
    except (OSError, NotImplementedError):
        return False
    return True


def graph_files(run: Run) -> GraphFiles:
    """The program's graph, the creation stacks of its nodes, and every source file that a stack names, whole."""
    contents: dict[str, bytes] = {}
    python_graph = run.graph if run.graph.kind is GraphKind.PYTHON else run.python_graph
    if python_graph is not None:
        contents[layout.PYTHON_GRAPH] = graph_def_of(python_graph)
    tracebacks = dict(run.tracebacks)
    if tracebacks:
        contents[layout.TRACEBACKS] = json_bytes(traceback_table(tracebacks))
    hashes: dict[str, str] = {}
    for path, text in source_texts(run.sources, tracebacks):
        hashes[path] = hashlib.sha256(text).hexdigest()
        contents[f"{layout.SOURCES}/{hashes[path]}"] = text
    return GraphFiles(contents, hashes)
