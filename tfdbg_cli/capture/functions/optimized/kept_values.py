"""Finds the values of a function that the graph optimizer has kept, nearly all under their names."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property

from tfdbg_cli.capture.functions.definition.body import Body, NodeOutput, ReferenceTarget
from tfdbg_cli.capture.functions.definition.mergeable import SAME
from tfdbg_cli.capture.functions.optimized.merged_sums import merged_sums
from tfdbg_cli.capture.functions.optimized.twins import has_twin
from tfdbg_cli.capture.tf.types import AttrValue, NodeDef
from tfdbg_cli.ops.kinds import ADDITIONS, RESHAPES

LONG_SUM = 3  # terms; from so many on, AddN adds into a term's buffer that nobody else holds, which decides the order
READ = "ReadVariableOp"
NEVER_WRITTEN_OVER = frozenset({"_Arg", "Const", READ})
"""Ops whose output buffer somebody holds as long as the call lasts: the caller, the op itself, a variable."""
_SUM = "AddN"
_SHAPES = frozenset({"Rank", "Shape", "ShapeN", "Size"})
_WHERE = frozenset({"output_shapes", "shape"})  # attributes that say nothing of what is computed


class KeptValues:
    """The values of the function `plain` that others may read in `optimized`, the same after the optimizer.

    `nodes` are those of `optimized` as a GraphDef has them: an input is `node`, `node:slot` or `^node`.
    """

    def __init__(self, plain: Body, optimized: Body, nodes: Sequence[NodeDef]) -> None:
        self._plain = plain
        self._optimized = optimized
        self._nodes = {node.name: node for node in nodes}
        self._merged = self._merged_sums()
        self._places = self._found()
        self._summed = frozenset(self._terms_of_sums())

    def __contains__(self, source: ReferenceTarget) -> bool:
        """Whether the value of `source`, one of the plain function, is there at its place, for others to read."""
        if source.node is None:
            return True
        place = self.place(source)
        if place not in self._places or place[0] not in self._optimized.nodes or self._is_summed(place):
            return False
        now, before = self._optimized.outputs(place[0]), self._plain.outputs(source.node)
        return source.slot < len(now) and now[source.slot].dtype == before[source.slot].dtype

    def alike(self, node: NodeDef, read: Sequence[NodeOutput]) -> str:
        """The name of an optimized op that computes what `node` of the plain function would from `read`; else empty.

        Where two ops are equal the optimizer keeps one of them, under its name.
        """
        wanted = _computes(node)
        for other in self._by_inputs[node.op, tuple(map(self._passed_on, read))]:
            slots = range(len(self._optimized.outputs(other.name)))
            if _computes(other) == wanted and not any(self._is_summed((other.name, slot)) for slot in slots):
                return str(other.name)
        return ""

    def alike_read(self, node: NodeDef) -> str:
        """The name of a read that is still there and gives what `node`, a read of the plain one, gave; else empty.

        Reads of one variable that wait for the same ops, other reads aside, give the same value.
        """
        return next((name for name in self._reads.get(self._read(node), ()) if ReferenceTarget(name, 0) in self), "")

    @cached_property
    def _reads(self) -> Mapping[tuple[ReferenceTarget, frozenset[str]], list[str]]:
        """The reads of the plain function by variable and by what they wait for."""
        found: dict[tuple[ReferenceTarget, frozenset[str]], list[str]] = defaultdict(list)
        for name, node in self._plain.nodes.items():
            if node.op == READ:
                found[self._read(node)].append(name)
        return found

    def _read(self, node: NodeDef) -> tuple[ReferenceTarget, frozenset[str]]:
        waits = {text[1:] for text in node.input if text.startswith("^")}
        variable = self.origin(self._plain.source(self._plain.data_inputs(node)[0]))
        return variable, frozenset(waits - self._reading)

    @cached_property
    def _reading(self) -> frozenset[str]:
        return frozenset(name for name, node in self._plain.nodes.items() if node.op == READ)

    @cached_property
    def _by_inputs(self) -> Mapping[tuple[str, tuple[NodeOutput, ...]], list[NodeDef]]:
        """The ops without an effect by type and by what they read."""
        found: dict[tuple[str, tuple[NodeOutput, ...]], list[NodeDef]] = defaultdict(list)
        for node in self._nodes.values():
            if has_twin(node) and node.input and not node.input[-1].startswith("^"):
                found[node.op, tuple(self._passed_on(place_of(text)) for text in node.input)].append(node)
        return found

    def place(self, source: ReferenceTarget) -> NodeOutput:
        """The place of `source` by name; of a sum that was merged with the sums in it that of the whole."""
        name, slot = self._named(source)
        return self._merged.get(name, name), slot

    def _named(self, source: ReferenceTarget) -> NodeOutput:
        return (self._plain.arguments[source.slot], 0) if source.node is None else (source.node, source.slot)

    def origin(self, source: ReferenceTarget) -> ReferenceTarget:
        """What `source`, one of the plain function, passes on."""
        while source.node is not None and self._plain.nodes[source.node].op in SAME:
            source = self._plain.source(self._plain.data_inputs(self._plain.nodes[source.node])[source.slot])
        return source

    def _found(self) -> set[NodeOutput]:
        """The outputs of ops that were left as they were, and the values that these ops read.

        Such inputs are kept, too: the optimizer lets an op compute another value under its old name only if it
        changes all readers of that op.
        """
        found: set[NodeOutput] = {(name, 0) for name in self._merged.values()}
        for name, node in self._nodes.items():
            known = self._plain.nodes.get(name)
            if known is None or known.op != node.op:
                continue
            read = [self._passed_on(place_of(text)) for text in node.input if not text.startswith("^")]
            before = [self.origin(self._plain.source(text)) for text in self._plain.data_inputs(known)]
            same = [now == self.place(source) for now, source in zip(read, before, strict=False)]
            shapes = (self._is_known_shape(*pair) for pair in zip(read, before, strict=False))
            if (
                len(read) == len(before)
                and all(one or shape for one, shape in zip(same, shapes, strict=True))
                and _computes(node) == _computes(known)
            ):
                found.update((name, slot) for slot in range(len(self._plain.outputs(name))))
                found.update(place for place, one in zip(read, same, strict=True) if one)
        return found

    def _merged_sums(self) -> Mapping[str, str]:
        """By the names of sums that are gone the names of those that the optimizer made of them."""
        made = {
            tuple(sorted(self._passed_on(place_of(text)) for text in node.input if not text.startswith("^"))): name
            for name, node in self._nodes.items()
            if node.op == _SUM and name not in self._plain.nodes
        }
        if not made:
            return {}
        sums = {name for name, node in self._plain.nodes.items() if node.op == _SUM or node.op in ADDITIONS}
        gone = sums - self._nodes.keys()
        others = [name for name in self._plain.nodes if name not in gone]
        read = {place[0] for name in others for place in self._read_by(name)}
        read.update(self._named(self.origin(self._plain.source(text)))[0] for text in self._plain.returns)
        return merged_sums(gone, gone & read, self._read_by, made)

    def _read_by(self, name: str) -> list[NodeOutput]:
        """What the node `name` of the plain function reads."""
        sources = map(self._plain.source, self._plain.data_inputs(self._plain.nodes[name]))
        return [self._named(self.origin(source)) for source in sources]

    def _is_known_shape(self, now: NodeOutput, before: ReferenceTarget) -> bool:
        """Whether `now` is a constant that the optimizer put in the place of `before`, a shape that it knows.

        So the gradient of a convolution is told the shape of its filter. It stays what it was.
        """
        node = self._nodes.get(now[0])
        was = "" if before.node is None else self._plain.nodes[before.node].op
        return was in _SHAPES and node is not None and node.op == "Const"

    def _terms_of_sums(self) -> Iterator[NodeOutput]:
        terms = terms_of_sums(self._nodes)
        return (place for place in terms if self._nodes[place[0]].op not in NEVER_WRITTEN_OVER)

    def _is_summed(self, place: NodeOutput) -> bool:
        return bool(self._summed) and self._buffer(place) in self._summed

    def _buffer(self, place: NodeOutput) -> NodeOutput:
        """The first output in whose memory the value at `place` stands."""
        return passed_on(self._nodes, place, SAME | RESHAPES)

    def _passed_on(self, place: NodeOutput) -> NodeOutput:
        """What the output `place` of the optimized function passes on."""
        return passed_on(self._nodes, place, SAME)


def terms_of_sums(nodes: Mapping[str, NodeDef]) -> Iterator[NodeOutput]:
    """The memory that long sums among `nodes` are given: who else holds some decides with which term a sum begins."""
    for node in nodes.values():
        if "AddN" in node.op and node.attr["N"].i >= LONG_SUM:
            for text in node.input:
                if not text.startswith("^"):
                    yield passed_on(nodes, place_of(text), SAME | RESHAPES)


def passed_on(nodes: Mapping[str, NodeDef], place: NodeOutput, along: frozenset[str]) -> NodeOutput:
    """What the output `place` of one of `nodes` passes on, by way of ops `along`."""
    node = nodes.get(place[0])
    while node is not None and node.op in along:
        place = place_of(node.input[place[1]])
        node = nodes.get(place[0])
    return place


def place_of(text: str) -> NodeOutput:
    """The place that `text`, an input in a GraphDef, names."""
    name, _, slot = text.partition(":")
    return name, int(slot or 0)


def _computes(node: NodeDef) -> Mapping[str, AttrValue]:
    """The attributes of `node` that say what it computes."""
    return {key: value for key, value in node.attr.items() if not key.startswith("_") and key not in _WHERE}
