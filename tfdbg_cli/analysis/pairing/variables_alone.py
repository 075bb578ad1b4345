"""A run as nothing but its variables, under the names that a checkpoint has for them: so the two can be compared."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from tfdbg_cli.analysis.graph.nodes.neighbours import neighbours_of
from tfdbg_cli.model.calls import Call, RunKind
from tfdbg_cli.model.gathered import Row
from tfdbg_cli.model.graph import Graph, Node
from tfdbg_cli.model.names import TensorName
from tfdbg_cli.model.runs import Run
from tfdbg_cli.model.tensors import FoundByNode, MemoryTensorStore, Tensor, describe
from tfdbg_cli.model.updates import UPDATED_VARIABLE, updated_variable
from tfdbg_cli.model.values import NoValue, Value, as_array
from tfdbg_cli.model.variables import SAVED_VARIABLE
from tfdbg_cli.ops.kinds import REFERENCE_VARIABLES, VARIABLE_READS


class _NamedRows(FoundByNode):
    """Rows of stores as variables with names of their own."""

    def __init__(self, rows: Mapping[str, Row]) -> None:
        super().__init__(TensorName(name, 0) for name in rows)
        self._rows = list(rows.items())

    def __len__(self) -> int:
        return len(self._rows)

    def __getitem__(self, index: int) -> Tensor:
        name, (store, row) = self._rows[index]
        return replace(store[row], name=TensorName(name, 0), execution=0, device="", op_type=SAVED_VARIABLE)

    def value(self, index: int) -> Value:
        store, row = self._rows[index][1]
        return store.value(row)


def variables_alone(run: Run, checkpoint: Run) -> tuple[Run, Run]:
    """`run` as its variables, as it left them, and `checkpoint` with those names of its own that the run uses.

    Where a run read a variable and wrote none of it, what it read counts.
    """
    rows = _variables(run)
    called = {node.name: node.attributes.get("full_name", "") for node in checkpoint.graph}
    store = checkpoint.tensors
    theirs: dict[str, Row] = {}
    for index in range(len(store)):
        own = store[index].node
        name = called.get(own, "") if called.get(own, "") in rows else own
        theirs[own if name in theirs else name] = store, index
    words = f"the variables of {run.call.title}"
    return _run(rows, replace(run.call, function=words), run), _run(theirs, checkpoint.call, checkpoint)


def _run(rows: Mapping[str, Row], call: Call, source: Run) -> Run:
    call = Call(call.number, RunKind.CHECKPOINT, (), function=call.function)
    graph = Graph([Node(name, SAVED_VARIABLE, "") for name in rows], source.graph.kind)
    return Run(call, _NamedRows(rows), graph, notes=source.notes, origin_path=source.origin_path)


def _variables(run: Run) -> dict[str, Row]:
    """The variables of a run by name: behind their last update, else as they were read, else as they were given."""
    store = run.tensors
    found: dict[str, Row] = {}
    for argument in run.call.arguments:
        value = run.call.feeds.get(argument.name) if argument.captured else None
        if value is not None and not isinstance(value, NoValue):
            array = as_array(value)
            named = TensorName(argument.name, 0)
            tensor = describe(named, array, device="", op_type=SAVED_VARIABLE, dtype=argument.dtype)
            found[argument.name] = MemoryTensorStore([tensor], [array]), 0
    for node in run.graph:
        rows = _read(run, node)
        if rows:
            found[node.name] = store, rows[-1]
    for name in store.nodes():
        rows = store.named(name, 0)
        if updated_variable(name) != name and store[rows[-1]].op_type == UPDATED_VARIABLE:
            found[updated_variable(name)] = store, rows[-1]
    return found


def _read(run: Run, node: Node) -> Sequence[int]:
    """Where the values lie that were read of the variable that a node is; nowhere where it is none."""
    if node.op_type in REFERENCE_VARIABLES:
        return run.tensors.named(node.name, 0)
    if node.op_type != "VarHandleOp":
        return ()
    readers = [edge.node for edge in neighbours_of(run.graph).outputs(node) if edge.node is not None]
    rows = [run.tensors.named(reader.name, 0) for reader in readers if reader.op_type in VARIABLE_READS]
    return next(filter(None, rows), ())
