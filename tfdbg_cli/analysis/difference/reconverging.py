"""Differences that lead to nothing, since both runs compute the same in another way."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from tfdbg_cli.analysis.difference.compared import DIFFERENT, TensorFate, Verdict
from tfdbg_cli.analysis.difference.divergence import InputGap, Judge
from tfdbg_cli.analysis.difference.put_between import hidden_behind_one_op
from tfdbg_cli.analysis.graph.nodes.neighbours import neighbours_of
from tfdbg_cli.model.graph import Node
from tfdbg_cli.model.runs import Run
from tfdbg_cli.model.walks import reached

_MOST_LOOKED_AT = 1000  # nodes between a tensor and the paired ones that are made of it


def without_other_ways(runs: tuple[Run, Run], judge: Judge, verdicts: Sequence[Verdict]) -> Sequence[Verdict]:
    """`verdicts`, where pairs of ops that read different tensors, and of which all that comes agrees, are told apart.

    Two versions of a layer normalize in their own ways: what stands at one place there are no two of a kind. Where
    ops read the same, a difference stays one, though a maximum behind it may swallow it; and so it does where the
    one thing that the ops read otherwise is what one run put in between: a normalization hides that it was scaled.
    """
    if not any(_reads_others(judge, one) for one in verdicts if one.state is TensorFate.NEW):
        return verdicts  # what is built alike has one way only
    by_row = {one.rows[0]: one for one in verdicts}
    nodes: tuple[dict[str, list[int]], dict[str, list[int]]] = {}, {}
    for pair in judge.rows:
        for run, known, row in zip(runs, nodes, pair, strict=True):
            known.setdefault(run.tensors[row].node, []).append(pair[0])
    vanishing: set[int] = set()
    for one in reversed(verdicts):
        if one.state in DIFFERENT and all(
            _leads_to_nothing(run, run.tensors[row].node, known, by_row, vanishing)
            for run, known, row in zip(runs, nodes, one.rows, strict=True)
        ):
            vanishing.add(one.rows[0])
    elsewhere: set[int] = set()
    for one in verdicts:
        if one.rows[0] in vanishing and (_is_structure(runs[0], one) or _is_of_other_ways(judge, one, elsewhere)):
            elsewhere.add(one.rows[0])
    elsewhere -= hidden_behind_one_op(runs, judge, elsewhere, by_row)
    evened = {row for row in vanishing if _is_evened_out(runs[0], by_row[row], nodes[0], judge, elsewhere)}
    return [
        replace(one, state=TensorFate.OTHER_WAY) if one.rows[0] in elsewhere | evened else one for one in verdicts
    ]


def _reads_others(judge: Judge, one: Verdict) -> bool:
    return any(_differs(item) and item.other for item in judge.inputs(one.rows))


def _differs(item: InputGap) -> bool:
    return item.gap is None or item.gap.apart


def _is_structure(run: Run, one: Verdict) -> bool:
    """Whether it is an axis, a shape or the like."""
    tensor = run.tensors[one.rows[0]]
    return tensor.op_type == "Const" and one.gap is not None and one.gap.errors.max_ulp is None


def _is_of_other_ways(judge: Judge, one: Verdict, elsewhere: set[int]) -> bool:
    """Whether all that differs of its inputs is no pair, or is such a tensor itself."""
    differing = [item for item in judge.inputs(one.rows) if _differs(item)]
    return bool(differing) and all(item.other or item.rows[0] in elsewhere for item in differing)


def _is_evened_out(
    run: Run, one: Verdict, nodes: Mapping[str, Sequence[int]], judge: Judge, elsewhere: set[int]
) -> bool:
    """Whether it is a constant, and all that read it agree since what they read beside it is of another way, too.

    So one divides by 16, where the other divides by 1 what it has divided before.
    """
    tensor = run.tensors[one.rows[0]]
    if tensor.op_type != "Const":
        return False
    other = dict(judge.rows)
    readers = [row for reader, _ in run.graph.consumers(tensor.node) for row in nodes.get(reader.name, ())]
    read = [[item for item in judge.inputs((row, other[row])) if item.rows != one.rows] for row in readers]
    return bool(read) and all(any(item.rows[0] in elsewhere for item in beside) for beside in read)


def _leads_to_nothing(
    run: Run, name: str, nodes: Mapping[str, Sequence[int]], by_row: Mapping[int, Verdict], vanishing: set[int]
) -> bool:
    """Whether somebody reads the node, and all the paired tensors that are made of it agree, or vanish themselves.

    `nodes` are those of `run`, with the rows that the pairs of their tensors have in the first one.
    """
    edges = neighbours_of(run.graph)
    start = run.graph.find(name)

    def readers(node: Node) -> list[Node]:
        if node.name != name and node.name in nodes:
            return []
        return [edge.node for edge in edges.outputs(node) if edge.node is not None]

    met = [node for node in reached([start] if start else [], readers, most=_MOST_LOOKED_AT) if node.name != name]
    made = [row for node in met for row in nodes.get(node.name, ())]
    if not made or len(met) >= _MOST_LOOKED_AT or name in {fetch.split(":")[0] for fetch in run.call.fetches}:
        return False
    return all(row in vanishing or row not in by_row or by_row[row].state not in DIFFERENT for row in made)
