"""Where two runs part: which tensors differ for a reason of their own, which follow others, and which only round."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from tfdbg_cli.analysis.difference.compared import (
    DIFFERENT,
    Gap,
    TensorChange,
    TensorFate,
    Verdict,
    flow_between,
    gap_between,
    gap_of_values,
)
from tfdbg_cli.analysis.difference.errors import Errors
from tfdbg_cli.analysis.difference.left_variables import LeftGap, LeftGaps, as_left
from tfdbg_cli.analysis.difference.rounding import (
    IMPLAUSIBLE,
    MOST_GROWTH,
    UNLIKE,
    ErrorFlow,
    adds_up,
    rounding_decides,
    rounding_explains,
    rounding_is_left,
)
from tfdbg_cli.analysis.difference.same_function import is_same_function
from tfdbg_cli.analysis.difference.same_meaning import means_the_same
from tfdbg_cli.analysis.difference.set_values import set_in
from tfdbg_cli.analysis.difference.tensors_read import MOST_LOOKED_THROUGH, TensorRead, TensorsRead
from tfdbg_cli.analysis.difference.tolerance import Tolerance
from tfdbg_cli.analysis.graph.nodes.feeds import fed_value
from tfdbg_cli.analysis.graph.nodes.neighbours import neighbours_of
from tfdbg_cli.analysis.pairing.families import COMMUTATIVE, family_of
from tfdbg_cli.analysis.pairing.tensor_pairs import RowPair, TensorPairs
from tfdbg_cli.model.graph import Node
from tfdbg_cli.model.names import TensorName
from tfdbg_cli.model.runs import Run
from tfdbg_cli.model.walks import reached
from tfdbg_cli.ops.kinds import CALLS, CONDITIONS, LOOPS

_CALLING = LOOPS | CONDITIONS | CALLS
Told = Callable[[float], None]
"""What hears which share of some work is done, from 0 to 1."""
_MORE = 2.0  # times the relative error of an input, where another one is not known


def silently(share: float) -> None:
    """Nothing: nobody waits to hear."""


@dataclass(frozen=True, slots=True)
class InputGap:
    """An input of a pair of ops: the tensor that the one reads, that the other reads, and what lies between them.

    A row is None where the run has no such tensor. `other` says that the two are no pair: the ops read different
    tensors at this place. `given` says that both are values which the runs were given, and no tensor shows;
    `by_nature` that these are variables of two workers, or replicas, which were to differ before.
    """

    names: tuple[str, str]
    rows: tuple[int | None, int | None]
    gap: Gap | None
    state: TensorFate
    other: bool = False
    given: bool = False
    by_nature: bool = False


class Judge:
    """Judges the pairs of two runs one by one, in the order in which they ran; what comes before is known then.

    `left` is what earlier runs, which agree, left between the variables of both.
    """

    def __init__(self, runs: tuple[Run, Run], pairs: TensorPairs, tolerance: Tolerance, left: LeftGaps) -> None:
        self.left = left
        self._runs = runs
        self._stores = runs[0].tensors, runs[1].tensors
        self._reads = TensorsRead(runs[0]), TensorsRead(runs[1])
        self._tolerance = tolerance
        self._pairs = pairs
        self._other = dict(pairs.rows), {b: a for a, b in pairs.rows}
        self._known: dict[int, Verdict] = {}  # by the row of the first run; what is equal is left out
        self._equal: set[int] = set()
        self.signed_zeros: dict[RowPair, int] = {}  # of equal pairs, how many elements are 0 in one, -0 in the other
        # By the rows and by whether nothing is said to lie between them: a tensor flows into several ops.
        self._flows: dict[tuple[RowPair, bool], ErrorFlow | None] = {}
        self.precision: RowPair | None = None  # the first pair of which one is computed with fewer digits

    def verdicts(self, told: Told) -> Sequence[Verdict]:
        """Of all pairs, in their order, but for those that are equal. `told` hears the share that is done."""
        found = []
        for done, rows in enumerate(self._pairs.rows):
            told(done / len(self._pairs.rows))
            verdict = self._judged(rows)
            if verdict.state is TensorFate.EQUAL:
                self._equal.add(rows[0])
            else:
                self._known[rows[0]] = verdict
                found.append(verdict)
        return found

    def judged_again(self, verdicts: Sequence[Verdict]) -> Sequence[Verdict]:
        """`verdicts`, which somebody has looked through; those that follow from others are judged anew by these."""
        self._known = {one.rows[0]: one for one in verdicts}
        found = []
        for one in verdicts:
            verdict = self._judged(one.rows) if one.state is TensorFate.FOLLOWS else one
            self._known[one.rows[0]] = verdict
            found.append(verdict)
        return found

    @property
    def rows(self) -> Sequence[RowPair]:
        """The pairs that it judges, in their order."""
        return self._pairs.rows

    def inputs(self, rows: RowPair) -> Sequence[InputGap]:
        """What a pair of ops read, input by input, in the order of the first."""
        nodes = [self._reads[side].node(row) for side, row in enumerate(rows)]
        if nodes[0] is None or nodes[1] is None:
            return ()
        reads = [self._reads[side].of(node, rows[side]) for side, node in enumerate(nodes) if node is not None]
        if len(reads[0]) != len(reads[1]):
            return self._unlike(reads)
        if family_of(nodes[0]) in COMMUTATIVE and self._swapped(reads):
            reads[1] = reads[1][::-1]
        return [self._input(one, two) for one, two in zip(*reads, strict=True)]

    def as_left(self, rows: RowPair, gap: Gap) -> LeftGap | None:
        """What earlier runs left in the variables that the ops of a pair give, where it explains `gap`."""
        one, two = (reads.node(row) for reads, row in zip(self._reads, rows, strict=True))
        return None if one is None or two is None or not self.left else as_left((one, two), gap, self.left)

    def _judged(self, rows: RowPair) -> Verdict:
        gap = gap_between(self._stores, rows, self._tolerance)
        if gap is None:
            return Verdict(rows, TensorFate.UNKNOWN, None)
        if gap.coarser and self.precision is None:
            self.precision = rows
        if gap.exact:
            if gap.zeros:
                self.signed_zeros[rows] = gap.zeros
            return Verdict(rows, TensorFate.EQUAL, gap)
        if self._is_set(rows):
            return Verdict(rows, TensorFate.NEW, gap)
        if not gap.apart:
            return Verdict(rows, TensorFate.ROUNDED, gap)
        if means_the_same(self._runs, rows):
            return Verdict(rows, TensorFate.OTHER_WAY, gap)
        left = self.as_left(rows, gap)
        if left is not None:
            return Verdict(rows, TensorFate.NEW if left.by_nature else TensorFate.GROWN, gap)
        inputs = self.inputs(rows)
        growth = self._growth(gap, inputs)
        if any(one.given and one.state is TensorFate.NEW for one in inputs):
            return Verdict(rows, TensorFate.NEW, gap, growth)
        if (
            any(one.given and one.state is TensorFate.GROWN for one in inputs)
            and self._stores[0][rows[0]].op_type in _CALLING
        ):
            return Verdict(rows, TensorFate.GROWN, gap, growth)  # what is computed inside is judged by itself
        inputs = [one for one in inputs if not one.given]
        if any(one.state in DIFFERENT for one in inputs):
            return Verdict(rows, TensorFate.FOLLOWS, gap, growth)
        if any(one.other and not self._is_rounding(one) for one in inputs):
            return Verdict(rows, TensorFate.NEW, gap, growth)
        return Verdict(rows, TensorFate.GROWN if self._explained(rows, gap, inputs) else TensorFate.NEW, gap, growth)

    def _is_set(self, rows: RowPair) -> bool:
        """Whether `set` put one of a pair in its place: that is no rounding, however little it is."""
        return any(
            set_in(run, store[row].name, reads.node(row)) is not None
            for run, store, reads, row in zip(self._runs, self._stores, self._reads, rows, strict=True)
        )

    def _explained(self, rows: RowPair, gap: Gap, inputs: Sequence[InputGap]) -> bool:
        if gap.change is not TensorChange.VALUES or not inputs:
            return False
        given = max((one.gap.errors.relative for one in inputs if one.gap is not None), default=0.0)
        if any(one.gap is None for one in inputs):  # what is not known need not have made more of what is
            return gap.errors.relative <= min(_MORE * given, IMPLAUSIBLE)
        flows = [flow for one in inputs if (flow := self._flow(_both(one.rows), one.gap)) is not None]
        if any(not one.eps and not one.exact for one in flows):
            return True  # an index or a condition was decided otherwise, by rounding
        output = self._flow(rows, gap)
        tensors = [store[row] for store, row in zip(self._stores, rows, strict=True)]
        types = {tensor.op_type for tensor in tensors}
        if output is None:
            return False
        if any(rounding_decides(one, flows, gap.errors.beyond, gap.errors.size) for one in types):
            return True
        if any(adds_up(one, flows, output) for one in types) or self._is_same_function(rows, inputs):
            return True
        if gap.errors.relative > max(IMPLAUSIBLE, _MORE * given) and not any(map(_is_noise, inputs)):
            return any(rounding_is_left(one, flows, output) for one in types)
        on_gpu = any("GPU" in tensor.device for tensor in tensors)
        return bool(output.eps) and any(rounding_explains(one, flows, output, on_gpu=on_gpu) for one in types)

    def _flow(self, rows: RowPair, gap: Gap | None) -> ErrorFlow | None:
        key = rows, gap is not None and gap.exact
        if key not in self._flows:
            self._flows[key] = flow_between(self._stores, rows, gap)
        return self._flows[key]

    def _is_same_function(self, rows: RowPair, inputs: Sequence[InputGap]) -> bool:
        one, two = (reads.node(row) for reads, row in zip(self._reads, rows, strict=True))
        given = [_both(gap.rows) for gap in inputs if None not in gap.rows]
        if one is None or two is None or len(given) < len(inputs):
            return False
        return is_same_function((one, two), self._stores, rows, given)

    def _growth(self, gap: Gap, inputs: Sequence[InputGap]) -> float:
        given = max((one.gap.errors.relative for one in inputs if one.gap is not None), default=0.0)
        return gap.errors.relative / given if given else 0.0

    def _unlike(self, reads: Sequence[Sequence[TensorRead]]) -> Sequence[InputGap]:
        """Ops with another number of inputs: those that are pairs, and what each reads alone."""
        found = []
        rows = [{row: name for name, row in side if row is not None} for side in reads]
        for row, name in rows[0].items():
            other = self._other[0].get(row)
            if other is not None and other in rows[1]:
                found.append(self._input((name, row), (rows[1].pop(other), other)))
        return found

    def _swapped(self, reads: Sequence[Sequence[TensorRead]]) -> bool:
        ours, theirs = [row for _, row in reads[0]], [row for _, row in reads[1]]
        pairs = [self._other[0].get(row) if row is not None else None for row in ours]
        return len(pairs) == 2 and pairs[0] != theirs[0] and (pairs[0] == theirs[1] or pairs[1] == theirs[0])

    def _input(self, one: TensorRead, two: TensorRead) -> InputGap:
        names, rows = (str(one[0]), str(two[0])), (one[1], two[1])
        if rows[0] is None or rows[1] is None:
            return self._given((one[0], two[0]), rows)
        if self._other[0].get(rows[0]) == rows[1]:
            verdict = self._known.get(rows[0])
            if verdict is not None and verdict.state is not TensorFate.OTHER_WAY:
                return InputGap(names, rows, verdict.gap, verdict.state)
            if verdict is not None or rows[0] in self._equal:
                zeros = self.signed_zeros.get(_both(rows), 0)
                return InputGap(names, rows, Gap(TensorChange.VALUES, Errors(0), zeros=zeros), TensorFate.EQUAL)
            gap = gap_between(self._stores, _both(rows), self._tolerance)
            return InputGap(names, rows, gap, TensorFate.EQUAL)
        made_of = [reads.before_casts(row) for reads, row in zip(self._reads, _both(rows), strict=True)]
        if made_of != list(rows) and self._other[0].get(made_of[0]) == made_of[1]:  # one computes with fewer digits
            verdict = self._known.get(made_of[0])
            state = TensorFate.ROUNDED if verdict is None else verdict.state
            return InputGap(names, rows, gap_between(self._stores, _both(rows), self._tolerance), state)
        return InputGap(
            names, rows, gap_between(self._stores, _both(rows), self._tolerance), self._state_of(rows), other=True
        )

    def _given(self, names: tuple[TensorName, TensorName], rows: tuple[int | None, int | None]) -> InputGap:
        """Two inputs that no tensors of both runs show: what the runs were given, if that is known."""
        texts = str(names[0]), str(names[1])
        first, second = (fed_value(run.call.feeds, name) for run, name in zip(self._runs, names, strict=True))
        if first is None or second is None or rows != (None, None):
            return InputGap(texts, rows, None, TensorFate.UNKNOWN)
        gap = gap_of_values(first, second, self._tolerance)
        state = TensorFate.EQUAL if gap.exact else TensorFate.NEW if gap.apart else TensorFate.ROUNDED
        left = self.left.get((names[0].node, names[1].node))
        if state is not TensorFate.NEW or left is None or not left.explains(gap):
            return InputGap(texts, rows, gap, state, given=True)
        state = TensorFate.NEW if left.by_nature else TensorFate.GROWN  # a variable, as the runs before left it
        return InputGap(texts, rows, gap, state, given=True, by_nature=left.by_nature)

    def _state_of(self, rows: tuple[int | None, int | None]) -> TensorFate:
        """What is known of two tensors that are no pair: what their own pairs, or what they were made of, are."""
        states = []
        for side, row in enumerate(rows):
            first = row if side == 0 else self._other[1].get(row) if row is not None else None
            if first is not None and (verdict := self._known.get(first)) is not None:
                states.append(verdict.state)
            elif row is not None and row not in self._other[side]:
                states.append(self._inherited(side, row))
        return next((state for state in states if state in DIFFERENT), TensorFate.EQUAL)

    def _inherited(self, side: int, row: int) -> TensorFate:
        """Of a tensor that only one run has: whether one of the paired tensors that it was made of differs."""
        return (
            TensorFate.FOLLOWS
            if any(one.state in DIFFERENT for one in self._made_of(side, row))
            else TensorFate.EQUAL
        )

    def _is_rounding(self, one: InputGap) -> bool:
        """Whether two tensors that are no pair are so close that rounding of what they were made of explains it."""
        gap = one.gap
        if gap is None or gap.change is not TensorChange.VALUES:
            return False
        if not gap.apart:
            return True
        between = self._put_between(_both(one.rows))
        if between is not None:  # an op that one run alone has: it may round, and do nothing else
            eps = 0.0 if (flow := self._flow(_both(one.rows), gap)) is None else flow.eps
            return gap.errors.relative <= 2 * max(between, 2 * eps)
        flow = self._flow(_both(one.rows), gap)
        made_of = [known.gap for side, row in enumerate(_both(one.rows)) for known in self._made_of(side, row)]
        given = max((known.errors.relative for known in made_of if known is not None), default=0.0)
        if flow is None or not flow.eps:
            return False
        return gap.errors.relative <= min(MOST_GROWTH * max(given, 4 * flow.eps), max(given, UNLIKE))

    def _put_between(self, rows: RowPair) -> float | None:
        """How far off that tensor is, of the two at `rows`, of which the other run first made another one to read.

        Relative to its largest element; None where neither was made of the other so.
        """
        first, second = rows
        read = first if first in self._nearest(1, second) else self._other[1].get(second)
        if read is None or (read != first and read not in self._nearest(0, first)):
            return None
        verdict = self._known.get(read)
        return 0.0 if verdict is None or verdict.gap is None else verdict.gap.errors.relative

    def _nearest(self, side: int, row: int) -> set[int]:
        """The nearest paired tensors that a tensor without a pair was made of, by their rows in the first run."""
        return set() if row in self._other[side] else set(self._behind(side, row))

    def _made_of(self, side: int, row: int) -> Iterator[Verdict]:
        """What is known of the nearest paired tensors that a tensor was made of, and that are not equal."""
        return (self._known[first] for first in self._behind(side, row) if first in self._known)

    def _behind(self, side: int, row: int) -> Iterator[int]:
        """The nearest paired tensors on the way back from a tensor, by their rows in the first run."""
        node = self._reads[side].node(row)
        if node is None:
            return
        edges = neighbours_of(self._runs[side].graph)

        def paired(one: Node) -> list[int]:
            return [at for at in self._stores[side].named(one.name) if at in self._other[side]]

        def further(one: Node) -> list[Node]:
            if one is not node and paired(one):
                return []
            return [edge.node for edge in edges.inputs(one) if edge.node is not None]

        for one in reached([node], further, most=MOST_LOOKED_THROUGH):
            yield from (self._other[1][at] if side else at for at in paired(one))


def _is_noise(one: InputGap) -> bool:
    """Whether an input of an op is a pair of which nothing but rounding is left."""
    return (
        not one.other
        and one.state is TensorFate.GROWN
        and one.gap is not None
        and one.gap.errors.relative > IMPLAUSIBLE
    )


def _both(rows: tuple[int | None, int | None]) -> RowPair:
    assert rows[0] is not None and rows[1] is not None
    return rows[0], rows[1]
