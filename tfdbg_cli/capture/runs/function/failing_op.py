"""What the op that failed in a function was given.

A function that fails gives nothing back. So what comes before the op is computed again after the error: on copies of
the variables as they were before the run, from the arguments and from what the run drew until then. If no snapshot of
the run was taken, only values that cannot have changed since are computed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

from tfdbg_cli.analysis.error_text import first_line
from tfdbg_cli.capture.functions.calling.instrumented import CallResult
from tfdbg_cli.capture.functions.calling.kept_tensors import KeptTensors
from tfdbg_cli.capture.functions.checking.checking_edit import WantedRewrite
from tfdbg_cli.capture.functions.checking.early_reports import Early
from tfdbg_cli.capture.functions.definition.failing_ops import FailingOp, failing_ops
from tfdbg_cli.capture.functions.definition.flat import FlatFunction, FlatNode
from tfdbg_cli.capture.functions.definition.shown_values import Shown
from tfdbg_cli.capture.replay.function import replay_wanted
from tfdbg_cli.capture.state.after_failure import may_write
from tfdbg_cli.capture.state.call_snapshot import CallSnapshot
from tfdbg_cli.capture.state.outside import NotReplayableError, Outside, ReplayPart
from tfdbg_cli.capture.state.snapshot_plan import SnapshotPlan
from tfdbg_cli.capture.stores import joined
from tfdbg_cli.capture.tf.op_errors import run_error
from tfdbg_cli.capture.tf.types import EagerTensor
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.model.gathered import PartOfStore
from tfdbg_cli.model.names import TensorName
from tfdbg_cli.model.runs import Run
from tfdbg_cli.model.tensors import TensorStore

_AGAIN = (
    "What comes before this op was computed again after the error, on copies of the variables as they were before "
    "the run."
)
_UNHELD = "The inputs were computed again after the error, from what cannot have changed since."
_UNKNOWN = "The inputs are not known. {}"
_AMBIGUOUS = "Several ops of this function are called {}, so it is not known which one failed."


def with_given(run: Run, snapshot_plan: SnapshotPlan, inputs: Sequence[EagerTensor]) -> Run:
    """The failed `run` with the values that its failing op was given; its error names that op as the run does.

    Args:
        run: a run of the function of `snapshot_plan`, with a snapshot (`run.replayable`) or without.
        snapshot_plan: what is known of the function.
        inputs: the flat tensors that it was called with.

    """
    error = run.error
    if error is None or error.node is None:
        return run
    ops = failing_ops(snapshot_plan.root, error.node)
    if not any(op.given for op in ops):
        return replace(run, error=replace(error, node=ops[0].name)) if len(ops) == 1 else run
    try:
        if snapshot_plan.outside is None:
            raise TfdbgError(f"No part of the run can be computed again: {snapshot_plan.reason}.")
        held = run.replayable if isinstance(run.replayable, CallSnapshot) else None
        again = _PartsAgain(snapshot_plan, snapshot_plan.outside, held, inputs)
        op = ops[0] if len(ops) == 1 else again.the_failing(ops, error.node)
        run = replace(run, error=replace(error, node=op.name))
        return _told(run, op, snapshot_plan.outside.flat, again.given_to(op), _UNHELD if held is None else _AGAIN)
    except TfdbgError as failure:
        assert run.error is not None
        return replace(run, error=replace(run.error, inputs_note=_UNKNOWN.format(_sentence(failure))))


@dataclass(frozen=True)
class _Found:
    """What an op was `given`, and the values that came `before`, as far as they were asked for.

    With `whole` the inputs are among the values before, at their end: the op is in a branch or a loop.
    """

    given: Mapping[TensorName, EagerTensor]
    before: TensorStore
    whole: bool = False


class _PartsAgain:
    """Parts of the failed run, computed again."""

    def __init__(
        self, snapshot_plan: SnapshotPlan, outside: Outside, held: CallSnapshot | None, inputs: Sequence[EagerTensor]
    ) -> None:
        self._snapshot_plan = snapshot_plan
        self._outside = outside
        self._flat = outside.flat
        self._unheld = held is None
        self._held = CallSnapshot.of(snapshot_plan, inputs) if held is None else held

    def the_failing(self, ops: Sequence[FailingOp], name: str) -> FailingOp:
        """The one of `ops` that fails when it is computed again; of several, one whose inputs come from none of them.

        Raises:
            TfdbgError: that cannot be told.

        """
        failing: dict[str, list[FailingOp]] = {}
        for op in ops:
            place = op.place_in(self._flat)
            with suppress(TfdbgError):  # of an op that cannot be computed again nobody can tell whether it failed
                if self._outcome(place, self._numbers_of(place)).error is not None:
                    failing.setdefault(place.name, []).append(op)
        for name_of_place, found in failing.items():
            inputs = self._flat.nodes[name_of_place].inputs
            before = {node.name for node in self._flat.ancestors(inputs, self._outside.drawn)}
            if before & failing.keys():
                continue
            reached = found if len(found) == 1 else list(filter(self._is_reached, found))
            if len(reached) == 1:
                return reached[0]
        raise TfdbgError(_AMBIGUOUS.format(name))

    def _is_reached(self, op: FailingOp) -> bool:
        """Whether the run gets as far as `op`: it may be in a branch that is not taken."""
        try:
            self.given_to(op)
        except TfdbgError:
            return False
        return True

    def given_to(self, op: FailingOp) -> _Found:
        """What `op` was given, and if the run was held, all that came before.

        Raises:
            TfdbgError: it cannot be computed again; the message says what stands in the way.

        """
        place = op.place_in(self._flat)
        inside = place.name != op.name
        if not inside:
            outcome = self._with_all_beside(place, op.given) or self._outcome(place, op.given)
            values: Mapping[TensorName, EagerTensor] = dict(zip(op.given, outcome.outputs, strict=False))
        elif self._unheld:
            outcome = self._outcome(place, self._numbers_of(place), Early(asked=frozenset([op.name])))
            values = outcome.early
        else:
            outcome = self._outcome(place, self._numbers_of(place), Early(everything=True))
            values = {shown.name: tensor for shown, tensor in outcome.captured.pairs()}
        if not values.keys() >= set(op.given):
            words = "" if outcome.error is None else first_line(run_error(outcome.error).message)
            raise TfdbgError(f"Computed again, the run did not come to this op{words and f': {words}'}.")
        return _Found(values, outcome.captured, inside and not self._unheld)

    def _with_all_beside(self, place: FlatNode, given: Sequence[TensorName]) -> CallResult | None:
        """As `_outcome` of what was `given` at `place`, with all else that does not need the op there.

        None where no snapshot was taken, and where not all of that can be computed: more ops may fail than one.
        """
        if self._unheld:
            return None
        needs = {place.name} | self._flat.later(place.name)
        beside = [node for node in self._flat.nodes.values() if node.name not in needs]
        names = (name for node in beside for name in self._numbers_of(node))
        try:
            outcome = self._outcome(place, list(dict.fromkeys([*given, *names])))
        except TfdbgError:
            return None
        return outcome if outcome.error is None else None

    def _numbers_of(self, node: FlatNode) -> list[TensorName]:
        return list(filter(self._flat.has_numbers, node.outputs))

    def _outcome(self, place: FlatNode, returns: Sequence[TensorName], early: Early | None = None) -> CallResult:
        """The values `returns`, made at `place`, computed again; of a run with a snapshot, with all before them."""
        try:
            again = self._outside.before(returns)
        except NotReplayableError as error:
            raise TfdbgError(f"What comes before the op cannot be computed again: {error}.") from error
        if self._unheld:
            _require_unchanged(self._flat, self._snapshot_plan, again, place)
        early = early or Early()
        wanted = WantedRewrite(values=not (self._unheld or early.everything), early=early)
        return replay_wanted(self._held.replay_spec_of(self._outside, again), self._held.room, lambda _: wanted)


def _require_unchanged(flat: FlatFunction, snapshot_plan: SnapshotPlan, again: ReplayPart, place: FlatNode) -> None:
    """Refuse `again` if a variable that it reads may have changed since the run read it; the run failed at `place`.

    Raises:
        TfdbgError: one may have been changed in between.

    """
    written = {TensorName(snapshot_plan.root.argument_names[at], 0) for at in snapshot_plan.written}
    read = written.intersection(again.part.inputs)
    later = flat.later(place.name)
    computed = set(again.part.nodes)
    for node in flat.nodes.values() if read else ():
        changed = read.intersection(node.inputs) if may_write(node) else ()
        if changed and (node.name in computed or node.name not in later):
            variable = sorted(map(str, changed))[0].rpartition(":")[0]
            raise TfdbgError(
                f"They depend on the variable {variable}, which the run may have changed before the error. "
                "A run that is captured (`run`) holds it."
            )


def _told(run: Run, op: FailingOp, flat: FlatFunction, found: _Found, note: str) -> Run:
    """`run` with the values that were `found`; the inputs of `op` come last, as they were made last."""
    assert run.error is not None
    # A capture that was narrowed shows no more than was asked for, but for what the op was given.
    shown = run.tensors if isinstance(run.tensors, PartOfStore) else _merged(found.before, run.tensors)
    added = []
    for name in () if found.whole and shown is not run.tensors else dict.fromkeys(op.given):
        once = name in flat.arguments or name.node in flat.nodes  # else it is in a loop or branch, made in each turn
        if not once or not shown.named(name.node, name.slot):
            added.append(name)
    given = KeptTensors.of(_pairs(run, added, found.given))
    return replace(run, error=replace(run.error, inputs_note=note), tensors=joined(shown, given))


def _merged(again: TensorStore, first: TensorStore) -> TensorStore:
    """The tensors of `again`, and those of `first` that are not among them."""
    return joined(again, PartOfStore(first, [row for row in range(len(first)) if not again.named(first[row].node)]))


def _pairs(
    run: Run, names: Iterable[TensorName], values: Mapping[TensorName, EagerTensor]
) -> Iterator[tuple[Shown, EagerTensor]]:
    for name in names:
        node = run.graph.find(name.node)
        op_type, device = ("", "") if node is None else (node.op_type, node.device)
        yield Shown(name, op_type, device, values[name].dtype.as_datatype_enum), values[name]


def _sentence(error: TfdbgError) -> str:
    return f"{error.message} {error.hint}".strip()
