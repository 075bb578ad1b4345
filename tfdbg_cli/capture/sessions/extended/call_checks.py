"""What is found out once about a kind of call that is watched: where it is checked, and what it reads and writes."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from tfdbg_cli.analysis.watch.filter import Among
from tfdbg_cli.analysis.watch.outcome import SHOWS
from tfdbg_cli.analysis.watch.training_filters import is_final_gradient
from tfdbg_cli.capture.chooser import chooser
from tfdbg_cli.capture.controller import WatchRequest
from tfdbg_cli.capture.large_graphs import RUN, Preparation, announce
from tfdbg_cli.capture.questions.question import Covering, Question
from tfdbg_cli.capture.sessions.call_names import elements_of, fed_to, looks_at
from tfdbg_cli.capture.sessions.call_state import CallState, UsedVariable, call_state
from tfdbg_cli.capture.sessions.extended.checked_calls import checked_call
from tfdbg_cli.capture.sessions.extended.checks import known_shape, read_after_updates, summed_answer
from tfdbg_cli.capture.sessions.extended.frontier import Admits, frontier
from tfdbg_cli.capture.sessions.extended.inner_checks import Inner, Sum, inner_tensors
from tfdbg_cli.capture.sessions.extended.last_writes import with_last_writes
from tfdbg_cli.capture.sessions.extended.shadow_ops import ShadowOpMaker, ShadowOps
from tfdbg_cli.capture.sessions.graph_ops import GraphOp
from tfdbg_cli.capture.sessions.hidden_ops import hidden_ops, program_version
from tfdbg_cli.capture.sessions.invocation import Invocation
from tfdbg_cli.capture.sessions.known_exactness import KnownExactness
from tfdbg_cli.capture.sessions.program_graph import program_graph
from tfdbg_cli.capture.sessions.reach import KINDS, Reach, ends_among, loops_of, reach
from tfdbg_cli.capture.sessions.references import read_before_updates
from tfdbg_cli.capture.sessions.updated_variables import updated_name
from tfdbg_cli.capture.sessions.wrapped_call import GraphFunctions
from tfdbg_cli.capture.tf.memo import Memo, Memos
from tfdbg_cli.capture.tf.op_definitions import calls_functions
from tfdbg_cli.capture.tf.opaque import dtype_name
from tfdbg_cli.capture.tf.types import Op, SymbolicTensor, TfGraph
from tfdbg_cli.collection import count_as_old
from tfdbg_cli.model.decision import CaptureRequest
from tfdbg_cli.model.updates import UPDATED_VARIABLE
from tfdbg_cli.ops.effects import puts_away
from tfdbg_cli.ops.kinds import ASSIGNMENTS
from tfdbg_cli.ops.transparent_shapes import Shape


@dataclass(frozen=True)
class CallChecks:
    """One kind of call: what it computes and uses, and the checks that ask `question` of it.

    `health` is a hidden tensor with the answer for all tensors except those below; None if no other is to be checked.
    `given` names fed tensors, which must be looked at as they are fed; `inner` are tensors in loops and branches.
    `updated` are the values of written variables after the call, `before` tensors with their values from before it.
    `shadow_ops` run in the place of `calls`, the ops that call functions, and of all ops that depend on these.
    `checked` checks stand for `total` tensors. `unasked` names a tensor that cannot be asked in the graph: then there
    are no checks. `trial` says how exact such runs are.
    """

    reached: Reach
    state: CallState
    question: Question
    health: SymbolicTensor
    given: tuple[str, ...]
    inner: tuple[Inner, ...]
    shadow_ops: ShadowOps
    updated: tuple[SymbolicTensor, ...]
    before: Mapping[str, UsedVariable]
    checked: int
    total: int
    unasked: str = ""
    calls: tuple[Op, ...] = ()
    trial: KnownExactness = field(default_factory=KnownExactness)
    _inner_checks: dict[int, tuple[Sum, list[Op]]] = field(default_factory=dict)

    def inner_checks(self, graph: TfGraph, number: int) -> tuple[Sum, list[Op]]:
        """The hidden variable with that number, and the ops that check `inner` and add what they find to it."""
        if number not in self._inner_checks:
            total = Sum(hidden_ops(graph), self.question, number)
            self._inner_checks[number] = (total, total.checks(self.inner))
        return self._inner_checks[number]


_STATES: Memos[CallState] = Memos(keep=KINDS)
_WATCHED: Memos[CallChecks] = Memos(keep=KINDS)


def reached_by(invocation: Invocation) -> Reach:
    """What `invocation` computes."""
    return reach(invocation.session.graph, ends_of(invocation), fed_to(invocation))


def state_of(invocation: Invocation) -> CallState:
    """What `invocation` reads and writes beside the edges of its graph. Kept for the next call of its kind."""

    def found_out() -> CallState:
        reached, fed_names = reached_by(invocation), frozenset(fed_to(invocation))
        state = call_state(reached.ops, reached.fetchable, fed_names, ends_of(invocation))
        return with_last_writes(state, reached.order, fed_names)

    return _STATES.of(invocation.session.graph, call_kind(invocation), found_out)


def why_not_inside(invocation: Invocation, *, keeping: bool, question: Question | None = None) -> str:
    """Why checks in the graph would not see all that `invocation` computes; empty when they do.

    With `keeping` the values of every run are wanted, too.
    """
    reached = reached_by(invocation)
    if invocation.session.sess_str:
        return "the session runs elsewhere"
    if question is not None and question.compares:
        return "the graph does not hold what its variables were before"
    if question is not None and question.covering is Covering.NOTHING and reached.calls:
        return "it calls functions, which have ops of their own"
    if reached.inside and (keeping or reached.unwritable or state_of(invocation).obstacle):
        return "values in its loops and branches can only be dumped"
    endless = state_of(invocation).endless
    if endless:
        return f"nothing tells when its updates of {endless} in loops and branches are over"
    return misfit(invocation)


def misfit(invocation: Invocation) -> str:
    """A reason that names a feed whose shape contradicts the graph; empty if there is none."""
    graph = invocation.session.graph
    for name, value in fed_to(invocation).items():
        if not graph.as_graph_element(name).shape.is_compatible_with(np.shape(value)):
            return f"what is fed to {name} has not the shape that the graph promises"
    return ""


def ends_of(invocation: Invocation) -> list[Op]:
    """The ops whose outputs `invocation` fetches, and those that it runs; what is fed is not computed.

    Found out once for it.
    """
    return _ENDS.of(invocation)


def _ends(invocation: Invocation) -> list[Op]:
    elements = elements_of(invocation)
    return ends_among(elements.tensors + elements.targets, fed_to(invocation))


_ENDS: Memo[list[Op]] = Memo(_ends)
_NAMES: Memo[tuple[str, ...]] = Memo(lambda invocation: tuple(op.name for op in ends_of(invocation)))


def call_kind(invocation: Invocation) -> tuple[Hashable, ...]:
    """What is equal for calls of one kind: the graph as it is now, the ops that are run, the names of what is fed."""
    return program_version(invocation.session.graph), _NAMES.of(invocation), frozenset(fed_to(invocation))


def call_checks(
    invocation: Invocation, question: Question, watched: WatchRequest, request: CaptureRequest
) -> CallChecks:
    """What is known of the kind of `invocation`; found out, and the checks added to its graph, the first time.

    Raises:
        tf.errors.OpError: TensorFlow does not take the checks.

    """
    graph = invocation.session.graph
    ends, fed_names = ends_of(invocation), frozenset(fed_to(invocation))
    results = tuple(tensor.name for tensor in elements_of(invocation).tensors)
    among = results if question.among is Among.OUTCOME else ()
    ignored = watched.ignored_in("", looks_at(invocation))
    left_out = watched.exclude_node_names, ignored
    key = (*call_kind(invocation), question, among, left_out, request)

    def found_out() -> CallChecks:
        reached = reached_by(invocation)
        outcome = _outcome(results, state_of(invocation), reached.order) if question.among is Among.OUTCOME else None
        admission = _Admission(*left_out, request, question, graph, outcome)
        found = _watched_call(graph, reached, state_of(invocation), fed_names, question, admission)
        hidden = [tensor.op for tensor in (found.health, *found.updated) if tensor is not None]
        found.shadow_ops.require_alone(
            [*map(found.shadow_ops.op, ends), *hidden, *(one.tensor.op for one in found.inner)]
        )
        count_as_old()  # the many ops that were looked at stay
        return found

    return _WATCHED.of(graph, key, found_out)


class _Admission:
    """Decides which tensors are asked, by the request, the watch's exclusions and what the question concerns.

    If `outcome` is given, only tensors of these names are asked: those that come out of the call. `whole` says that
    nothing but the question itself leaves tensors out.
    """

    def __init__(
        self,
        excluded: str,
        ignored: frozenset[str],
        request: CaptureRequest,
        question: Question,
        graph: TfGraph,
        outcome: Collection[str] | None,
    ) -> None:
        self._question = question
        self._graph = graph
        self._outcome = outcome
        self.named = chooser(request, excluded, ignored).admits_named
        self._by_name = bool(excluded or request.narrowed or ignored)
        self.whole = not self._by_name and outcome is None
        self._one_by_one = not self.whole or question.among is Among.GRADIENTS
        self._concerned: dict[tuple[str, int, Shape], bool] = {}  # by op type, number of the dtype, shape

    def tensor(self, op: GraphOp, slot: int) -> bool:
        """Whether the output of `op` in that slot is asked."""
        shape = known_shape(self._question, op.given[slot])
        kind = op.op_type, op.dtypes[slot], shape
        concerned = self._concerned.get(kind)
        if concerned is None:
            dtype = dtype_name(op.given[slot])
            concerned = self._concerned[kind] = self._question.concerns(op.op_type, dtype, shape)
        if not (concerned and self._one_by_one):
            return concerned
        if self._by_name and not self.named(op.name, op.op_type, dtype_name(op.given[slot])):
            return False
        if self._question.among is Among.GRADIENTS:
            return is_final_gradient(program_graph(self._graph), op.name, slot, op.op_type)
        return self._outcome is None or op.outputs[slot] in self._outcome

    def variable(self, variable: UsedVariable) -> bool:
        """Whether the value of `variable` after its update is asked about."""
        name = updated_name(variable.name).node
        dtype = variable.dtype.name
        if self._question.among is Among.GRADIENTS or not self._question.concerns(UPDATED_VARIABLE, dtype, None):
            return False
        return self.named(name, UPDATED_VARIABLE, dtype)


def _watched_call(
    graph: TfGraph,
    reached: Reach,
    state: CallState,
    fed_names: frozenset[str],
    question: Question,
    admission: _Admission,
) -> CallChecks:
    order = reached.order
    announce(RUN, len(order), Preparation.CHECKS)
    hidden = hidden_ops(graph)
    shadow_ops = ShadowOps()
    if reached.calls:
        functions = GraphFunctions(graph, as_written=True)
        shadow_ops = ShadowOpMaker(order, fed_names).made(
            hidden, lambda op, facts: checked_call(op, functions, facts, question, admission.named)
        )

    def admits(op: GraphOp, slot: int) -> bool:
        # Outputs of a shadow op for a call are checked inside of the call, unless a filter on names leaves these out.
        return admission.tensor(op, slot) and not (admission.whole and op.name in shadow_ops.giving)

    admitted = admits if shadow_ops.given else admission.tensor
    asked = [variable for variable in state.written if admission.variable(variable)]
    checked = [variable for variable in asked if not _is_assigned(variable, reached.fetchable, admits)]
    shown = _shown_in(checked) if question.covering is Covering.READERS else {}
    found = frontier(reached.ops, reached.fetchable, fed_names, admitted, question, shown=shown)
    after = dict(zip(state.written, read_after_updates(hidden, _rewritten(state, shadow_ops)), strict=True))
    tensors = [*map(shadow_ops.tensor, found.checked), *(after[variable] for variable in checked)]
    inner = _inner(reached, fed_names, admits, shadow_ops)
    unasked = _unasked(question, [*found.checked, *(one.tensor for one in inner)])
    if unasked:
        return CallChecks(reached, state, question, None, (), (), ShadowOps(), (), {}, 0, 0, unasked)
    answers = [answer for op, (answer,) in shadow_ops.given if op.name not in reached.inside]
    health = summed_answer(hidden, question, tensors, answers)
    given = tuple(tensor.name for tensor in found.given)
    count = len(tensors) + len(given) + len(inner) + shadow_ops.checked
    total = found.total + len(asked) + len(inner) + shadow_ops.total
    before = read_before_updates(order, state, fed_names)
    updated = tuple(after.values())
    calls = tuple(filter(calls_functions, order)) if reached.calls else ()
    return CallChecks(
        reached, state, question, health, given, inner, shadow_ops, updated, before, count, total, calls=calls
    )


def _unasked(question: Question, tensors: Iterable[SymbolicTensor]) -> str:
    """The name of one of `tensors` that cannot be asked in the graph; empty when all can."""
    left = (t for t in tensors if not question.askable(dtype_name(t), known_shape(question, t)))
    return next((str(tensor.name) for tensor in left), "")


def _rewritten(state: CallState, shadow_ops: ShadowOps) -> list[UsedVariable]:
    """The written variables, each with the ops to wait for before it is read: shadow ops where there are any."""
    last = [variable.writers if variable.after is None else variable.after for variable in state.written]
    return [
        replace(variable, writers=tuple(map(shadow_ops.op, ops)))
        for variable, ops in zip(state.written, last, strict=True)
    ]


def _inner(reached: Reach, fed_names: frozenset[str], admits: Admits, shadow_ops: ShadowOps) -> tuple[Inner, ...]:
    """What must be checked in loops and branches of version 1, and the answers of calls in there."""
    if not reached.hidden:
        return ()
    names = {tensor.name for tensor in reached.tensors}
    found = inner_tensors(reached.ops, names, fed_names, admits)
    loops = loops_of(reached.order, fed_names)
    answers = [Inner(answer, loops[op.name], True) for op, (answer,) in shadow_ops.given if op.name in reached.inside]
    return tuple(
        replace(one, tensor=shadow_ops.tensor(one.tensor), loops=tuple(map(shadow_ops.op, one.loops)))
        for one in (*found, *answers)
    )


def _outcome(results: Iterable[str], state: CallState, order: Iterable[Op]) -> frozenset[str]:
    """The names of the tensors that come out of a call: its results, and what `order` puts into variables and queues.

    Not the value of a plain assignment: the variable holds it afterwards, and reading that disturbs no op.
    """
    applied = {
        tensor.name
        for variable in state.written
        for op in variable.writers
        if len(variable.writers) > 1 or op.type not in ASSIGNMENTS
        for tensor in op.inputs
        if tensor.dtype == tensor.dtype.base_dtype
    }
    put_away = (tensor.name for op in order if puts_away(op.type) for tensor in op.inputs)
    return frozenset(applied.union(results, put_away))


def _is_assigned(variable: UsedVariable, fetchable: Collection[str], admits: Admits) -> bool:
    """Whether `variable` is assigned once, from a tensor that is checked itself: in `fetchable`, and `admits` it."""
    writers = variable.writers
    if len(writers) != 1 or writers[0].type not in ASSIGNMENTS:
        return False
    given = writers[0].inputs[1]
    return given.name in fetchable and admits(GraphOp(given.op), given.value_index)


def _shown_in(variables: Sequence[UsedVariable]) -> dict[str, list[str]]:
    """By the name of an update, the input whose NaN and infinities certainly show in the updated variable.

    Only for those of `variables` that are written by one op (`SHOWS` has the op types).
    """
    shown: dict[str, list[str]] = {}
    for variable in variables:
        if len(variable.writers) == 1:
            (op,) = variable.writers
            given, target = SHOWS.get(op.type, (0, -1))
            if target >= 0 and op.inputs[target] is variable.tensor:
                shown.setdefault(op.name, []).append(op.inputs[given].name)
    return shown
