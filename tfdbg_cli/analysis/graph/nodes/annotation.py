"""Which source files made the nodes of a graph, and which line made which node."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import PurePath
from typing import Protocol, runtime_checkable

from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.model.graph import Graph
from tfdbg_cli.model.names import did_you_mean
from tfdbg_cli.model.sources import Frame, Traceback, is_library, user_frame
from tfdbg_cli.model.tensors import TensorStore


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file that appears in the creation stacks of `nodes` nodes.

    `tensors` counts those of their outputs that the run shows or another node reads, `dumps` the captured ones;
    `first_line` is the smallest line number on which one of the nodes was made.
    """

    path: str
    nodes: int
    tensors: int
    dumps: int
    first_line: int
    library: bool


@dataclass(slots=True)
class _Count:
    nodes: int = 0
    tensors: int = 0
    dumps: int = 0
    first_line: int = 0


def source_files(
    graph: Graph, tracebacks: Mapping[str, Traceback], store: TensorStore, node_filter: str = ""
) -> list[SourceFile]:
    """The files of the creation stacks of all nodes whose name `node_filter` finds, sorted by path."""
    wanted = re.compile(node_filter)
    counts: dict[str, _Count] = {}
    for name in graph.names():
        if not wanted.search(name):
            continue
        lines: dict[str, int] = {}
        for frame in tracebacks.get(name, ()):
            lines[frame.file] = min(frame.line, lines.get(frame.file, frame.line))
        if not lines:
            continue
        dumped = len(store.named(name))
        outputs = len(output_slots(graph, store, name))
        for path, number in lines.items():
            count = counts.setdefault(path, _Count(first_line=number))
            count.nodes += 1
            count.tensors += outputs
            count.dumps += dumped
            count.first_line = min(count.first_line, number)
    return [
        SourceFile(path, c.nodes, c.tensors, c.dumps, c.first_line, is_library(path))
        for path, c in sorted(counts.items())
    ]


def output_slots(graph: Graph, store: TensorStore, name: str) -> list[int]:
    """The outputs of the node `name` that another node reads or that the run captured."""
    read = {slot for _, slot in graph.consumers(name)}
    return sorted(read | {store[i].slot for i in store.named(name)})


def nodes_by_line(graph: Graph, tracebacks: Mapping[str, Traceback], path: str) -> dict[int, list[str]]:
    """For each line of the file `path` the nodes made there, in graph order.

    A node belongs to the innermost call in that file: the line that made it, not those that called that line.
    """
    found: dict[int, list[str]] = {}
    for name in graph.names():
        for frame in reversed(tracebacks.get(name, ())):
            if frame.file == path:
                found.setdefault(frame.line, []).append(name)
                break
    return found


@runtime_checkable
class TellsPlaces(Protocol):
    """Tracebacks that tell the line of one without the whole stack: a list asks for hundreds of lines at once."""

    def place(self, node: str) -> Frame | None:
        """The innermost line of the user's program that made `node`, else of all; None without a traceback."""
        ...


def made_at(tracebacks: Mapping[str, Traceback], node: str) -> Frame | None:
    """The line of the user's program that made `node`; the innermost line of all when only libraries did.

    For a node without a traceback it is the line that made the op around it (see `traced_scope`).
    """
    if isinstance(tracebacks, TellsPlaces):
        found = tracebacks.place(node)
        while found is None and "/" in node:
            node = node.rpartition("/")[0]
            found = tracebacks.place(node)
        return found
    scope = traced_scope(tracebacks, node)
    traceback = tracebacks.get(scope, ()) if scope is not None else ()
    return user_frame(traceback) or (traceback[-1] if traceback else None)


def traced_scope(tracebacks: Mapping[str, Traceback], node: str) -> str | None:
    """`node` itself when its traceback is known, else the innermost op whose name encloses it.

    The runtime inlines the body of a loop or a call under the name of the op: `step/body/_1/mul` came from `step`.
    """
    name = node
    while not tracebacks.get(name):
        if "/" not in name:
            return None
        name = name.rsplit("/", 1)[0]
    return name


def find_source(text: str, paths: Iterable[str]) -> str | None:
    """The one of `paths` that `text` names: in full, or by its last parts (`train.py`, `models/train.py`).

    Of several, the only one that is not a library's is meant. None when none fits.

    Raises:
        TfdbgError: several fit; the hint lists them.

    """
    known = list(dict.fromkeys(paths))
    if text in known:
        return text
    ending = text.replace("\\", "/").removeprefix("./")
    fitting = [path for path in known if path.replace("\\", "/").endswith("/" + ending.lstrip("/"))]
    own = [path for path in fitting if not is_library(path)]
    for candidates in (fitting, own):
        if len(candidates) == 1:
            return candidates[0]
    if fitting:
        raise TfdbgError(
            f"{text!r} fits {len(fitting)} files.", hint=f"Give more of the path: {', '.join(fitting[:4])}."
        )
    return None


def no_such_source(text: str, paths: Iterable[str], lost: str = "") -> TfdbgError:
    """The error for a file that is neither known nor readable; names the nearest ones.

    `lost` says in a clause why tracebacks that a recording keeps are not there, where it is so.
    """
    known = list(dict.fromkeys(paths))
    if text.isdigit():
        file = PurePath(known[0]).name if len(known) == 1 else "FILE"
        return TfdbgError(
            f"{text} is no source file.",
            hint=f"A line is named with its file: `ps {file}:{text}`; `ls` lists the files.",
        )
    others = "`ls` lists the files." if known else "No tracebacks name a file."
    if lost:
        others = f"No source is known: {lost}." if not known else f"Not all source is known: {lost}."
    return TfdbgError(f"There is no source file {text!r} at hand.", hint=did_you_mean(text, known) or others)
