"""Whether tensors and graph of a dump agree. What does not is said and shown all the same."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tfdbg_cli.formats.dump_listing import VALUE_OP, DumpFile
from tfdbg_cli.model.control_flow import ENTER, EXIT, MERGE, NEXT_ITERATION
from tfdbg_cli.model.graph import Graph

# A loop's Merge has only one of its inputs when it runs, and its back edges arrive later.
_LOOP_OPS = MERGE | ENTER | NEXT_ITERATION | EXIT


def check_dump(files: Sequence[DumpFile], graph: Graph, devices_with_graph: set[str]) -> Iterator[str]:
    """Sentences about dumped nodes that the graph lacks and times that contradict it; `files` in order of time."""
    strangers = {
        (file.device, file.node)
        for file in files
        if file.device in devices_with_graph and graph.find(file.node, file.device) is None
    }
    if strangers:
        _, first = min(strangers)
        yield (
            f"{_count(len(strangers), 'node')} with dumped tensors {_be(len(strangers))} not in the saved graph"
            f" (first {first!r}); did several runs write into this folder?"
        )
    contradictions = list(_contradictions(files, graph))
    if contradictions:
        node, read = contradictions[0]
        yield (
            f"The times of {_count(len(contradictions), 'tensor')} contradict the graph (first {node!r}, dumped"
            f" before its input {read!r}); the order shown may not be the order of execution."
        )


def _contradictions(files: Sequence[DumpFile], graph: Graph) -> Iterator[tuple[str, str]]:
    first: dict[tuple[str, str, int], int] = {}
    for file in files:
        if file.debug_op == VALUE_OP:
            first.setdefault((file.device, file.node, file.slot), file.time_us)
    seen: set[tuple[str, str]] = set()
    for file in files:
        key = (file.device, file.node)
        if key in seen:
            continue
        seen.add(key)
        node = graph.find(file.node, file.device)
        if node is None or node.op_type in _LOOP_OPS:
            continue
        for read in node.inputs:
            time_us = first.get((file.device, read.node, read.slot))
            if time_us is not None and time_us > file.time_us:
                reader = graph.find(read.node, file.device)
                if reader is None or reader.op_type not in _LOOP_OPS:
                    yield file.node, str(read)
                    break


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'s' * (number != 1)}"


def _be(number: int) -> str:
    return "is" if number == 1 else "are"
