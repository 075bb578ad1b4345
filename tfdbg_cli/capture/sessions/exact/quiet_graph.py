"""The part of the program's graph that a run needs, changed so that a replay of it does nothing outside of the graph.

What ops drew from outside is fed in a replay, and TensorFlow does not run what leads to a fed tensor: an update of a
variable before a batch is drawn would be lost. So the ops that lead there become targets of the run, in the program's
order, and the op whose outputs are fed is cut off from them: TensorFlow's optimizer drops control edges that follow
from others, even if those pass through an op that never runs. In its place stands one that draws nothing: the
optimizer also adds control edges, such as that of a call which it took apart to all that the call is given, and by
such an edge an op runs though all its outputs are fed. A queue of the copy's is empty: whoever draws there waits
for ever. Other ops that act outside (print, write a file) are silenced; what waited for them waits for what came
before them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import tensorflow as tf

from tfdbg_cli.capture.sessions.as_written import WRITTEN, drawn_name
from tfdbg_cli.capture.sessions.call_state import CallState, acts
from tfdbg_cli.capture.sessions.hidden_ops import PREFIX
from tfdbg_cli.capture.sessions.reach import ancestors, needs_of, nests_of
from tfdbg_cli.capture.sessions.unordered import Held, marks_before
from tfdbg_cli.capture.tf import colocation
from tfdbg_cli.capture.tf.op_definitions import only_handles
from tfdbg_cli.capture.tf.types import GraphDef, NodeDef, Op, SymbolicTensor, TfGraph
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.model.walks import depth_first
from tfdbg_cli.ops.control_flow import OUTSIDE
from tfdbg_cli.ops.effects import speaks
from tfdbg_cli.ops.kinds import PYTHON

_LARGEST_GRAPH = (1 << 31) - 1  # bytes; protobuf writes no more
_NOTHING = f"{PREFIX}nothing/"
_LED_TO = f"{PREFIX}led_to/"


@dataclass(frozen=True)
class QuietGraph:
    """The serialized graph, and the ops `led_to` that a run must have as targets to run what leads to fed tensors.

    `lost` names the program's ops that must not run, not even as targets: those that draw.
    """

    definition: bytes
    led_to: tuple[str, ...]
    lost: frozenset[str]


def quiet_graph(graph: TfGraph, order: Sequence[Op], fed_names: Collection[str], state: CallState) -> QuietGraph:
    """The part of `graph` for replays of a run in which `fed_names`, and what ops drew, are fed.

    `order` are all ops of the run, inputs first.

    Raises:
        TfdbgError: the graph is too large.

    """
    fed_ops = [graph.as_graph_element(name).op for name in fed_names]
    # What leads to a fed tensor does not run, but must be in the graph. Placeholders have nothing that leads to them.
    led_to_fed = any(op.inputs or op.control_inputs for op in fed_ops)
    parts = [*order, *fed_ops]
    kept = {op.name for op in (ancestors(parts, ()) if led_to_fed else parts)}
    whole = graph.as_graph_def()
    if whole.ByteSize() > _LARGEST_GRAPH:
        raise TfdbgError("The graph is larger than 2 GB, so it cannot be written.", hint="Keep data out of it.")
    part = tf.compat.v1.GraphDef(versions=whole.versions, library=whole.library)
    part.node.extend(node for node in whole.node if node.name in kept)
    quieted = _Quieted(order, frozenset(fed_names), state)
    if state.outside:
        quieted.rewrite(part)
    for node in part.node:
        colocation.rename(node, lambda name: name if name in kept else None)
    # A copy of the run is known again by these bytes, and protobuf writes attributes in any order unless told not to.
    definition = part.SerializeToString(deterministic=True)
    return QuietGraph(definition, tuple(map(_led_to, quieted.awaited)), frozenset(quieted.lost))


class _Quieted:
    """Rewrites the ops of one call that act outside of the graph.

    `lost` are those that draw, whose outputs are fed. `awaited` are those of the lost ones that depend on an op which
    acts on the graph's state, such as a variable.
    """

    def __init__(self, order: Sequence[Op], fed_names: frozenset[str], state: CallState) -> None:
        self._order = order
        self._fed = fed_names
        self._state = state
        self._outside = {op.name: op for op in state.outside}
        turned = {draw.tensor.op.name for draw in state.turned}
        drawing = {name: op for name, op in self._outside.items() if op.outputs and not speaks(op.type)}
        self.lost = {name: op for name, op in drawing.items() if name not in turned}
        self._spoken = self._outside.keys() - drawing.keys()
        self._writers = {variable.name: variable.writers for variable in state.written}
        # Ops that hold a variable or make a handle do not act on state themselves.
        self._acting = {
            op.name for op in state.touching if op.name not in self._outside and acts(op, fed_names, self._writers)
        }
        self._uses = {
            thing: [name for name in names if name not in self.lost]
            for thing, names in Held(state.touching, self._writers, fed_names).uses.items()
            if thing in self._writers
        }
        # An op may also read a variable of the old kind through shared memory; its order with updates counts, too.
        self._acting.update(name for names in self._uses.values() for name in names)
        self.awaited = [name for name, op in self.lost.items() if self._acted_before(op)]
        self._nests = nests_of(order, fed_names) if self._outside else {}

    def _acted_before(self, op: Op) -> bool:
        return bool(self._acting) and any(one.name in self._acting for one in ancestors([op], self._fed))

    def rewrite(self, definition: GraphDef) -> None:
        """Rewrite the ops in `definition`, a GraphDef with the part of the graph that is needed."""
        ordering = self._ordering()
        awaited = frozenset(self.awaited)
        for node in definition.node:
            if node.name in self._spoken:
                self._silence(node, self._outside[node.name])
            if self.lost:
                inputs = [new for text in node.input for new in self._rewired(text, ordering, awaited)]
                del node.input[:]
                node.input.extend(_each_once(inputs))
        nothing = _Nothing(definition)
        for node in list(definition.node):
            if node.name in self.lost:
                nothing.put_in_place(node, self.lost[node.name])
        for name in self.awaited:
            op = self.lost[name]
            node = definition.node.add(name=_led_to(name), op="NoOp", device=op.device)
            node.input.extend(self._before(op))
        for draw in self._state.turned:
            draw.feed_turns(definition)
        for name in ordering:
            op = self.lost[name]
            for tensor in self._drawn_by(op):
                node = definition.node.add(name=_drawn(tensor), op="Identity", device=op.device)
                node.attr["T"].type = tensor.dtype.as_datatype_enum
                node.input.extend([tensor.name, f"^{_led_to(name)}"])

    def _rewired(self, text: str, ordering: Collection[str], awaited: Collection[str]) -> Iterator[str]:
        """The inputs that replace the input `text` of a node."""
        if text[:1] == "^":
            if text[1:] not in self.lost:
                yield text
            elif text[1:] in awaited:
                yield f"^{_led_to(text[1:])}"
            return
        name, _, slot = text.partition(":")
        if name in ordering:
            tensor = self.lost[name].outputs[int(slot or 0)]
            if tensor.name in {one.name for one in self._drawn_by(self.lost[name])}:
                yield _drawn(tensor)
                return
        yield text

    def _drawn_by(self, op: Op) -> list[SymbolicTensor]:
        return [tensor for tensor in self._state.sources if tensor.op.name == op.name]

    def _silence(self, node: NodeDef, op: Op) -> None:
        """Make `node`, the definition of `op`, hand on its first input, or do nothing."""
        given = [text for text in node.input if text[:1] != "^"]
        # What waits for it in a branch that is not taken must not run: it knows only by a data input of this op.
        inside = self._nests.get(op.name, OUTSIDE) != OUTSIDE
        first = given[:1] if op.outputs or inside else []
        waits = [f"^{tensor.op.name}" for tensor in op.inputs] if inside else self._before(op)
        node.op = "Identity" if first else "NoOp"
        node.attr[WRITTEN].s = op.type.encode()
        for key in [key for key in node.attr if not key.startswith("_")]:
            del node.attr[key]
        if first:
            node.attr["T"].type = op.inputs[0].dtype.base_dtype.as_datatype_enum
        controls = [text for text in (*waits, *node.input) if text[:1] == "^"]
        del node.input[:]
        node.input.extend(_each_once([*first, *controls]))

    def _before(self, op: Op) -> list[str]:
        """The control inputs for all that must be over before `op` runs, seen through ops that only make handles."""

        def makes_handles(one: Op) -> bool:
            return one.name not in self.lost and only_handles(one.outputs)

        found: list[str] = []
        needs = needs_of(op, self._fed)
        for one in depth_first(needs, lambda one: needs_of(one, self._fed) if makes_handles(one) else ()):
            if one.name in self.awaited:
                found.append(f"^{_led_to(one.name)}")
            elif one.name not in self.lost and not makes_handles(one):
                found.append(f"^{one.name}")
        return found

    def _ordering(self) -> frozenset[str]:
        """The lost ops without which the order of other ops that use a variable would be open."""
        if not self.awaited:
            return frozenset()
        drawn = frozenset(tensor.name for tensor in self._state.sources)
        used = {name: None for names in self._uses.values() for name in names}
        marks = {name: 1 << at for at, name in enumerate(used)}
        first = marks_before(self._order, marks, self._fed, turns=True)
        again = marks_before(self._order, marks, self._fed | drawn, turns=True)
        found: set[str] = set()
        for thing, names in self._uses.items():
            writing = sum({marks[op.name] for op in self._writers[thing] if op.name in marks})
            touching = sum({marks[name] for name in names})
            for name in names:
                # Two reads need no order between them.
                others = (touching if marks[name] & writing else writing) & ~marks[name]
                lacking = first[name] & ~again[name] & others
                found.update(one for one in self.awaited if lacking and first[one] & lacking)
        return frozenset(found)


class _Nothing:
    """Puts ops that read nothing of the run, and draw nothing, in the place of those whose outputs are fed."""

    def __init__(self, definition: GraphDef) -> None:
        self._definition = definition
        self._made: set[str] = set()

    def put_in_place(self, node: NodeDef, op: Op) -> None:
        """Make `node`, the definition of `op`, one that gives as many outputs of the same dtypes and shapes."""
        types = [tensor.dtype.base_dtype.as_datatype_enum for tensor in op.outputs]
        shapes = [tf.TensorShape(None if op.type in PYTHON else tensor.shape).as_proto() for tensor in op.outputs]
        if "output_shapes" in node.attr:
            shapes = list(node.attr["output_shapes"].list.shape)
        given = []
        for slot, (dtype, shape) in enumerate(zip(types, shapes, strict=True)):
            given.append(self._any_shape(f"{node.name}/{slot}", dtype, shape, self._empty(dtype)))
        put = type(node)(name=node.name, op="IdentityN", device=node.device, input=given)
        put.attr["T"].list.type.extend(types)
        put.attr[WRITTEN].s = op.type.encode()
        node.CopyFrom(put)

    def _empty(self, dtype: int) -> str:
        """No elements, of which the graph does not tell that there are none."""
        name = f"{_NOTHING}{dtype}"
        if name not in self._made:
            self._made.add(name)
            empty = self._definition.node.add(name=f"{name}/value", op="Const")
            empty.attr["dtype"].type = empty.attr["value"].tensor.dtype = dtype
            empty.attr["value"].tensor.tensor_shape.dim.add(size=0)
            self._any_shape(f"{dtype}", dtype, tf.TensorShape(None).as_proto(), empty.name)
        return name

    def _any_shape(self, name: str, dtype: int, shape: Any, given: str) -> str:
        """An op that hands on `given`, and of which the graph tells the shape `shape`, true or not."""
        node = self._definition.node.add(name=f"{_NOTHING}{name}", op="PlaceholderWithDefault", input=[given])
        node.attr["dtype"].type = dtype
        node.attr["shape"].shape.CopyFrom(shape)
        return str(node.name)


def _each_once(inputs: Sequence[str]) -> list[str]:
    """The `inputs` of a node, with each control input but once."""
    waits = dict.fromkeys(text for text in inputs if text[:1] == "^")
    return [*(text for text in inputs if text[:1] != "^"), *waits]


def _led_to(name: str) -> str:
    return f"{_LED_TO}{name}"


def _drawn(tensor: SymbolicTensor) -> str:
    return drawn_name(tensor.op.name, tensor.value_index)
