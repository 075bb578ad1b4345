"""Two runs compared: what differs, where that began, and what is only rounding."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from tfdbg_cli.analysis.difference.compared import DIFFERENT, TensorFate, Verdict
from tfdbg_cli.analysis.difference.divergence import InputGap, Judge, Told, silently
from tfdbg_cli.analysis.difference.graph_changes import GraphChange, graph_changes
from tfdbg_cli.analysis.difference.left_variables import LeftGaps, left_by
from tfdbg_cli.analysis.difference.own_data import of_two_workers, without_own_data
from tfdbg_cli.analysis.difference.reconverging import without_other_ways
from tfdbg_cli.analysis.difference.tolerance import Tolerance
from tfdbg_cli.analysis.graph.making.eager_past import with_like_arguments
from tfdbg_cli.analysis.graph.nodes.membership import membership_of
from tfdbg_cli.analysis.pairing.kept_pairs import KeptPairs
from tfdbg_cli.analysis.pairing.renames import Renames
from tfdbg_cli.analysis.pairing.replicas import paired_replicas, replica_of
from tfdbg_cli.analysis.pairing.tensor_pairs import RowPair, TensorPairs
from tfdbg_cli.model.runs import Run
from tfdbg_cli.model.values import Lack, NoValue


@dataclass(frozen=True, slots=True)
class DamagedTensor:
    """A tensor that could not be compared since what is kept of it is damaged, and `why`.

    `runs` are the numbers of the runs in which it is.
    """

    name: str
    why: NoValue
    runs: Sequence[int]


@dataclass(frozen=True)
class Comparison:
    """Two runs beside each other. `verdicts` are those of all pairs that are not equal, in the order they ran.

    `peer` is what each of both is, where both were given data of their own: a worker, or a replica.
    """

    runs: tuple[Run, Run]
    tolerance: Tolerance
    pairs: TensorPairs
    verdicts: Sequence[Verdict]
    precision: RowPair | None
    judge: Judge
    peer: str = ""

    @cached_property
    def left(self) -> LeftGaps:
        """What lies between the variables of both after these runs, from which their next ones go on."""
        return {**self.judge.left, **left_by(self.runs, self.pairs.rows, self.verdicts)}

    @cached_property
    def first(self) -> Verdict | None:
        """The first divergence."""
        return next((one for one in self.verdicts if one.state is TensorFate.NEW), None)

    @cached_property
    def differing(self) -> Sequence[Verdict]:
        """The pairs that differ; with a tolerance that a user asked for those, too, that rounding explains."""
        counted = DIFFERENT | ({TensorFate.GROWN} if self.tolerance.asked else set())
        return [one for one in self.verdicts if one.state in counted]

    @cached_property
    def grown(self) -> Sequence[Verdict]:
        """The pairs in which rounding has grown beyond the tolerance."""
        return [one for one in self.verdicts if one.state is TensorFate.GROWN]

    @cached_property
    def counts(self) -> Counter[TensorFate]:
        """How many pairs there are of each state."""
        found = Counter(one.state for one in self.verdicts)
        found[TensorFate.EQUAL] = len(self.pairs.rows) - len(self.verdicts)
        return found

    @property
    def same(self) -> bool:
        """Whether nothing differs of what could be compared."""
        return not self.differing

    @cached_property
    def damaged(self) -> Sequence[DamagedTensor]:
        """The tensors of these runs that could not be compared since what is kept of them is damaged."""
        unknown = [one.rows for one in self.verdicts if one.state is TensorFate.UNKNOWN]
        found = []
        for run, row in [(run, rows[side]) for rows in unknown for side, run in enumerate(self.runs)]:
            value = run.tensors.value(row)
            if isinstance(value, NoValue) and value.lack is Lack.DAMAGED:
                found.append(DamagedTensor(str(run.tensors[row].name), value, (run.call.number,)))
        return found

    @property
    def comparable(self) -> bool:
        """Whether the values of a single pair were compared at all."""
        return self.counts[TensorFate.UNKNOWN] < len(self.pairs.rows)

    @property
    def of_graphs_alone(self) -> bool:
        """Whether both are graphs out of files, which hold no values: only their graphs can be compared."""
        return all(run.is_graph_alone for run in self.runs)

    def inputs(self, verdict: Verdict) -> Sequence[InputGap]:
        """What the two ops read, side by side."""
        return self.judge.inputs(verdict.rows)

    def way_of_growth(self) -> Sequence[Verdict]:
        """Along which tensors rounding grew most, from where it began to the worst of them."""
        worst = max(self.grown, key=lambda one: one.gap.errors.relative if one.gap else 0.0, default=None)
        by_row = {one.rows: one for one in self.verdicts if one.state in {TensorFate.ROUNDED, TensorFate.GROWN}}
        way: list[Verdict] = []
        while worst is not None and worst not in way:
            way.append(worst)
            given = [
                by_row[rows]
                for one in self.inputs(worst)
                if (rows := (one.rows[0], one.rows[1])) in by_row and one.gap is not None
            ]
            worst = max(given, key=lambda one: one.gap.errors.relative if one.gap else 0.0, default=None)
        return way[::-1]

    @cached_property
    def graph_changes(self) -> Sequence[GraphChange]:
        """What sets their graphs apart."""
        return list(graph_changes(*self.runs, self.pairs.nodes))


def compared_runs(
    first: Run,
    second: Run,
    tolerance: Tolerance | None = None,
    pairing: KeptPairs | None = None,
    left: LeftGaps | None = None,
    told: Told = silently,
) -> Comparison:
    """Compare two runs. Values are read two at a time. `left` is what earlier pairs of runs, which agree, left.

    `pairing` may have paired these. `told` hears which share of the values was compared.
    """
    wanted = tolerance or Tolerance()
    first, second = with_like_arguments(first, second)
    pairs = (pairing or KeptPairs(Renames())).paired(first, second)
    judge = Judge((first, second), pairs, wanted, left or {})
    verdicts = judge.verdicts(told)
    if of_two_workers(first.call, second.call):
        verdicts = without_own_data(first, judge, verdicts)
        return Comparison((first, second), wanted, pairs, verdicts, judge.precision, judge, "worker")
    verdicts = without_other_ways((first, second), judge, verdicts)
    if all(one.state is not TensorFate.NEW for one in verdicts):  # what some seemed to follow from is no difference
        verdicts = judge.judged_again(verdicts)
    return Comparison((first, second), wanted, pairs, verdicts, judge.precision, judge)


def compared_replicas(
    run: Run,
    numbers: tuple[int, int],
    tolerance: Tolerance | None = None,
    renames: Renames | None = None,
    left: LeftGaps | None = None,
    told: Told = silently,
) -> Comparison:
    """Compare two replicas of `run`, which are there. `left` is what earlier runs, in which they agree, left.

    `told` hears which share of the values was compared.
    """
    wanted = tolerance or Tolerance()
    membership = membership_of(run)
    first, second = (replica_of(run, membership, number) for number in numbers)
    pairs = paired_replicas(first, second, membership, renames or Renames())
    runs = first.run, second.run
    judge = Judge(runs, pairs, wanted, left or {})
    verdicts = without_own_data(first.run, judge, judge.verdicts(told), first.common)
    return Comparison(runs, wanted, pairs, verdicts, judge.precision, judge, "replica")
