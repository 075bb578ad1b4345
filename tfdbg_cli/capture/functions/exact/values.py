"""What each node of a compiled function computes, as a digest that does not depend on names.

Two nodes with the same digest are the same op with the same attributes on inputs with the same digests, down to the
arguments, variables and constants: they give the same bits.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any, TypeAlias

from tfdbg_cli.capture.functions.definition.own_names import original_names
from tfdbg_cli.capture.functions.optimized.compiled import Compiled, steady_name
from tfdbg_cli.capture.tf import compat
from tfdbg_cli.capture.tf.types import AttrValue, NodeDef
from tfdbg_cli.model.walks import needs_first, reached
from tfdbg_cli.ops.kinds import COPIES, RECEIVES, RELUS, SENDS

Output: TypeAlias = tuple[str, int]  # of a node, by name and slot

_AROUND = "NextIteration"
# Ops that give the same bits in either order of their inputs, which the optimizer sorts by names of nodes.
# Maximum and Minimum do not, for NaN and for zeros of both signs.
_COMMUTATIVE = frozenset({
    "Add", "AddV2", "BitwiseAnd", "BitwiseOr", "BitwiseXor", "Equal", "LogicalAnd", "LogicalOr", "Mul", "NotEqual",
    "SquaredDifference",
})  # fmt: skip
_ROUNDS = 3  # loop variables depend on each other, so that each round tells more of them apart
_WITH_BIAS = "WithBias"
_PADDINGS = "explicit_paddings"  # empty or not there, for others than those
# Attributes that say where or under what name, not what.
_PLACES = frozenset({"frame_name", "parallel_iterations", "output_shapes"})


class ValueDigests:
    """The digests of what the nodes of a compiled function give.

    For NaN a ReLU gives zero if oneDNN has fused it, and else NaN; no other result depends on fusing. With `with_nan`
    the two are told apart. Else they are digested alike: a run in which NaN comes up is made plainly, too.

    Where two convolutions have one gradient behind them, as in the blocks of a residual network, TensorFlow has one
    of them sum it up for the bias, now this and now that, whenever it compiles the function. That is digested alike
    for both: whether the bits are the same, too, is found out by trials.
    """

    def __init__(self, compiled: Compiled, *, with_nan: bool = False) -> None:
        self._with_nan = with_nan
        self.nodes: Mapping[str, NodeDef] = {node.name: node for node in compiled.nodes}
        self._sent = {_tensor_name(node): node for node in compiled.nodes if node.op in SENDS}
        self._inputs: dict[str, tuple[Output, ...]] = {name: self._read(node) for name, node in self.nodes.items()}
        self._own = {name: _own_digest(node, with_nan) for name, node in self.nodes.items()}
        self._order = list(self._in_order())
        self._turns: dict[str, bytes] = {}
        self._digests: dict[str, bytes] = {}
        self._find()

    def inputs(self, node: str) -> tuple[Output, ...]:
        """What `node` reads, values only, seen through ops that pass their input on."""
        return self._inputs[node]

    def of(self, output: Output) -> bytes:
        """The digest of an output of a node."""
        name, slot = output
        if slot == 1 and _sums_for_bias(self.nodes[name]):
            return self._sum_for_bias(name)
        return _output_digest(self._digests[name], slot)

    def _sum_for_bias(self, name: str) -> bytes:
        """The digest of the gradient of a bias that the node gives beside the gradient of a filter."""
        node = self.nodes[name]
        own = (_WITH_BIAS, node.device, str(node.attr["T"].type), str(node.attr["data_format"].s))
        found = hashlib.blake2b("\0".join(own).encode(), digest_size=16)
        found.update(self.of(self._inputs[name][2]))
        return found.digest()

    def computed(self) -> set[bytes]:
        """The digests of all nodes, but of those that only pass a value on."""
        return {digest for name, digest in self._digests.items() if self.nodes[name].op not in COPIES}

    def node(self, name: str) -> bytes:
        """The digest of what a node computes."""
        return self._digests[name]

    def looks(self, name: str) -> tuple[bytes, Sequence[Output]]:
        """What kind of op a node is, and by steady name what it reads: equal for nodes that differ in these alone."""
        read = [(steady_name(given), slot) for given, slot in self._inputs[name]]
        return self._own[name], sorted(read) if self.nodes[name].op in _COMMUTATIVE else read

    def ancestors(self, ends: Iterable[str]) -> set[str]:
        """The nodes `ends` and all whose values they need."""
        return set(reached(ends, self._given))

    def _read(self, node: NodeDef) -> tuple[Output, ...]:
        return tuple(self._source(text) for text in node.input if not text.startswith("^"))

    def _source(self, text: str) -> Output:
        """What `text` names, followed through ops that pass their input on, and from device to device."""
        while True:
            name, _, slot = text.partition(":")
            node = self.nodes[name]
            if node.op in RECEIVES:
                sender = self._sent.get(_tensor_name(node))
                if sender is None:
                    return name, 0
                text = sender.input[0]
            elif node.op in COPIES:
                text = node.input[0]
            elif node.op == "IdentityN":  # as around an activation with a gradient of its own
                text = node.input[int(slot or 0)]
            else:
                return name, int(slot or 0)

    def _in_order(self) -> Iterator[str]:
        """The nodes, inputs first, but for what comes around a loop."""
        return needs_first(self.nodes, lambda name: self._given(name) if self.nodes[name].op != _AROUND else ())

    def _given(self, name: str) -> list[str]:
        return [given for given, _ in self._inputs[name]]

    def _find(self) -> None:
        loops = [name for name, node in self.nodes.items() if node.op == _AROUND]
        for _ in range(_ROUNDS if loops else 1):
            for name in self._order:
                self._digests[name] = self._digest(name)
            self._turns = {name: b"".join(map(self.of, self._inputs[name])) for name in loops}

    def _digest(self, name: str) -> bytes:
        found = hashlib.blake2b(self._own[name], digest_size=16)
        if self.nodes[name].op == _AROUND:
            found.update(self._turns.get(name, b""))
        else:
            given = map(self.of, self._inputs[name])
            for digest in sorted(given) if self.nodes[name].op in _COMMUTATIVE else given:
                found.update(digest)
        relu = "" if self._with_nan else _fused_relu(self.nodes[name])
        if relu:  # digested as if the ReLU were a node of its own
            behind = hashlib.blake2b(_relu_digest(relu, self.nodes[name]), digest_size=16)
            behind.update(_output_digest(found.digest(), 0))
            return behind.digest()
        return found.digest()


def _output_digest(node: bytes, slot: int) -> bytes:
    """The digest of output `slot` of a node that has the digest `node`."""
    return node + slot.to_bytes(4, "little")


def _tensor_name(node: NodeDef) -> str:
    """The name that a send op and a receive op share."""
    return str(node.attr["tensor_name"].s)


def _fused_relu(node: NodeDef) -> str:
    """The ReLU with which the ops that are fused to `node` end; empty if there is none."""
    fused: Sequence[bytes] = node.attr["fused_ops"].list.s if "fused_ops" in node.attr else ()
    last: str = fused[-1].decode() if len(fused) > 1 else ""
    return last if last in RELUS else ""


def _relu_digest(op_type: str, node: NodeDef) -> bytes:
    return "\0".join((op_type, node.device, str(node.attr["T"].type))).encode()


def _sums_for_bias(node: NodeDef) -> bool:
    """Whether `node` gives the gradient of a filter, and beside it that of a bias: its third input, summed up."""
    return bool(node.op.endswith(_WITH_BIAS)) and "BackpropFilter" in node.op


def _own_digest(node: NodeDef, with_nan: bool) -> bytes:
    """The digest of `node` without its inputs, and unless `with_nan` without a ReLU that is fused to it."""
    kind = node.op.removeprefix("_Mkl").removeprefix("Native")
    if kind in RELUS:
        return _relu_digest(kind, node)
    if _fused_relu(node) and not with_nan:
        alone = type(node)()
        alone.CopyFrom(node)
        del alone.attr["fused_ops"].list.s[-1]
        node = alone
    found = [node.op.removesuffix(_WITH_BIAS) if _sums_for_bias(node) else node.op, node.device]
    if acts(node.op):
        found.append(steady_name(node.name))
    own = "\0".join(found).encode()
    attributes = [
        key.encode() + b"\0" + _attribute(value)
        for key, value in node.attr.items()
        if not key.startswith("_") and key not in _PLACES and not (key == _PADDINGS and not value.list.i)
    ]
    return b"\0".join([own, *sorted(attributes)])


@cache
def acts(op_type: str) -> bool:
    """Whether an op has a state or a side effect, so that two equal ops cannot stand for each other."""
    definition = compat.op_definition(op_type)
    return definition is None or bool(definition.is_stateful)


def _attribute(value: AttrValue) -> bytes:
    kind = value.WhichOneof("value")
    if kind == "func" or (kind == "list" and value.list.func):
        functions: Sequence[Any] = [value.func] if kind == "func" else value.list.func
        return "\0".join(original_names(function.name) for function in functions).encode()
    found: bytes = value.SerializeToString(deterministic=True)
    return found
