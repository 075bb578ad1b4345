"""Shadow ops: they run in the place of the program's ops, so that the insides of called functions can be checked.

Once a session has run a graph, a function in it cannot be changed, nor can an op that calls it. So a watched run does
not run that op but a hidden shadow op, which calls the rewritten function, and shadow ops for all ops that depend on
it: that part of the graph once more, with the same attributes and devices, using the same variables. All other ops
run as they are.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from tfdbg_cli.capture.functions.definition.own_names import original_names
from tfdbg_cli.capture.sessions.extended.own_state import keeps_state
from tfdbg_cli.capture.sessions.graph_ops import GraphOp, attribute_of, facts_of
from tfdbg_cli.capture.sessions.hidden_ops import PREFIX, HiddenOps, NewOp, Operand
from tfdbg_cli.capture.sessions.reach import ancestors
from tfdbg_cli.capture.sessions.wrapped_call import RewrittenCall
from tfdbg_cli.capture.tf import colocation
from tfdbg_cli.capture.tf.op_definitions import calls_functions
from tfdbg_cli.capture.tf.types import Op, SymbolicTensor
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.ops.facts import Facts
from tfdbg_cli.ops.kinds import NEXT_ITERATION

_HIDDEN = re.compile(re.escape(PREFIX) + r"\d+")

_NOT_LOOKED_INTO = (
    "What {op} ({type}) computes inside was not looked at, since {reason}. `run -f … --graph runtime` looks there, "
    "too, at a higher price."
)


@dataclass(frozen=True)
class ShadowOps:
    """The shadow ops of one kind of call (a `Redirection`).

    `ops` has them by the names of the program's ops. `given` are those of the program's ops that call functions, each
    with the further outputs of its shadow op: an answer, or values of its inside. `checked` checks stand for `total`
    tensors. `notes` say which calls are not looked into.
    """

    ops: Mapping[str, Op] = field(default_factory=dict)
    given: tuple[tuple[Op, tuple[SymbolicTensor, ...]], ...] = ()
    checked: int = 0
    total: int = 0
    notes: tuple[str, ...] = ()
    fed_names: frozenset[str] = frozenset()

    @cached_property
    def giving(self) -> frozenset[str]:
        """The names of the program's ops whose shadow ops have further outputs."""
        return frozenset(op.name for op, _ in self.given)

    def tensor(self, tensor: SymbolicTensor) -> SymbolicTensor:
        """What is computed in the place of `tensor`."""
        if not self.ops:
            return tensor
        shadow = None if tensor.name in self.fed_names else self.ops.get(tensor.op.name)
        return tensor if shadow is None else shadow.outputs[tensor.value_index]

    def op(self, op: Op) -> Op:
        """What runs in the place of `op`."""
        return self.ops.get(op.name, op)

    def require_alone(self, ends: Iterable[Op]) -> None:
        """Make sure that a run of `ends` runs no op beside its shadow op.

        Raises:
            TfdbgError: it would, and what the op does would be done twice.

        """
        if not self.ops:
            return
        twice = [op.name for op in ancestors(ends, self.fed_names) if op.name in self.ops]
        if twice:
            raise TfdbgError(f"{twice[0]} would run twice in a watched run.", hint="Please report this.", exit_code=2)

    def named(self, text: str) -> str:
        """`text`, a message of TensorFlow's, with the names that the program knows."""
        names = {shadow.name: name for name, shadow in self.ops.items()}
        return original_names(_HIDDEN.sub(lambda found: names.get(found[0], found[0]), text))


class ShadowOpMaker:
    """Finds what needs a shadow op in one kind of call, and adds it to the graph."""

    def __init__(self, order: Sequence[Op], fed_names: frozenset[str], *, again: bool = False) -> None:
        """Prepare for the ops in `order`, inputs first.

        With `again` the ops are those of a replay in a session of its own. There shadow ops may also stand for ops
        whose kernels keep a state.
        """
        self._order = order
        self._fed = fed_names
        self._again = again
        self._notes: list[str] = []

    def made(self, hidden: HiddenOps, rewritten: Callable[[Op, Facts[str]], RewrittenCall | None]) -> ShadowOps:
        """The shadow ops, which are added to `hidden`.

        `rewritten` is called with each op that calls functions, and returns what is to run in its place, or None if
        nothing inside has to be asked. If it raises a TfdbgError the op is left alone, and a note says why.

        Raises:
            tf.errors.OpError: TensorFlow does not take them.

        """
        calls = self._calls(rewritten)
        behind = self._without_state(calls)
        if not calls:
            return ShadowOps(notes=tuple(self._notes))
        new = _New(hidden, self._fed, behind, calls)
        functions = {one.signature.name: one for call in calls.values() for one in call.definitions}
        made = hidden.add(new.ops, functions.values())
        ops = {name: made[at] for name, at in new.places.items()}
        given = tuple(
            (behind[name], tuple(made[at].outputs[slot] for at, slot in places)) for name, places in new.given.items()
        )
        checked = sum(call.checked for call in calls.values())
        total = sum(call.total for call in calls.values())
        return ShadowOps(ops, given, checked, total, tuple(self._notes), self._fed)

    def _calls(self, rewritten: Callable[[Op, Facts[str]], RewrittenCall | None]) -> dict[str, RewrittenCall]:
        """By the name of an op, what runs in its place."""
        ops = list(map(GraphOp, self._order))
        facts = facts_of(ops, self._fed)
        found: dict[str, RewrittenCall] = {}
        for op, seen in zip(self._order, ops, strict=True):
            facts.learn(seen)
            if not calls_functions(op):
                continue
            try:
                call = rewritten(op, facts)
            except TfdbgError as reason:
                self._leave(op, reason.message)
                continue
            if call is not None:
                found[op.name] = call
        return found

    def _leave(self, op: Op, reason: str) -> None:
        self._notes.append(_NOT_LOOKED_INTO.format(op=op.name, type=op.type, reason=reason))

    def _without_state(self, calls: dict[str, RewrittenCall]) -> dict[str, Op]:
        """The ops that depend on `calls`, which loses those on which an op depends that keeps a state of its own."""
        while calls:
            behind = self._behind(calls)
            stateful = [op for name, op in behind.items() if name not in calls and _keeps_state(op)]
            if self._again or not stateful:
                return behind
            for op in stateful:
                for call in [name for name in calls if op.name in self._behind([name])]:
                    del calls[call]
                    reason = f"{op.name} ({op.type}) behind it keeps a state of its own"
                    self._leave(behind[call], reason)
        return {}

    def _behind(self, starts: Collection[str]) -> dict[str, Op]:
        """The ops `starts` and all that depend on them, by reading or waiting, by name."""
        found: dict[str, Op] = {}
        while True:
            before = len(found)
            for op in self._order:
                if op.name not in found and (
                    op.name in starts or any(need.name in found for need in self._needs(op))
                ):
                    found[op.name] = op
            if len(found) == before or not self._turns:
                return {op.name: op for op in self._order if op.name in found}

    @property
    def _turns(self) -> bool:
        return any(op.type in NEXT_ITERATION for op in self._order)

    def _needs(self, op: Op) -> Iterator[Op]:
        for tensor in op.inputs:
            if tensor.name not in self._fed:
                yield tensor.op
        yield from op.control_inputs


class _New:
    """The ops to be added: a shadow op for each op `behind` calls, inputs first, and the nodes of the `calls`.

    `places` says where among them the shadow op of an op of the program is, by its name. `given` says where the
    further outputs of a call are, by its name: place and slot.
    """

    def __init__(
        self,
        hidden: HiddenOps,
        fed_names: Collection[str],
        behind: Mapping[str, Op],
        calls: Mapping[str, RewrittenCall],
    ) -> None:
        self._hidden = hidden
        self._fed = fed_names
        self.places: dict[str, int] = {}
        self.given: dict[str, list[tuple[int, int]]] = {}
        inner: dict[str, dict[str, int]] = {}
        count = 0
        for name in behind:
            nodes = calls[name].body.nodes if name in calls else {name: None}
            inner[name] = {node: count + at for at, node in enumerate(nodes)}
            self.places[name] = inner[name][name]
            count += len(nodes)
        self.ops: list[NewOp] = []
        for name, op in behind.items():
            if name in calls:
                self.ops.extend(self._called(op, calls[name], inner[name]))
                self.given[name] = [(inner[name][str(one.node)], one.slot) for one in calls[name].given]
            else:
                self.ops.append(self._shadow_op(op))

    def _shadow_op(self, op: Op) -> NewOp:
        attributes = dict(op.node_def.attr.items())
        if colocation.ATTRIBUTE in attributes:
            attributes[colocation.ATTRIBUTE] = colocation.renamed(attributes[colocation.ATTRIBUTE], self._shadow_name)
        return NewOp(op.type, list(map(self._operand, op.inputs)), attributes, self._controls(op), op.device)

    def _called(self, op: Op, call: RewrittenCall, places: Mapping[str, int]) -> Iterator[NewOp]:
        controls = self._controls(op)
        # Nodes without inputs wait for what the op reads, which puts them into the same loop or branch.
        first = controls or [self._control(tensor.op) for tensor in op.inputs[:1]]
        for node in call.body.nodes.values():
            inputs = []
            for text in call.body.data_inputs(node):
                source = call.body.source(text)
                if source.node is None:
                    inputs.append(self._operand(op.inputs[source.slot]))
                else:
                    inputs.append(f"{self._hidden.name_of(places[source.node])}:{source.slot}")
            waits = [self._hidden.name_of(places[text[1:]]) for text in node.input if text.startswith("^")]
            waits += controls if node.name == op.name else [] if inputs else first
            attributes = dict(node.attr.items())
            if node.name == op.name and colocation.ATTRIBUTE in op.node_def.attr:
                attributes[colocation.ATTRIBUTE] = colocation.renamed(
                    op.node_def.attr[colocation.ATTRIBUTE], self._shadow_name
                )
            yield NewOp(node.op, inputs, attributes, waits, node.device)

    def _operand(self, tensor: SymbolicTensor) -> Operand:
        if tensor.name in self._fed or tensor.op.name not in self.places:
            return tensor
        return f"{self._hidden.name_of(self.places[tensor.op.name])}:{tensor.value_index}"

    def _control(self, op: Op) -> Op | str:
        return self._hidden.name_of(self.places[op.name]) if op.name in self.places else op

    def _controls(self, op: Op) -> list[Op | str]:
        return list(map(self._control, op.control_inputs))

    def _shadow_name(self, name: str) -> str:
        return self._hidden.name_of(self.places[name]) if name in self.places else name


def _keeps_state(op: Op) -> bool:
    types = [tensor.dtype.as_datatype_enum for tensor in op.inputs]
    return keeps_state(op.type, lambda name: attribute_of(op, name), types)
