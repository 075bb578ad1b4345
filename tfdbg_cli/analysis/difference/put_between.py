"""Differences that begin where one run put an op between two others, and that what comes behind only hides.

Where two runs compute the same in their own ways, they differ in more than one place: what one divides early the
other divides late. Where one of them scales a value, say, and a normalization takes the scale away again, nothing
else sets them apart: that is no other way to the same, though the numbers behind it agree.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence

from tfdbg_cli.analysis.difference.compared import DIFFERENT, Verdict
from tfdbg_cli.analysis.difference.divergence import InputGap, Judge
from tfdbg_cli.analysis.graph.nodes.neighbours import neighbours_of
from tfdbg_cli.analysis.pairing.families import SEEN_THROUGH
from tfdbg_cli.model.graph import Node
from tfdbg_cli.model.names import node_of
from tfdbg_cli.model.runs import Run
from tfdbg_cli.model.walks import reached
from tfdbg_cli.ops.kinds import VARIABLE_READS

_MOST_PUT = 20  # nodes between two others; more are another way to compute


def hidden_behind_one_op(
    runs: tuple[Run, Run], judge: Judge, vanishing: set[int], by_row: Mapping[int, Verdict]
) -> set[int]:
    """Those of `vanishing`, rows of the first run, that differ by nothing but one thing that was put in between."""
    found: set[int] = set()
    for together in _connected(judge, vanishing, by_row):
        read = [item for row in together for item in judge.inputs(by_row[row].rows)]
        others = {item.rows: item for item in read if item.other and (item.gap is None or item.gap.apart)}
        if len(others) != 1 or any(_is_another(item, together) for item in read):
            continue
        put = next(iter(others.values()))
        if _is_put_between(runs, judge, put, by_row) and not _is_evened_out(runs, judge, together, put):
            found |= together
    return found


def _connected(judge: Judge, rows: set[int], by_row: Mapping[int, Verdict]) -> Iterator[set[int]]:
    """The rows in groups of which each holds together: one was made of another, or of the same things as another."""
    groups: list[tuple[set[int], set[tuple[int | None, int | None]]]] = []
    for row in sorted(rows):
        read = {item.rows for item in judge.inputs(by_row[row].rows) if item.gap is None or item.gap.apart}
        members, reads = {row}, {by_row[row].rows, *read}
        apart = []
        for group in groups:
            if group[1].isdisjoint(reads):
                apart.append(group)
            else:
                members |= group[0]
                reads |= group[1]
        groups = [*apart, (members, reads)]
    return (members for members, _ in groups)


def _is_another(item: InputGap, together: set[int]) -> bool:
    """Whether an input that is a pair differs, and for another reason."""
    return not item.other and item.state in DIFFERENT and item.rows[0] not in together


def _is_evened_out(runs: tuple[Run, Run], judge: Judge, together: set[int], put: InputGap) -> bool:
    """Whether something else that sets the two runs apart reads what differs, or is read beside it."""
    partners: Sequence[Mapping[int, int]] = dict(judge.rows), {b: a for a, b in judge.rows}
    for side, run in enumerate(runs):
        rows = together if side == 0 else {partners[0][row] for row in together}
        for reader, at in _readers(run, rows, partners[side]):
            if not at and reader.op_type not in SEEN_THROUGH:
                return True
            for row in at:
                pair = (row, partners[0][row]) if side == 0 else (partners[1][row], row)
                if any(_sets_apart(item, together, put) for item in judge.inputs(pair)):
                    return True
    return False


def _readers(run: Run, rows: set[int], paired: Container[int]) -> Iterator[tuple[Node, list[int]]]:
    """The nodes that read `rows` of `run`, each with those of its rows that are `paired`.

    What reads without computing anything, and has no pair, is followed to its readers.
    """
    edges = neighbours_of(run.graph)
    read = [node for row in rows if (node := run.graph.find(run.tensors[row].node)) is not None]
    names = {node.name for node in read}

    def pairs(node: Node) -> list[int]:
        return [row for row in run.tensors.named(node.name) if row in paired]

    def further(name: str) -> Iterator[str]:
        node = run.graph.find(name)
        if node is not None and (name in names or (node.op_type in SEEN_THROUGH and not pairs(node))):
            yield from (edge.node.name for edge in edges.outputs(node) if edge.node is not None)

    for name in reached([node.name for node in read], further):
        node = run.graph.find(name)
        if node is not None and name not in names:
            yield node, pairs(node)


def _sets_apart(item: InputGap, together: set[int], put: InputGap) -> bool:
    """Whether an input differs, and for another reason than what was put in between."""
    if item.gap is None or not item.gap.apart or item.rows == put.rows:
        return False
    return item.other or item.rows[0] not in together


def _is_put_between(runs: tuple[Run, Run], judge: Judge, item: InputGap, by_row: Mapping[int, Verdict]) -> bool:
    """Whether one of the two tensors was made, by ops that only one run has, of the other one and of constants."""
    partners: Sequence[Mapping[int, int]] = dict(judge.rows), {b: a for a, b in judge.rows}
    for side in (0, 1):
        own, other = item.rows[side], item.rows[1 - side]
        if own is None or other is None or own in partners[side] or other not in partners[1 - side]:
            continue
        partner = partners[1 - side][other]
        first = partner if side == 0 else other
        if first in by_row and by_row[first].state in DIFFERENT:
            continue
        if _made_of(runs[side], node_of(item.names[side]), partners[side]) == runs[side].tensors[partner].node:
            return True
    return False


def _is_given(node: Node) -> bool:
    """Whether it is a constant, or what a variable holds."""
    return node.op_type == "Const" or node.op_type in VARIABLE_READS


def _made_of(run: Run, name: str, paired: Mapping[int, int]) -> str:
    """The node of the paired tensor that the node `name` is made of, step by step with constants and variables.

    Empty where it is made of more: what is computed of the value itself, a maximum say, is another way to compute.
    """
    edges = neighbours_of(run.graph)
    node = run.graph.find(name)
    for _ in range(_MOST_PUT):
        if node is None:
            break
        if node.name != name and any(row in paired for row in run.tensors.named(node.name)):
            return node.name
        reads = [edge.node for edge in edges.inputs(node) if edge.node is not None and not _is_given(edge.node)]
        node = reads[0] if len({read.name for read in reads}) == 1 else None
    return ""
