"""What a call reads and writes that is no edge of its graph: variables, and what ops draw from elsewhere."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from tfdbg_cli.capture.sessions.graph_ops import GraphOp
from tfdbg_cli.capture.sessions.holders import held_by, touching
from tfdbg_cli.capture.sessions.loop_draws import LoopDraw, loop_draws
from tfdbg_cli.capture.sessions.unordered import unordered
from tfdbg_cli.capture.sessions.wrapped_call import GraphFunctions, called_root
from tfdbg_cli.capture.tf import compat
from tfdbg_cli.capture.tf.op_definitions import calls_functions, is_stateful, only_handles
from tfdbg_cli.capture.tf.opaque import is_opaque
from tfdbg_cli.capture.tf.types import DType, Op, SymbolicTensor
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.ops.effects import follows, is_of_a_run, leaves_variable, speaks
from tfdbg_cli.ops.kinds import PASSING, REFERENCE_VARIABLES, VARIABLES


@dataclass(frozen=True)
class UsedVariable:
    """A variable that a call uses: the op that holds it, and the ops of the call that write it.

    `after` are the ops to wait for before the variable holds its final value; None: wait for the writers. Empty if no
    op of the graph can be waited for.
    """

    op: Op
    dtype: DType
    writers: tuple[Op, ...] = ()
    after: tuple[Op, ...] | None = None

    def __hash__(self) -> int:
        return hash(self.op)

    @cached_property
    def name(self) -> str:
        """The name of the op that holds it."""
        return str(self.op.name)

    @cached_property
    def reference(self) -> bool:
        """Whether it is a variable of the old kind (`use_resource=False`)."""
        return self.op.type in REFERENCE_VARIABLES

    @property
    def tensor(self) -> SymbolicTensor:
        """Its handle, or the reference to it."""
        return self.op.outputs[0]


@dataclass(frozen=True)
class CallState:
    """What one kind of call uses, beside the tensors that it is fed.

    `sources` are tensors that ops draw: random numbers, batches, answers of Python. `turned` are draws in turns of a
    loop of version 1, which are carried out of the loop, since dumping them would change the order of other ops.
    `outside` are the ops that draw, and those that do something outside of the graph: write a file, print, fill a
    queue. Outputs of an op that only speaks (`speaks`) are no sources, since they follow from its inputs. `obstacle`
    says why the call cannot be made again from all this; empty if it can. `unordered` names a variable or another
    thing that one op changes while others use it, in no order that the graph fixes. `touching` are all ops that may
    do more than compute numbers from numbers.
    """

    variables: tuple[UsedVariable, ...] = ()
    sources: tuple[SymbolicTensor, ...] = ()
    turned: tuple[LoopDraw, ...] = ()
    outside: tuple[Op, ...] = ()
    obstacle: str = ""
    unordered: str = ""
    touching: tuple[Op, ...] = ()

    @cached_property
    def written(self) -> tuple[UsedVariable, ...]:
        """The variables that the call may change."""
        return tuple(variable for variable in self.variables if variable.writers)

    @property
    def endless(self) -> str:
        """The name of a variable whose updates cannot be waited for (`UsedVariable.after`), or an empty string."""
        return next((variable.name for variable in self.written if variable.after == ()), "")


@dataclass
class _Found:
    variables: dict[str, Op] = field(default_factory=dict)
    writers: dict[str, list[Op]] = field(default_factory=dict)
    sources: list[SymbolicTensor] = field(default_factory=list)
    outside: list[Op] = field(default_factory=list)
    drawn: set[str] = field(default_factory=set)
    inside: list[SymbolicTensor] = field(default_factory=list)  # draws in loops and branches
    obstacle: str = ""
    functions: GraphFunctions | None = None


def call_state(
    ops: Sequence[GraphOp], fetchable: Collection[str], fed_names: frozenset[str], ends: Iterable[Op] = ()
) -> CallState:
    """What the `ops` of one call, inputs first, use.

    `fetchable` names its tensors that can be fetched, `ends` are the ops that the program fetches or runs.
    """
    found, order = _Found(), [op.op for op in ops]
    concerned = touching(ops)
    for op in concerned:
        _look_at(op, fetchable, fed_names, found)
    variables = tuple(
        UsedVariable(op, op.get_attr("dtype"), tuple(found.writers.get(name, ())))
        for name, op in found.variables.items()
    )
    writers = {variable.name: variable.writers for variable in variables if variable.writers}
    disputed = unordered(order, concerned, ends, writers, fed_names)
    # Draws are carried out of loops only if the order of ops is open: else they can be dumped without harm.
    turned, left = loop_draws(order, found.inside, fed_names) if found.inside and disputed else ([], found.inside)
    if left:
        op = left[0].op
        found.obstacle = found.obstacle or f"{op.name} ({op.type}) draws something in a loop or a branch"
    sources, outside = tuple(found.sources), tuple(found.outside)
    return CallState(variables, sources, tuple(turned), outside, found.obstacle, disputed, tuple(concerned))


def _look_at(op: Op, fetchable: Collection[str], fed_names: frozenset[str], found: _Found) -> None:
    if op.type in VARIABLES:
        found.variables[op.name] = op
        return
    if op.type in PASSING or _is_within(op, fed_names):
        return
    calls = calls_functions(op)
    held, foreign = held_by(op, fed_names)
    only_read = _only_read(op) if calls else frozenset[int]()
    for position, holder in held:
        if not leaves_variable(op.type) and position not in only_read:
            found.writers.setdefault(holder.name, []).append(op)
    # A replay never calls Python again, even if the program declares the function to be stateless.
    stateful = is_stateful(op) or op.type == "PyFuncStateless"
    if calls and stateful and not foreign:
        found.obstacle = found.obstacle or _obstacle_inside(op, found)
    elif calls and stateful:
        found.obstacle = found.obstacle or f"{op.name} ({op.type}) calls a function that may change something"
    if foreign or (stateful and not held and not calls and not follows(op.type)):
        _draws(op, fetchable, fed_names, found)
    elif any(tensor.name in found.drawn for tensor in op.inputs):
        found.obstacle = found.obstacle or f"{op.name} ({op.type}) reads a handle that another op drew"


def _is_within(op: Op, fed_names: frozenset[str]) -> bool:
    """Whether `op` makes or uses an array or a stack of tensors of this run alone, which no snapshot has to hold."""
    return is_of_a_run(op.type) and not any(tensor.name in fed_names for tensor in op.inputs if is_opaque(tensor))


def acts(op: Op, fed_names: frozenset[str], written: Collection[str]) -> bool:
    """Whether `op` acts on state in the graph, or uses a variable among those `written`, or may stop the run.

    Ops that only make a handle or hand one on do not act.
    """
    if op.type in VARIABLES or op.type in PASSING or only_handles(op.outputs):
        return False
    if op.op_def is not None and op.op_def.is_stateful and not leaves_variable(op.type):
        return True
    return bool(written) and any(holder.name in written for _, holder in held_by(op, fed_names)[0])


def changes(op: Op, fed_names: frozenset[str]) -> bool:
    """Whether `op` may change what a variable or something else holds."""
    if op.type in VARIABLES or op.type in PASSING or leaves_variable(op.type):
        return False
    if follows(op.type) or only_handles(op.outputs):
        return False
    only_read = _only_read(op) if calls_functions(op) else frozenset[int]()
    written = any(position not in only_read for position, _ in held_by(op, fed_names)[0])
    return written or bool(op.op_def is not None and op.op_def.is_stateful)


def _only_read(op: Op) -> frozenset[int]:
    """The positions of the variables that a call only reads, as TensorFlow found when it was built."""
    try:
        return frozenset(op.get_attr("_read_only_resource_inputs"))
    except ValueError:
        return frozenset()


def _obstacle_inside(op: Op, found: _Found) -> str:
    """Why a call of a function cannot be made again because of an op inside; empty if it can.

    Ops inside may read and write the variables that the call is given. They may not draw or act outside, since what
    they draw cannot be taken out of the call.
    """
    if found.functions is None:
        found.functions = GraphFunctions(op.graph)
    try:
        root = called_root(op, found.functions)
    except TfdbgError as error:
        return f"{op.name} ({op.type}) calls a function that may change something: {error.message}"
    for scope in root.all():
        for node in scope.needed.nodes:
            definition = compat.op_definition(node.op)
            stateless = definition is not None and not definition.is_stateful
            if stateless or follows(node.op) or node.name in scope.calls:
                continue
            handles = scope.body.handles(node)
            if not handles or any(scope.resolve(text).node not in root.argument_names for text in handles):
                return f"{scope.name_of(node.name)} ({node.op}) draws or changes something in a function"
    return ""


def _draws(op: Op, fetchable: Collection[str], fed_names: frozenset[str], found: _Found) -> None:
    if not only_handles(op.outputs):
        found.outside.append(op)
    if speaks(op.type):
        return
    for tensor in op.outputs:
        if tensor.name in fed_names:
            continue
        if is_opaque(tensor):
            if tensor.dtype.name == "variant":
                found.drawn.add(tensor.name)
        elif tensor.name in fetchable:
            found.sources.append(tensor)
        else:
            found.inside.append(tensor)
