"""The frontier of a function: the fewest tensors to check so that nothing that a question looks for goes unseen.

Tensors need no check if they are covered by others (`questions/coverage.py`), or if they are only other names of
tensors that are checked or covered: the outputs of branches and loops, and the variables of loops.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from tfdbg_cli.analysis.watch.filter import Among
from tfdbg_cli.analysis.watch.training_filters import is_final_gradient
from tfdbg_cli.capture.functions.checking.static_facts import StaticFacts
from tfdbg_cli.capture.functions.checking.updated_variables import (
    UpdatedVariable,
    region_of,
    updated_variables,
)
from tfdbg_cli.capture.functions.definition.call_tree import ARGUMENT, CallKind, CallSite, Scope
from tfdbg_cli.capture.functions.definition.undefined import may_be_undefined
from tfdbg_cli.capture.questions.coverage import Coverage
from tfdbg_cli.capture.questions.question import Covering, Question
from tfdbg_cli.capture.tf.types import NodeDef
from tfdbg_cli.model.dtypes import element_type
from tfdbg_cli.model.graph import LOOP_VARIABLE, Graph
from tfdbg_cli.model.names import TensorName
from tfdbg_cli.model.updates import UPDATED_VARIABLE
from tfdbg_cli.ops.effects import puts_away
from tfdbg_cli.ops.transparent_shapes import Shape

# Called with the name of a node, its op type and a dtype's name: whether the user wants such tensors to be checked.
Admits: TypeAlias = Callable[[str, str, str], bool]


@dataclass(frozen=True, slots=True, eq=False)
class Checkable:
    """A tensor that may be checked: in the function of `scope`, which refers to it by `reference`."""

    name: TensorName
    scope: Scope
    reference: str
    dtype: int
    device: str
    updated: UpdatedVariable | None = None
    shape: Shape = None


@dataclass(frozen=True)
class FunctionFrontier:
    """The tensors to check, by scope; `watched` counts the tensors that these checks stand for.

    `unasked` are tensors among them that cannot be asked inside the function.
    """

    checks: Mapping[Scope, Sequence[Checkable]]
    watched: int
    updated: tuple[UpdatedVariable, ...] = ()
    unasked: tuple[TensorName, ...] = ()

    @property
    def checked(self) -> int:
        """How many tensors are checked."""
        return sum(map(len, self.checks.values()))


def frontier_of(
    root: Scope,
    facts: StaticFacts,
    question: Question,
    admits: Admits,
    graph: Callable[[], Graph] = Graph,
    *,
    results: Collection[TensorName] = (),
) -> FunctionFrontier:
    """The tensors to ask `question` of, so that the answer holds for all tensors in runs of `root` that are admitted.

    `graph` returns the graph of the runs, for questions of gradients; `results` are the tensors the program gets.
    """
    return _Search(root, facts, question, admits, graph, results).found()


@dataclass
class _Search:
    root: Scope
    facts: StaticFacts
    question: Question
    admits: Admits
    graph: Callable[[], Graph]
    results: Collection[TensorName] = ()
    tensors: dict[TensorName, Checkable] = field(default_factory=dict)
    aliases: dict[TensorName, tuple[TensorName, ...]] = field(default_factory=dict)
    outcome: Collection[TensorName] = ()  # the only tensors to ask, for a question of what comes out of a run
    handed_in: list[Checkable] = field(default_factory=list)  # arguments of branches and loops read by updates

    def __post_init__(self) -> None:
        looked_after = self.tensors.__contains__
        self.coverage: Coverage[TensorName] = Coverage(self.question, self.facts, looked_after, looked_after)
        self.covered = self.coverage.covered

    def found(self) -> FunctionFrontier:
        updated = tuple(updated_variables(self.root))
        if self.question.among is Among.OUTCOME:
            after = (variable.name for variable in updated)
            self.outcome = frozenset((*self.results, *after, *self._applied(updated), *self._put_away()))
        self._add_arguments()
        for scope in self.root.all():
            self._add_loop_variables(scope)
            for node in scope.needed.nodes:
                if node.name not in scope.needed.hidden:
                    self._add_node(scope, node)
        for variable in updated:
            self._add_updated(variable)
        if not self.question.compares:
            self._cover_aliases()
        for scope in self.root.all():
            for node in scope.needed.nodes:
                if node.name not in scope.needed.hidden and node.name not in scope.calls:
                    self._cover(scope, node)
        checks: dict[Scope, list[Checkable]] = {}
        unasked = []
        for name, tensor in self.tensors.items():
            if name not in self.covered:
                checks.setdefault(tensor.scope, []).append(tensor)
                if not self.question.askable(element_type(tensor.dtype).name, tensor.shape):
                    unasked.append(name)
        for tensor in self.handed_in:
            checks.setdefault(tensor.scope, []).append(tensor)
        return FunctionFrontier(checks, len(self.tensors) + len(self.handed_in), updated, tuple(unasked))

    def _applied(self, updated: Iterable[UpdatedVariable]) -> Iterator[TensorName]:
        """The inputs of updates that the updated variable does not show, if they are made where the update is."""
        for variable in updated:
            for name, (reader, text) in variable.reads.items():
                if name not in variable.adds and name != variable.same_as and self._is_made_there(name, reader, text):
                    yield name

    def _put_away(self) -> Iterator[TensorName]:
        """What is put into queues and their like, if it is made where it is put there."""
        for scope in self.root.all():
            for node in scope.needed.nodes:
                for text in scope.body.data_inputs(node) if puts_away(node.op) else ():
                    name = scope.resolve(text)
                    if self._is_made_there(name, scope, text):
                        yield name

    def _is_made_there(self, name: TensorName, reader: Scope, text: str) -> bool:
        """Whether the tensor that is `text` in the scope `reader` is made in the same branch or turn of a loop.

        One that comes from outside is noted in `handed_in`, to be checked inside, since the branch need not be taken.
        """
        scope, reference = reader.made_at(text)
        if scope.body.source(reference).node is not None or scope.call is None:
            return True
        dtype = scope.body.type_of(reference)
        kind = element_type(dtype).name
        if self.question.concerns("", kind, self.facts.shape(name)) and self.admits(name.node, "", kind):
            self.handed_in.append(Checkable(name, scope, reference, dtype, "", shape=self.facts.shape(name)))
        return False

    def _add_arguments(self) -> None:
        for position, name in enumerate(self.root.argument_names):
            reference = self.root.body.arguments[position]
            dtype = self.root.body.argument_types[position]
            self._add(TensorName(name, 0), ARGUMENT, self.root, reference, dtype)

    def _add_loop_variables(self, scope: Scope) -> None:
        for position, name in scope.loop_variables.items():
            reference, dtype = scope.body.arguments[position], scope.body.argument_types[position]
            self._add(name, LOOP_VARIABLE, scope, reference, dtype)
            given = scope.given_at(position)
            if given is not None:
                caller, start = given
                self.aliases[name] = (caller.resolve(start), scope.resolve(scope.body.returns[position]))

    def _add_node(self, scope: Scope, node: NodeDef) -> None:
        site = scope.calls.get(node.name)
        if site is not None and site.kind is CallKind.PLAIN:
            return
        read = scope.needed.slots[node.name]
        for slot, output in enumerate(scope.body.outputs(node.name)):
            if not output.returnable or may_be_undefined(scope, node, slot):
                continue
            if site is not None and site.kind is CallKind.BRANCH and slot not in read:
                continue
            name = TensorName(scope.name_of(node.name), slot)
            self._add(name, node.op, scope, output.reference, output.dtype, node.device)
            if site is not None:
                self.aliases[name] = tuple(_sources(scope, site, slot))

    def _add_updated(self, variable: UpdatedVariable) -> None:
        reference = ""  # the node that reads it is added later
        self._add(variable.name, UPDATED_VARIABLE, variable.scope, reference, variable.dtype, updated=variable)
        if variable.name not in self.tensors:
            return
        if variable.same_as is not None and self.outcome:
            # Checked at the variable, since one more reader of the assigned value may keep that from being merged.
            self.covered.update({variable.same_as} if self._is_in(variable.same_as, variable.scope) else ())
        elif variable.same_as is not None:
            self.aliases[variable.name] = (variable.same_as,)
        if self.question.covering is Covering.READERS:
            self.covered.update(name for name in variable.adds if self._is_in(name, variable.scope))

    def _add(
        self,
        name: TensorName,
        op_type: str,
        scope: Scope,
        reference: str,
        number: int,
        device: str = "",
        updated: UpdatedVariable | None = None,
    ) -> None:
        dtype = element_type(number).name
        shape = self.facts.shape(name)
        if not self.question.concerns(op_type, dtype, shape) or not self.admits(name.node, op_type, dtype):
            return
        if not self._is_among(name, op_type):
            return
        # Checked in the function that makes it: only there it is known whether the check must read a twin.
        made_at = _outside_xla(*scope.made_at(reference)) if reference else (scope, "")
        self.tensors[name] = Checkable(name, *made_at, number, device, updated, shape)

    def _is_among(self, name: TensorName, op_type: str) -> bool:
        match self.question.among:
            case Among.GRADIENTS:
                return is_final_gradient(self.graph(), name.node, name.slot, op_type)
            case Among.OUTCOME:
                return name in self.outcome
        return True

    def _cover_aliases(self) -> None:
        for name, sources in self.aliases.items():
            if all(source in self.tensors for source in sources):
                self.covered.add(name)

    def _cover(self, scope: Scope, node: NodeDef) -> None:
        region = region_of(scope)
        self.coverage.look_at(
            self.facts.op(scope, node), lambda name: name in self.tensors and self._is_in(name, region)
        )

    def _is_in(self, name: TensorName, region: Scope) -> bool:
        """Whether the tensor is made in the same function, branch or turn of a loop as an op in `region` runs."""
        tensor = self.tensors.get(name)
        return tensor is not None and region_of(tensor.scope) is region


def _outside_xla(scope: Scope, reference: str) -> tuple[Scope, str]:
    """Where the value made at `reference` of `scope` is checked: behind the calls that XLA compiles, if they give it.

    Such a call then stays as the program makes it: XLA would compile another one otherwise.
    """
    made_at = scope, reference
    while scope.compiled and scope.call is not None and scope.parent is not None:
        returns = enumerate(map(scope.made_at, scope.body.returns))
        position = next((at for at, found in returns if found == made_at), None)
        if position is None or scope.call.kind is not CallKind.PLAIN:
            return made_at
        reference = scope.parent.body.outputs(scope.call.node.name)[position].reference
        scope = scope.parent
    return made_at if scope.compiled else (scope, reference)


def _sources(scope: Scope, site: CallSite, slot: int) -> Iterator[TensorName]:
    """The tensors of which output `slot` of a branch or a loop is one."""
    if site.kind is CallKind.LOOP:
        yield scope.resolve(scope.body.data_inputs(site.node)[slot])
        yield site.scopes[1].resolve(site.scopes[1].body.returns[slot])
    else:
        yield from (inner.resolve(inner.body.returns[slot]) for inner in site.scopes)
