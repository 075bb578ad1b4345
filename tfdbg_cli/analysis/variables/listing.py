"""The variables of a run, with what is known of each without its value."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Set
from dataclasses import dataclass, field, replace

from tfdbg_cli.analysis.graph.making.lineage import Lineage
from tfdbg_cli.analysis.variables.slots import slots_of
from tfdbg_cli.analysis.variables.slots_read import slots_read
from tfdbg_cli.analysis.variables.uses import Ran, VariableUse, use_of
from tfdbg_cli.model.calls import CallArgument, RunKind
from tfdbg_cli.model.dtypes import HANDLES, element_type_named
from tfdbg_cli.model.graph import Graph, Node
from tfdbg_cli.model.runs import Run
from tfdbg_cli.model.updates import after_update
from tfdbg_cli.model.whole_numbers import whole_number
from tfdbg_cli.ops.effects import takes_handle
from tfdbg_cli.ops.kinds import IDENTITIES, INPUTS, PASSING, REFERENCE_VARIABLES, VARIABLES

PartialShape = tuple[int | None, ...]
_SAVES = frozenset({"Save", "SaveSlices", "SaveV2"})


@dataclass(frozen=True)
class Variable:
    """A variable of a run. What is None, or empty, is not known.

    `rows` are the tensors of the run that hold its value, best first: what its updates left, else what was read;
    `given` says that the call was given it, so that its value from before stands among the feeds. `read` and
    `written` say whether the run does that. `slot_of` is the variable that it is a slot of; `key` is what a
    checkpoint calls it, `full_name` what the program calls what a checkpoint names by the way to it. `is_idle` says
    that nothing in the graph reads it, but what saves it.
    """

    name: str
    op_type: str
    dtype: str = ""
    shape: PartialShape | None = None
    nbytes: int | None = None
    device: str = ""
    trainable: bool | None = None
    read: bool | None = None
    written: bool | None = None
    rows: tuple[int, ...] = ()
    given: bool = False
    slot_of: str = ""
    key: str = ""
    full_name: str = ""
    is_idle: bool = False
    use: VariableUse = field(default_factory=VariableUse)

    @property
    def elements(self) -> int | None:
        """How many elements it has: by its shape, or where that is not known by its bytes."""
        if self.shape is not None and None not in self.shape:
            return math.prod(size or 0 for size in self.shape)
        element = element_type_named(self.dtype) if self.dtype else None
        itemsize = None if element is None else element.itemsize
        return self.nbytes // itemsize if self.nbytes is not None and itemsize else None

    @property
    def kind(self) -> tuple[str, PartialShape | None]:
        """Its dtype and shape: variables of one kind may be taken for each other."""
        return self.dtype, self.shape


def variables_of(run: Run) -> list[Variable]:
    """The variables of the graphs of `run`, in the order of the graph; no value is looked at."""
    lineage = Lineage(run)
    arguments = {argument.name: argument for argument in run.call.arguments}
    given, trainable = frozenset(run.call.feeds), {} if run.variables is None else run.variables.trainable
    found: dict[str, Variable] = {}
    for graph in lineage.graphs:
        ran = Ran(graph, run.call)
        for node in _holders(graph, lineage, run):
            if node.name not in found:
                use = use_of(graph, node)
                known = _described(run, graph, node, use, arguments.get(node.name))
                read = ran.one_of(use.readers) or (None if ran.one_of(use.calls) else ran.one_of(use.readers))
                written = after_update(node.name) in run.graph or ran.one_of(use.writers)
                found[node.name] = replace(
                    known, read=read, written=written, given=node.name in given, trainable=trainable.get(node.name)
                )
    owners = {**_owners(found), **_owners_by_use(run, found)}  # numbers behind names may be those of another
    trained = frozenset(owners.values())
    return [_with_owner(one, owners, trained) for one in found.values()]


def _owners_by_use(run: Run, found: Mapping[str, Variable]) -> Mapping[str, str]:
    """By name the variable that a slot belongs to, told by the updates of the run."""
    known = {name: (one.kind, one.use) for name, one in found.items() if one.shape is not None}
    return slots_read(run.graph, known)


def _owners(found: Mapping[str, Variable]) -> Mapping[str, str]:
    """By name the variable that a slot belongs to; as the program calls them where a checkpoint tells that."""
    known = [one for one in found.values() if one.shape is not None]
    often = Counter(one.full_name or one.name for one in known)
    called = {(one.full_name or one.name): one for one in known if often[one.full_name or one.name] == 1}
    owners = slots_of({name: one.kind for name, one in called.items()})
    return {called[slot].name: called[owner].name for slot, owner in owners.items()}


def _with_owner(variable: Variable, owners: Mapping[str, str], trained: Set[str]) -> Variable:
    """With what it is a slot of; what an optimizer keeps a slot of is trained, where nothing else tells."""
    owner = variable.slot_of or owners.get(variable.name, "")
    trainable = variable.trainable
    if owner and trainable is not True:
        return replace(variable, slot_of=owner, trainable=False)
    return replace(variable, trainable=True) if trainable is None and variable.name in trained else variable


def _holders(graph: Graph, lineage: Lineage, run: Run) -> Iterator[Node]:
    """The nodes of `graph` that stand for a variable."""
    op_types = graph.distinct_op_types()
    if op_types.isdisjoint(VARIABLES | INPUTS):
        return
    wanted = [name for name, op_type in graph.op_types() if op_type in VARIABLES or op_type in INPUTS]
    for name in wanted:
        node = graph.find(name)
        if node is None:
            continue
        if node.op_type in VARIABLES or lineage.is_variable(node) or _is_given_handle(graph, node, run):
            yield node


def _is_given_handle(graph: Graph, node: Node, run: Run) -> bool:
    """Whether a function that was not called, in a file, takes the handle of a variable by `node`."""
    if run.call.kind is not RunKind.GRAPH or node.attributes.get("dtype") not in HANDLES:
        return False
    return any(takes_handle(reader.op_type) for reader, _ in graph.consumers(node.name))


def _described(run: Run, graph: Graph, node: Node, use: VariableUse, argument: CallArgument | None) -> Variable:
    rows = _rows(run, node, use)
    tensor = run.tensors[rows[0]] if rows else None
    told = node.attributes.get("dtype", "").removesuffix("_ref")
    dtype, shape = told if told not in HANDLES else "", _shape_told(node.attributes.get("shape"))
    if told in HANDLES and node.op_type in INPUTS:
        shape = None  # the graph tells that of the handle, a scalar
    if argument is not None and argument.dtype not in HANDLES:
        dtype, shape = argument.dtype, argument.shape
    if tensor is not None:
        dtype, shape = tensor.dtype or dtype, shape if tensor.shape is None else tensor.shape
    if not dtype:
        reads = (reader.attributes.get("dtype", "") for reader in use.readers)
        dtype = next((one for one in reads if one and one not in HANDLES), "")
    return Variable(
        node.name,
        node.op_type,
        dtype,
        shape,
        tensor.nbytes if tensor is not None and tensor.nbytes is not None else _size(dtype, shape),
        node.device or (tensor.device if tensor is not None else ""),
        rows=rows,
        slot_of=node.attributes.get("slot_of", ""),
        key=node.attributes.get("checkpoint_key", ""),
        full_name=node.attributes.get("full_name", ""),
        is_idle=not use.calls and not any(_computes(graph, reader) for reader in use.readers),
        use=use,
    )


def _rows(run: Run, node: Node, use: VariableUse) -> tuple[int, ...]:
    """The rows of the tensors that hold the variable, best first."""
    store = run.tensors
    after = store.named(after_update(node.name), 0)[-1:]
    own = store.named(node.name, 0)[-1:] if node.op_type in REFERENCE_VARIABLES else ()
    reads = [row for one in use.readers if one.op_type == "ReadVariableOp" for row in store.named(one.name, 0)[-1:]]
    return (*after, *own, *sorted(reads, reverse=True))


def _computes(graph: Graph, reader: Node) -> bool:
    """Whether something comes of what `reader` reads, but a file."""
    if reader.op_type != "ReadVariableOp" and reader.op_type not in IDENTITIES | PASSING:
        return True
    return any(
        after.op_type not in _SAVES and (after.op_type not in IDENTITIES or graph.consumers(after.name))
        for after, _ in graph.consumers(reader.name)
    )


def _shape_told(text: str | None) -> PartialShape | None:
    """The shape written as `[?,3]`; None where no rank is told."""
    if not text or text[0] != "[":
        return None
    sizes = [size.strip() for size in text[1:-1].split(",")] if text != "[]" else []
    return tuple(whole_number(size) for size in sizes)


def _size(dtype: str, shape: PartialShape | None) -> int | None:
    element = element_type_named(dtype) if dtype else None
    if element is None or element.itemsize is None or shape is None or None in shape:
        return None
    return element.itemsize * math.prod(size or 0 for size in shape)
