"""Whether tensors and graph of a dump agree. What does not is said and shown all the same."""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set

from tfdbg_cli.formats.dumps.listing import VALUE_OP, DumpFile
from tfdbg_cli.model.graph import Graph, Node
from tfdbg_cli.model.names import TensorName
from tfdbg_cli.model.units import count_text
from tfdbg_cli.ops.kinds import ENTER, EXIT, MERGE, NEXT_ITERATION

# A loop's Merge has only one of its inputs when it runs, and its back edges arrive later.
_LOOP_OPS = MERGE | ENTER | NEXT_ITERATION | EXIT


def check_dump(files: Sequence[DumpFile], graph: Graph, devices_with_graph: Set[str]) -> Iterator[str]:
    """Sentences about dumped nodes that the graph lacks and times that contradict it; `files` in order of time."""
    strange = strangers(files, graph, devices_with_graph)
    if strange:
        _, first = min(strange)
        yield (
            f"{count_text(len(strange), 'node')} with dumped tensors {_be(len(strange))} not in the saved graph"
            f" (first {first!r}); did several runs write into this folder?"
        )
    contradicting = list(contradictions(files, graph))
    if contradicting:
        file, read = contradicting[0]
        yield (
            f"The times of {count_text(len(contradicting), 'tensor')} contradict the graph (first {file.node!r}, "
            f"dumped before its input {str(read)!r}); the order shown may not be the order of execution."
        )


def strangers(files: Sequence[DumpFile], graph: Graph, devices_with_graph: Set[str]) -> set[tuple[str, str]]:
    """Device and name of each dumped node that `graph` lacks, on the devices whose graph is known."""
    return {
        (file.device, file.node)
        for file in files
        if file.device in devices_with_graph and graph.find(file.node, file.device) is None
    }


def contradictions(files: Sequence[DumpFile], graph: Graph) -> Iterator[tuple[DumpFile, TensorName]]:
    """Dumps that are older than what they read, each with the first such input; `files` in order of time."""
    devices: dict[str, tuple[set[str], set[tuple[str, int]]]] = {}  # nodes and tensors that were dumped there
    early: list[tuple[DumpFile, Node]] = []  # what had an input that was not: nearly all inputs were
    for file in files:
        _, _, name, slot, debug_op, device, _ = file
        seen, dumped = devices.get(device) or devices.setdefault(device, (set(), set()))
        if debug_op == VALUE_OP:
            dumped.add((name, slot))
        if name not in seen:
            seen.add(name)
            node = graph.find(name, device)
            if node is not None and not dumped.issuperset(node.inputs) and node.op_type not in _LOOP_OPS:
                early.append((file, node))
    if not early:
        return
    first: dict[tuple[str, str, int], int] = {}
    for file in files:
        if file.debug_op == VALUE_OP:
            first.setdefault((file.device, file.node, file.slot), file.time_us)
    for file, node in early:
        for read in node.inputs:
            time_us = first.get((file.device, read.node, read.slot))
            if time_us is not None and time_us > file.time_us:
                reader = graph.find(read.node, file.device)
                if reader is None or reader.op_type not in _LOOP_OPS:
                    yield file, read
                    break


def _be(number: int) -> str:
    return "is" if number == 1 else "are"
