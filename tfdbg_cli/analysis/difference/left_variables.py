"""What a pair of runs that agree but for rounding left in their variables, from which the next pair goes on."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from tfdbg_cli.analysis.difference.compared import Gap, TensorChange, TensorFate, Verdict
from tfdbg_cli.model.graph import Node
from tfdbg_cli.model.runs import Run
from tfdbg_cli.model.updates import UPDATED_VARIABLE, updated_variable
from tfdbg_cli.ops.kinds import REFERENCE_VARIABLES, VARIABLE_READS

_SLACK = 1 + 1e-6  # sums of differences are rounded, too


@dataclass(frozen=True, slots=True)
class LeftGap:
    """What lay between a variable of one run and of the other after the last update of either; None for nothing.

    `beyond` is by how much more they may differ: what is recorded was made again, as of a function that XLA compiles,
    and lies that far from what the programs kept. `by_nature` says that each of two workers, or replicas, updated a
    variable of its own with what it was given: then they differ in the next run, too, and rounding is not the reason.
    """

    gap: Gap | None
    beyond: float = 0.0
    by_nature: bool = False

    def explains(self, gap: Gap) -> bool:
        """Whether the next runs, which find `gap` between the variables, found what these left."""
        if gap == self.gap:
            return True
        most = self.beyond + (0.0 if self.gap is None else self.gap.errors.max_abs)
        plain = gap.change is TensorChange.VALUES and not gap.errors.nonfinite
        return self.beyond > 0 and plain and gap.errors.max_abs <= most * _SLACK


LeftGaps = Mapping[tuple[str, str], LeftGap]
"""What was left in variables, by their names in both runs."""


def left_by(runs: tuple[Run, Run], rows: Iterable[tuple[int, int]], verdicts: Sequence[Verdict]) -> LeftGaps:
    """What lies between variables that both runs updated, of the pairs `rows`; without those that are alike."""
    gaps = {verdict.rows: verdict.gap for verdict in verdicts}
    own = {verdict.rows for verdict in verdicts if verdict.state is TensorFate.OWN_DATA}
    strays = [_made_otherwise(run) for run in runs]
    left: dict[tuple[str, str], LeftGap] = {}
    for pair in rows:
        tensors = [run.tensors[row] for run, row in zip(runs, pair, strict=True)]
        if any(tensor.op_type != UPDATED_VARIABLE for tensor in tensors):
            continue
        names = updated_variable(tensors[0].node), updated_variable(tensors[1].node)
        beyond = sum(known.get(name, 0.0) for known, name in zip(strays, names, strict=True))
        if gaps.get(pair) is not None or beyond:
            left[names] = LeftGap(gaps.get(pair), beyond, by_nature=pair in own)
    return left


def _made_otherwise(run: Run) -> Mapping[str, float]:
    """By how much variables that are recorded of `run` differ from the program's own."""
    told = () if run.exactness is None else run.exactness.differs
    return {parting.name: parting.max_abs for parting in told if parting.max_abs is not None}


def as_left(nodes: tuple[Node, Node], gap: Gap, left: LeftGaps) -> LeftGap | None:
    """What the runs before left in the variables that two ops give, where it explains the `gap` between these."""
    names = [_variable_given_by(node) for node in nodes]
    found = left.get((names[0], names[1])) if names[0] and names[1] else None
    return found if found is not None and found.explains(gap) else None


def _variable_given_by(node: Node) -> str:
    if node.op_type in REFERENCE_VARIABLES:
        return node.name
    return node.inputs[0].node if node.op_type in VARIABLE_READS and node.inputs else ""
