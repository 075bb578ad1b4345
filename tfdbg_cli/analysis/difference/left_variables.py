"""What a pair of runs that agree but for rounding left in their variables, from which the next pair goes on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tfdbg_cli.analysis.difference.compared import Gap, Verdict
from tfdbg_cli.model.graph import Node
from tfdbg_cli.model.runs import Run
from tfdbg_cli.model.updates import UPDATED_VARIABLE, updated_variable
from tfdbg_cli.ops.kinds import REFERENCE_VARIABLES, VARIABLE_READS

LeftGaps = Mapping[tuple[str, str], Gap]
"""What lay between two variables, by their names in both runs, after the last update of either."""


def left_by(runs: tuple[Run, Run], verdicts: Sequence[Verdict]) -> LeftGaps:
    """What lies between the variables that both runs updated, where that is something; equal ones are left out."""
    left: dict[tuple[str, str], Gap] = {}
    for verdict in verdicts:
        tensors = [run.tensors[row] for run, row in zip(runs, verdict.rows, strict=True)]
        if verdict.gap is not None and all(tensor.op_type == UPDATED_VARIABLE for tensor in tensors):
            left[updated_variable(tensors[0].node), updated_variable(tensors[1].node)] = verdict.gap
    return left


def is_as_left(nodes: tuple[Node, Node], gap: Gap, left: LeftGaps) -> bool:
    """Whether two ops that give variables, with `gap` between them, found in these what the runs before left."""
    names = [_variable_given_by(node) for node in nodes]
    return bool(names[0] and names[1]) and left.get((names[0], names[1])) == gap


def _variable_given_by(node: Node) -> str:
    if node.op_type in REFERENCE_VARIABLES:
        return node.name
    return node.inputs[0].node if node.op_type in VARIABLE_READS and node.inputs else ""
