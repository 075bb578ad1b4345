"""Changes a FunctionDef so that it asks a question of its tensors, and gives the sum of the answers to its caller."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tfdbg_cli.capture.functions.checking.checks import SummedAnswers
from tfdbg_cli.capture.functions.checking.early_reports import Early
from tfdbg_cli.capture.functions.checking.frontier import FunctionFrontier
from tfdbg_cli.capture.functions.checking.measures import Measures
from tfdbg_cli.capture.functions.checking.updated_variables import UpdatedVariable, updated_variables
from tfdbg_cli.capture.functions.definition.body import ReferenceTarget
from tfdbg_cli.capture.functions.definition.call_tree import Scope
from tfdbg_cli.capture.functions.definition.edit import Edit
from tfdbg_cli.capture.functions.definition.own_names import in_place_of, is_ours
from tfdbg_cli.capture.functions.definition.shown_values import Item, Shown
from tfdbg_cli.capture.functions.optimized.twins import Twins
from tfdbg_cli.capture.questions.question import Question
from tfdbg_cli.capture.tf.types import NodeDef
from tfdbg_cli.model.dtypes import BOOL, FLOAT
from tfdbg_cli.model.names import TensorName
from tfdbg_cli.model.updates import BEFORE_UPDATE, UPDATED_VARIABLE

_NOTHING = FunctionFrontier({}, 0)
_NOT_EARLY = Early()


@dataclass(frozen=True)
class WantedRewrite:
    """What a rewritten function is to do: ask `question` of the tensors in `frontier`, and return values.

    `values` asks for all values; without it only those named in `given` are returned, and of these only values that
    are not inside branches and loops. `early` is what it reports while it runs. `apart` are values, as pairs of the
    name of the function that computes them and their source, that nothing of ours may read, since the graph optimizer
    would then merge them otherwise: their twins are read instead. `measured` asks for statistics of the tensors in
    `frontier` instead of a question. Then, and with `values`, twins of values `apart` are also what is returned.
    `with_nan` says that the results must be those of an unwatched run even where NaN comes up. Of those `given` that
    are `copied` too, a copy is given, made before the program reads them, so that it alone holds what it has.
    """

    question: Question | None = None
    frontier: FunctionFrontier = _NOTHING
    values: bool = True
    given: frozenset[TensorName] = frozenset()
    early: Early = _NOT_EARLY
    apart: frozenset[tuple[str, ReferenceTarget]] = frozenset()
    measured: bool = False
    with_nan: bool = False
    copied: frozenset[TensorName] = frozenset()

    @staticmethod
    def all_values(root: Scope) -> WantedRewrite:
        """Asks for all values of the runs of `root`, and its variables after their update."""
        return WantedRewrite(frontier=FunctionFrontier({}, 0, tuple(updated_variables(root))))

    def checks_in(self, scope: Scope) -> bool:
        """Whether something is checked in the function of `scope` or below."""
        checks = self.frontier.checks
        return bool(checks) and any(inner in checks for inner in scope.all())


class CheckingEdit(Edit):
    """An `Edit` of the function of a scope that does what is `wanted`.

    `updated` lists the variables after their update (and before it, if the question compares), read by added ops.
    """

    def __init__(self, scope: Scope, wanted: WantedRewrite, compiled: bool) -> None:
        super().__init__(scope)
        self.updated: list[Item] = []
        self._wanted = wanted
        self._health = None if wanted.question is None else SummedAnswers(self, wanted.question, compiled)
        self._measures = Measures(self) if wanted.measured else None

    def ask(self) -> None:
        """Add the checks of this function itself, and its variables after their update."""
        checks = self._wanted.frontier.checks.get(self.scope, ())
        checked = {tensor.updated for tensor in checks}
        references: dict[TensorName, str] = {}
        for variable in self._wanted.frontier.updated:
            if variable.scope is self.scope and (self._wanted.values or variable in checked):
                if self._compares:
                    before = self.read_before(variable.handle, variable.waits, variable.dtype)
                    self._show(variable, variable.before, BEFORE_UPDATE, before, references)
                after = self.read_after(variable.handle, variable.waits, variable.dtype)
                self._show(variable, variable.name, UPDATED_VARIABLE, after, references)
        question = self._wanted.question
        with_nan = self._wanted.with_nan or self._wanted.measured or (question is not None and not question.sees_nan)
        apart = {source for function, source in self._wanted.apart if function == self.scope.body.name}
        twins = self._twins = Twins(self, self.scope, with_nan=with_nan, apart=apart)
        for tensor in checks:
            updated = references.get(tensor.name)
            looked_at = updated or twins.instead_of(tensor.reference)
            before = references[tensor.updated.before] if self._compares and tensor.updated else ""
            asked = "" if updated else tensor.reference
            self.answers.check(looked_at, tensor.dtype, tensor.shape, tensor.device, before=before, asked=asked)

    def copy_draws(self) -> None:
        """Copy what is to be `copied`, and have the program read it only then."""
        drawn = self._wanted.early.drawn
        instead: dict[ReferenceTarget, str] = {}
        for node in self.scope.body.nodes.values() if self._wanted.copied else ():
            for slot, output in enumerate(self.scope.body.outputs(node.name)):
                name = TensorName(self.scope.name_of(node.name), slot)
                if name in self._wanted.copied and output.returnable:
                    copy = self.copy(output.reference, output.dtype)
                    if name not in drawn:  # else it is read behind the report of the copy
                        read = in_place_of(node.name, slot)
                        instead[ReferenceTarget(node.name, slot)] = self.behind(
                            read, output.reference, output.dtype, copy
                        )
        self.redirect(instead)

    def given_as(self, reference: str) -> str:
        """What to return for the value of `reference`: its twin if it may not be read itself. Call `ask` first."""
        if reference in self.copies:
            return self.copies[reference]
        ours = is_ours(reference)  # a variable after its update, say
        apart = self._wanted.measured or (self._wanted.values and self._wanted.apart)
        return self._twins.instead_of(reference) if apart and not ours else reference

    @property
    def _compares(self) -> bool:
        return self._wanted.question is not None and self._wanted.question.compares

    def _show(
        self,
        variable: UpdatedVariable,
        name: TensorName,
        op_type: str,
        reference: str,
        references: dict[TensorName, str],
    ) -> None:
        references[name] = reference
        if self._wanted.values:
            self.updated.append(Item(Shown(name, op_type, variable.device, variable.dtype), reference))

    @property
    def answers(self) -> SummedAnswers | Measures:
        """The collected answers, or statistics, of this function; only if one of them is wanted."""
        return self._measures or self.health

    @property
    def health(self) -> SummedAnswers:
        """The answers in this function; may be used only if a question is asked."""
        assert self._health is not None
        return self._health

    def one_more_output(self, node: NodeDef) -> str:
        """Add an output to the branch `node`, the sum of the answers inside; returns the reference of that output."""
        position = len(node.attr["Tout"].list.type)
        node.attr["Tout"].list.type.append(FLOAT)
        _add_shape(node, [self.health.width])
        return f"{node.name}:output:{position}"


class LoopEdit:
    """Changes a loop so that it adds up the answers of its turns in one more loop variable.

    Answers from the condition cannot leave it, since it returns one truth value and nothing else. So the condition is
    called before the loop and at the end of each turn, just when the loop would call it, and its truth value becomes
    one more loop variable, which is all that the loop's own condition returns.
    """

    def __init__(self, node: NodeDef, outside: CheckingEdit, body: CheckingEdit) -> None:
        """Change the loop at `node` of the function `outside`."""
        self._node = node
        self._outside = outside
        self._body = body
        self._start = outside.health.zeros()

    def ask_condition(self, function: str, condition: CheckingEdit) -> Edit:
        """Let `function`, the condition rewritten to return its answers too, decide; returns the condition to use."""
        types = list(self._node.attr["T"].list.type)
        waits = [text for text in self._node.input if text.startswith("^")]
        first = self._outside.call(function, [*self._inputs(), *waits], types, [BOOL, FLOAT])
        self._start = f"{first}:output:1"
        effects = dict.fromkeys(self._body.definition.control_ret.values())
        returns = self._body.returns()
        turn = self._body.call(function, [*returns, *(f"^{name}" for name in effects)], types, [BOOL, FLOAT])
        self._body.health.include(f"{turn}:output:1")
        made = Edit(condition.scope)
        made.be_empty()
        going_on = made.take("tfdbg_going_on", BOOL)
        made.definition.ret[made.definition.signature.output_arg[0].name] = going_on
        self._carry("tfdbg_going_on", BOOL, f"{first}:output:0", [])
        self._body.take("tfdbg_going_on", BOOL)
        self._body.give_back("tfdbg_going_on", BOOL, f"{turn}:output:0")
        return made

    def carry_answers(self, condition: Edit) -> None:
        """Add the variable that holds the sum of the answers."""
        health = self._outside.health
        condition.take("tfdbg_health", FLOAT)
        self._body.health.include(self._body.take("tfdbg_health", FLOAT))
        self._body.give_back("tfdbg_health", FLOAT, self._body.health.total())
        health.include(self._carry("tfdbg_health", FLOAT, self._start, [health.width]))

    def _carry(self, name: str, dtype: int, start: str, shape: Sequence[int]) -> str:
        node = self._node
        position = len(self._inputs())
        inputs = [*self._inputs(), start, *(text for text in node.input if text.startswith("^"))]
        node.ClearField("input")
        node.input.extend(inputs)
        node.attr["T"].list.type.append(dtype)
        _add_shape(node, shape)
        return f"{node.name}:output:{position}"

    def _inputs(self) -> list[str]:
        return [text for text in self._node.input if not text.startswith("^")]


def _add_shape(node: NodeDef, shape: Sequence[int]) -> None:
    """Declare the shape of one more output of `node`, if those of the others are declared."""
    if node.attr["output_shapes"].list.shape:
        added = node.attr["output_shapes"].list.shape.add()
        for length in shape:
            added.dim.add(size=length)
