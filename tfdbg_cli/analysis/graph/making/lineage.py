"""The values a tensor was computed from, looked up in the run along the graph's edges."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, replace

from tfdbg_cli.analysis.graph.flow.popped import POPS, equal_values, popped, stacked_row
from tfdbg_cli.analysis.graph.flow.turns import LoopTurns
from tfdbg_cli.analysis.graph.flow.unpacked import Packed, unpacked
from tfdbg_cli.analysis.graph.flow.updates_within import HeldBefore
from tfdbg_cli.analysis.graph.flow.variable_states import VariableState, VariableStates
from tfdbg_cli.analysis.graph.making.node_facts import VARIABLE_OPS, NodeFacts
from tfdbg_cli.analysis.graph.making.unseen_values import why_unseen
from tfdbg_cli.analysis.graph.nodes.call_scopes import call_scopes
from tfdbg_cli.analysis.graph.nodes.feeds import fed_elements, feed_name
from tfdbg_cli.analysis.graph.nodes.neighbours import Edge
from tfdbg_cli.model.calls import RunKind
from tfdbg_cli.model.graph import LOOP_VARIABLE, Node
from tfdbg_cli.model.names import TensorName
from tfdbg_cli.model.runs import Run
from tfdbg_cli.model.tensors import Shape, Tensor
from tfdbg_cli.model.updates import UPDATED_VARIABLE, after_update
from tfdbg_cli.model.values import Array, NoValue
from tfdbg_cli.ops.kinds import ASSIGNMENTS, NEXT_ITERATION, SAME_VALUE

_MOST_COPIES = 1_000  # ops that change nothing, one behind the other
_NOT_TAKEN = "in a branch that this turn of the loop did not take"
_NO_TURN = "of a turn of the loop that cannot be told"
_WRITTEN_SINCE = "written in this run, and not shown between that and here"


@dataclass(frozen=True)
class InputSeen:
    """One input of a tensor, as far as it is known.

    `index` is its place in the run's tensors (None: it was fed, held, or not captured). `value` may be None; `note`
    then says why. `instead` names another tensor whose equal value is shown, or says where the value comes from.
    """

    name: TensorName
    node: Node | None
    index: int | None = None
    tensor: Tensor | None = None
    value: Array | None = None
    note: str = ""
    instead: str = ""

    @staticmethod
    def given(edge: Edge, value: Array, instead: str) -> InputSeen:
        """An input that no tensor of the run shows, as it was fed or held."""
        return InputSeen(edge.tensor, edge.node, value=value, instead=instead)

    @staticmethod
    def lacking(edge: Edge, note: str) -> InputSeen:
        """An input that is not known: `note` says why."""
        return InputSeen(edge.tensor, edge.node, note=note)

    @property
    def shape(self) -> Shape | None:
        """The shape of the input, without reading it; None when it is not known."""
        return self.tensor.shape if self.tensor is not None else None if self.value is None else self.value.shape


class Lineage(NodeFacts):
    """Inputs of the tensors of one run."""

    def __init__(self, run: Run) -> None:
        super().__init__(run)
        self._feeds = run.call.feeds
        self._held = HeldBefore(run)
        self._turns = LoopTurns(run.graph, run.tensors)
        self._replaced = run.replaced
        states = VariableStates(run.graph, run.tensors, self._replaced)
        self._states = states if run.call.kind is RunKind.FUNCTION else None

    def was_read(self, node: Node) -> list[int]:
        """The rows of the tensors that hold the value of the variable `node` from before any update of the run."""
        readers = (reader for reader, _ in self.graph_of(node).consumers(node.name))
        return [
            i
            for reader in readers
            if reader.op_type == "ReadVariableOp" and not self.updates_before(reader, node)
            if TensorName(reader.name, 0) not in self._replaced  # by `set`: that is no value of the variable
            for i in self._run.tensors.named(reader.name)
        ]

    def held(self, variable: Node) -> Array | None:
        """The value of a session's `variable` from before the run; None if it is not known."""
        return self._held.value(variable.name)

    def inputs(self, index: int) -> list[InputSeen]:
        """The inputs of the tensor at `index`, with the values that they had when it was computed."""
        return [self._read(item) for item in self.places(index)]

    def update(self, index: int) -> Node | None:
        """The op that wrote the variable shown at `index`, where eager code wrote it; None elsewhere, or if unknown.

        Code that runs eagerly updates a variable as often as it likes, and each time its value is looked at.
        """
        tensor, node = self._run.tensors[index], self.node(index)
        if node is None or self._run.call.kind is not RunKind.EAGER or node.op_type != UPDATED_VARIABLE:
            return None
        made = node.control_inputs
        at_all = len(made) == len(self._run.tensors.named(tensor.node))
        return self.graph_of(node).find(made[tensor.execution]) if at_all and tensor.execution < len(made) else None

    def first_update(self, variable: Node) -> Node | None:
        """The first of the run's ops that write `variable`; None if none does. Those of eager code are in order."""
        return next(iter(self.writers(variable)), None)

    def is_made_here(self, variable: Node) -> bool:
        """Whether the run, of code that runs eagerly, made `variable` itself."""
        eager = self._run.call.kind is RunKind.EAGER
        return eager and variable.op_type == "VarHandleOp" and variable.name in self._run.tracebacks

    def first_value(self, variable: Node) -> Array | None:
        """What `variable` was assigned first, if the run made it; None if nobody knows."""
        first = self.first_update(variable) if self.is_made_here(variable) else None
        if first is None or first.op_type not in ASSIGNMENTS:
            return None
        given = self.inputs_of_node(first)[1:2]
        return given[0].value if given else None

    def written(self, index: int) -> VariableState | None:
        """What this call of a function had made of the variable that the tensor at `index` shows; None if nothing.

        So it is, too, where that cannot be told, and in runs of other kinds.
        """
        node = self.node(index) if self._states is not None else None
        return None if self._states is None or node is None else self._states.written(index, node)

    def places(self, index: int) -> list[InputSeen]:
        """As `inputs`, but without reading values of captured tensors: `index` and `tensor` say which they are."""
        node = self.node(index)
        if node is None:
            return []
        if node.op_type == LOOP_VARIABLE:
            return self._turned(node, index)
        if node.op_type == UPDATED_VARIABLE and (update := self.update(index)) is not None:
            return [self._seen(edge, index) for edge in self.edges(node)[:1] + self.edges(update)[1:]]
        written = self.written(index)
        if written is not None:
            return self._as_written(node, written, index)
        packed = unpacked(self.graph_of(node), node)
        if packed:
            return [self._taken_out(packed, index)]
        if node.op_type in POPS:
            slot, store = self._run.tensors[index].slot, self._run.tensors
            taken = popped(node, slot, index, store, self.graph_of(node), self.edges)
            if taken is not None:
                edge, row = taken
                return [self._shown_at(edge, row)]
        return [self._seen(edge, index) for edge in self.edges(node)]

    def _as_written(self, node: Node, written: VariableState, index: int) -> list[InputSeen]:
        """What the variable that `node` shows was, and what was `written` into it since."""
        variable, *given = self.edges(node)
        by = [edge for name in written.updates if (by := self._run.graph.find(name)) for edge in self.edges(by)[1:]]
        if node.op_type == UPDATED_VARIABLE:  # it knows what updates within calls are given, too
            among = {edge.tensor for edge in by}
            by = [edge for edge in given if edge.tensor in among]
        by = [edge for edge in by if edge.node is None or not self.is_variable(edge.node)]
        held = self._seen(variable, index) if written.row is None else self._shown_by_other(variable, written.row)
        return [held, *(self._seen(edge, index) for edge in dict.fromkeys(by))]

    def _shown_at(self, edge: Edge, row: int, instead: str = "") -> InputSeen:
        """What was passed along `edge`, shown by the tensor at `row`: not read yet."""
        return InputSeen(edge.tensor, edge.node, row, self._run.tensors[row], instead=instead)

    def _shown_by_other(self, edge: Edge, row: int) -> InputSeen:
        """The same, where the tensor at `row` is another one than that which flows along `edge`."""
        return self._shown_at(edge, row, str(self._run.tensors[row].name))

    def _taken_out(self, packed: Sequence[Packed], index: int) -> InputSeen:
        """What the tensor at `index`, taken out of an Optional, was when it was put there: one of `packed`."""
        store = self._run.tensors
        found: list[InputSeen] = []
        for edge, stacked in ((one.edge, one.stacked) for one in packed):
            row = stacked_row(edge.tensor, index, store) if stacked else None
            if row is not None:
                found.append(self._shown_at(edge, row))
            else:
                found.append(InputSeen.lacking(edge, _NO_TURN) if stacked else self._seen(edge, index))
        rows = {item.index: item for item in found if item.index is not None}
        equal = (row for row in rows if len(rows) > 1 and equal_values(store, row, index))
        return rows[next(equal, next(iter(rows)))] if rows else found[0]

    def _turned(self, node: Node, index: int) -> list[InputSeen]:
        """The input of a loop variable: in the first iteration its initial value, then that of the previous one."""
        start, *before = self.edges(node) or (None,)
        if start is None:
            return []
        if not before:
            return [self._seen(start, index)]
        last = self._turn_before(node, before[0], index)
        if last is None:
            return [self._seen(start, index)]
        edge = before[0]
        instead = "" if self._run.tensors[last].name == edge.tensor else str(self._run.tensors[last].name)
        return [self._shown_at(edge, last, instead)]

    def _turn_before(self, node: Node, edge: Edge, index: int) -> int | None:
        """The row of the value that the loop variable at `index` got from the previous iteration; None if first."""
        store = self._run.tensors
        if edge.node is not None and edge.node.op_type == LOOP_VARIABLE:
            # Loop variables of one iteration are recorded in no fixed order: find the previous one by execution.
            wanted = store[index].execution - 1
            last = next((i for i in store.named(edge.tensor.node) if store[i].execution == wanted), None)
        else:
            item = self._seen(edge, index)
            last = item.index
        if last is None or last > index:
            return None
        # The loop op itself is recorded when it ends; values from before that belong to an earlier call of it.
        scopes = call_scopes(self.graph_of(node))
        loop = next((scopes.caller(scope) for scope in scopes.around(node.name)), None)
        ended = [] if loop is None else store.named(loop)
        return None if any(last < end < index for end in ended) else last

    def inputs_before(self, node: Node, index: int) -> list[InputSeen]:
        """The inputs of a node without a tensor of its own, as they were before the tensor at `index`; not read."""
        return [self._seen(edge, index) for edge in self.edges(node)]

    def inputs_of_node(self, node: Node) -> list[InputSeen]:
        """The inputs of a node that made no tensor (it failed): their latest values."""
        return [self._read(self._seen(edge, None)) for edge in self.edges(node)]

    def _read(self, item: InputSeen) -> InputSeen:
        if item.index is None:
            return item
        value = self._run.tensors.value(item.index)
        return replace(item, note=value.text) if isinstance(value, NoValue) else replace(item, value=value)

    def _seen(self, edge: Edge, reader: int | None) -> InputSeen:
        """What was passed along `edge`; if it was not captured, look for it upstream of ops that change nothing."""
        written = self._written(edge, reader)
        if written is not None:
            return written
        at, met = edge, set[TensorName]()
        while True:
            seen = self._seen_at(at, edge, reader)
            if seen is not None:
                return seen
            met.add(at.tensor)
            further = self._further(at.tensor, at.node)
            if further is None or further.tensor in met or len(met) > _MOST_COPIES:
                return InputSeen.lacking(edge, why_unseen(self._run, at.node))
            at = further

    def _seen_at(self, at: Edge, edge: Edge, reader: int | None) -> InputSeen | None:
        """What was passed along `edge`, told by what was passed along `at`, which is the same; None if unknown.

        A tensor that shows it comes first. Of a variable that may show nothing, or only its handle: then what the run
        read of it, or held, from before all updates; and what the run was given comes last, since that may be what
        the variable was afterwards.
        """
        name, node = at.tensor, at.node
        instead = "" if name == edge.tensor else str(name)
        device = node.whole_device if node is not None and self.has_namesakes(node) else None
        same = None if reader is None else self._turns.same_turn(name, device, reader)
        if same is not None and not same.taken:
            return InputSeen.lacking(edge, _NOT_TAKEN)
        found = self._latest(name, device, node, reader) if same is None else same.index
        variable = node if node is not None and self.is_variable(node) else None
        if found is not None and not (self._is_handle(found) or (variable and self._is_unseen(found))):
            return self._shown_at(edge, found, instead)
        before = None if variable is None else self._before_updates(edge, variable, found, reader)
        if before is not None:
            return before
        if found is not None:
            return self._shown_at(edge, found, instead)
        fed = fed_elements(self._feeds, feed_name(node) or name)
        return None if fed is None else InputSeen.given(edge, fed, instead or ("" if variable else "fed"))

    def _before_updates(self, edge: Edge, variable: Node, found: int | None, reader: int | None) -> InputSeen | None:
        """What `variable` was before all updates of the run, as it was read, or is held; `found` is what shows it."""
        read = self._read_before(variable, reader)
        if read is not None:
            return self._shown_by_other(edge, read)
        held = self.held(variable) if self._is_unseen(found) else None
        return None if held is None else InputSeen.given(edge, held, "held before the run")

    def _written(self, edge: Edge, reader: int | None) -> InputSeen | None:
        """The updated variable, if the tensor at `reader` is read from it after all its updates; else None.

        In eager code, whose updates are shown one by one, after any of them: the last one before.
        """
        variable = edge.node
        node = None if reader is None or self._states is None else self.node(reader)
        if reader is not None and node is not None and self._states is not None:
            written = self._states.when_read(reader, node, edge.tensor.node)
            if written is not None and not written.updates and written.row is not None:
                return self._shown_by_other(edge, written.row)
            return None if written is None else InputSeen.lacking(edge, _WRITTEN_SINCE)
        if reader is None or variable is None or variable.op_type not in VARIABLE_OPS:
            return None
        node = self.node(reader)
        after = after_update(variable.name)
        shown = next((graph.find(after) for graph in self.graphs if graph.find(after)), None)
        # Only the writers of this run: an initializer, for example, writes the variable in a run of its own.
        writers = frozenset() if shown is None else frozenset(shown.control_inputs)
        rows = self._run.tensors.named(after)
        if self._run.call.kind is RunKind.EAGER:
            before = [row for row in rows if row < reader] if len(rows) == len(writers) else []
            is_read = node is not None and node.op_type == "ReadVariableOp"
            return self._shown_by_other(edge, before[-1]) if before and is_read else None
        if node is None or not writers or not writers <= self.updates_before(node, variable):
            return None
        if len(rows) != 1 or rows[0] == reader:
            return None
        return self._shown_by_other(edge, rows[0])

    def _read_before(self, variable: Node, reader: int | None) -> int | None:
        """The first row before `reader` that holds the value of `variable` from before any update; or None."""
        earlier = (i for i in self.was_read(variable) if reader is None or i < reader)
        return next((i for i in earlier if self.written(i) is None), None)

    def _is_handle(self, index: int) -> bool:
        return self._run.tensors[index].op_type == "VarHandleOp"

    def _is_unseen(self, index: int | None) -> bool:
        return index is None or isinstance(self._run.tensors.value(index), NoValue)

    def _further(self, name: TensorName, node: Node | None) -> Edge | None:
        if node is None or node.op_type not in SAME_VALUE:
            return None
        position = SAME_VALUE[node.op_type]
        edges = self.edges(node)
        position = name.slot if position is None else position
        return edges[position] if position < len(edges) else None

    def _latest(self, name: TensorName, device: str | None, node: Node | None, reader: int | None) -> int | None:
        """The last tensor called `name` (on `device`, if given) before the one at `reader`.

        Timestamps of a runtime are taken beside the computation, so that an input may carry a later one than
        its reader; without an earlier tensor, the one of the same execution counts.
        """
        store = self._run.tensors
        found = store.named(name.node, name.slot)
        end = len(found) if reader is None else bisect_left(found, reader)
        for position in range(end - 1, -1, -1):
            if device is None or store[found[position]].device in ("", device):
                return found[position]
        if reader is None or (node is not None and node.op_type in NEXT_ITERATION):
            return None
        execution = store[reader].execution
        for position in range(end, len(found)):
            tensor = store[found[position]]
            if found[position] != reader and tensor.execution == execution and device in (None, tensor.device):
                return found[position]
        return None


def variable_of(node: Node, lineage: Lineage) -> str | None:
    """The variable whose value `node` gives or reads through ops that change nothing; None for other nodes."""
    met: set[str] = set()
    current: Node | None = node
    while current is not None and current.name not in met and len(met) < _MOST_COPIES:
        if lineage.is_variable(current):
            return current.name
        if current.op_type != "ReadVariableOp" and current.op_type not in SAME_VALUE:
            return None
        met.add(current.name)
        edges = lineage.edges(current)
        if edges and edges[0].node is None and current.op_type == "ReadVariableOp":
            return edges[0].tensor.node
        current = edges[0].node if edges else None
    return None
