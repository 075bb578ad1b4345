"""Random ops that count inside their kernels, made to count in variables that all rewritten functions share.

`tf.random.uniform` with a seed draws from a Philox generator inside its kernel, and each function that is rewritten
of one of the program's would have kernels of its own, which begin anew. So there a stateless op draws the same
numbers in its place, by the key and the counter in a variable. `RngReadAndSkip` moves the counter on as the kernel
does its generator: by 256 for each number that is drawn (TensorFlow: core/kernels/random_op.cc,
core/util/guarded_philox_random.cc, core/kernels/stateful_random_ops.cc).
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TypeAlias
from weakref import WeakValueDictionary

import numpy as np
import tensorflow as tf

from tfdbg_cli.capture.functions.calling.kernel_draws import drawing_nodes, kernel_draws
from tfdbg_cli.capture.functions.definition.call_tree import Scope
from tfdbg_cli.capture.functions.optimized.compiled import Compiled
from tfdbg_cli.capture.tf.observers import own_ops
from tfdbg_cli.capture.tf.types import EagerTensor, FunctionDef, NodeDef
from tfdbg_cli.model.dtypes import INT32
from tfdbg_cli.model.units import names_text
from tfdbg_cli.ops.kinds import LOOPS

INT64, UINT64 = tf.int64.as_datatype_enum, tf.uint64.as_datatype_enum
_STATELESS = {
    "RandomUniform": "StatelessRandomUniformV2",
    "RandomStandardNormal": "StatelessRandomNormalV2",
    "TruncatedNormal": "StatelessTruncatedNormalV2",
    "RandomUniformInt": "StatelessRandomUniformIntV2",
}
_INSTEAD_OF = "_tfdbg_instead_of"  # the attribute that has the node which a stateless op stands for
_STATE_INPUTS = 3  # of a stateless op, behind the shape: key, counter, algorithm
_PHILOX = 1
_Place: TypeAlias = tuple[Scope, str]  # a node of a function where that is called
_SERIAL = itertools.count(1)
_COUNTING: WeakValueDictionary[str, CountedDraws] = WeakValueDictionary()  # by the names of the programs' functions


@dataclass(eq=False)
class CountedDraws:
    """The random ops of one function of the program's that count in variables, wherever it is rewritten.

    Not among them are ops of other kinds and those that XLA compiles: `uncounted` has their names in runs.
    `others_drew` says that the kernels of the function itself drew, too. Loops in which they are run one turn at a
    time: a turn could draw before the one that precedes it.
    """

    name: str
    """What its user calls the function."""
    root: Scope
    never_called: Callable[[], bool]
    """Whether the function was not called when it was first looked at."""

    def __post_init__(self) -> None:
        found = [
            (scope, node)
            for scope in self.root.all()
            if not scope.compiled
            for node in drawing_nodes(scope)
            if node.op in _STATELESS
        ]
        counted = {scope.name_of(node.name) for scope, node in found}
        self.uncounted = [name for name in kernel_draws(self.root) if name not in counted]
        self.others_drew = False
        self.began = False
        self._seeds = {(scope, node.name): (node.attr["seed"].i, node.attr["seed2"].i) for scope, node in found}
        self._above = {above for scope, _ in found for above in _above(scope)}
        self._handles: dict[_Place, tuple[EagerTensor, str]] = {}
        _COUNTING[self.root.body.name] = self

    @cached_property
    def functions(self) -> frozenset[str]:
        """The names of the functions that have such ops: those are rewritten once for each call."""
        return frozenset(scope.body.name for scope, _ in self._seeds)

    @cached_property
    def _inlined(self) -> Mapping[str, _Place]:
        """The places of the ops, by the names that TensorFlow gives them when it inlines calls."""
        return {_inlined_name(scope, node): (scope, node) for scope, node in self._seeds}

    @property
    def missing(self) -> list[str]:
        """The names in runs of ops whose numbers may be others than those of an undebugged run."""
        return self.uncounted if self.never_called() and not self.others_drew else kernel_draws(self.root)

    def put_into(self, definitions: Iterable[FunctionDef], scopes: Mapping[str, Scope] | None) -> None:
        """Have the random ops in `definitions` count in variables.

        `scopes` has by the names of these what they stand for. Without it there is one, which has all that is called
        in the places of the calls, by the names that TensorFlow gives it then.
        """
        for definition in definitions:
            scope = None if scopes is None else scopes.get(definition.signature.name)
            nodes = {node.name: node for node in definition.node_def}
            for node in nodes.values():
                site = scope.calls.get(node.name) if scope is not None and node.op in LOOPS else None
                if site is not None and self._above.intersection(site.scopes):
                    node.attr["parallel_iterations"].i = 1
                place = self._inlined.get(node.name) if scopes is None else scope and (scope, node.name)
                if place in self._seeds and node.op in _STATELESS:
                    _count(definition, node, nodes.get(node.input[0].partition(":")[0]), *self._state(place))

    def _state(self, place: _Place) -> tuple[str, str]:
        """The name and the device of the variable in which the op at `place` counts."""
        if place not in self._handles:
            name = f"tfdbg_draws_{next(_SERIAL)}"
            seed, seed2 = self._seeds[place]
            with own_ops(), tf.device("CPU:0"):
                handle = tf.raw_ops.VarHandleOp(dtype=tf.int64, shape=[3], shared_name=name)
                begin = tf.constant(np.array([0, seed2, seed], np.int64))
                tf.raw_ops.AssignVariableOp(resource=handle, value=begin)
            self._handles[place] = handle, name
        handle, name = self._handles[place]
        return name, str(handle.device)


def note_plain_call(function: str) -> None:
    """Note that the program's `function` itself is called, so that its kernels draw."""
    if _COUNTING and (found := _COUNTING.get(function)) is not None:
        found.others_drew = True


def draws_to_tell_when_left_alone() -> str:
    """A sentence about the functions that counted so until now, and are called themselves from here on.

    It is empty where there are none, and told once.
    """
    counting = [found for found in list(_COUNTING.values()) if found.began and not found.others_drew]
    for found in counting:
        found.others_drew = True
    names = sorted({found.name for found in counting})
    if not names:
        return ""
    verb = "has" if len(names) == 1 else "have"
    return (
        f"{names_text(names)} {verb} random ops that count inside their kernels, and debugged calls count elsewhere:"
        " called from here on, they draw other numbers than undebugged."
    )


def with_original_draws(found: Compiled) -> Compiled:
    """What the runtime made of a function, with the ops of the program in the place of those that draw for them."""
    return replace(found, nodes=list(map(_original, found.nodes)), optimized=list(map(_original, found.optimized)))


def _original(node: NodeDef) -> NodeDef:
    if _INSTEAD_OF not in node.attr:
        return node
    original: NodeDef = type(node).FromString(node.attr[_INSTEAD_OF].s)
    original.name, original.device = node.name, node.device
    del original.input[:]
    original.input.extend([node.input[0], *node.input[1 + _STATE_INPUTS :]])
    return original


def _above(scope: Scope) -> Iterator[Scope]:
    """The function of `scope` and those that it is called in."""
    at: Scope | None = scope
    while at is not None:
        yield at
        at = at.parent


def _inlined_name(scope: Scope, node: str) -> str:
    calls = [above.call.node.name for above in _above(scope) if above.call is not None]
    return "/".join([*reversed(calls), node])


def _count(definition: FunctionDef, node: NodeDef, shape_of: NodeDef | None, state: str, device: str) -> None:
    """Have `node` draw by the variable `state`, which is on `device`; `shape_of` is the node that gives the shape."""
    helpers = _Helpers(definition, f"{node.name}/tfdbg_draw", device)
    handle = helpers.add("handle", "VarHandleOp", [], dtype=INT64)
    handle.attr["shape"].shape.dim.add(size=3)
    handle.attr["shared_name"].s = state.encode()
    algorithm = helpers.constant("algorithm", INT32, [_PHILOX], scalar=True)
    drawn = helpers.numbers_in(node.input[0], node.attr["T"].type, shape_of)
    read = helpers.add("read", "RngReadAndSkip", [f"{handle.name}:resource:0", algorithm, drawn])
    bits = helpers.add("bits", "Bitcast", [f"{read.name}:value:0"], T=INT64, type=UINT64)
    sizes = helpers.constant("sizes", INT32, [2, 1])
    axis = helpers.constant("axis", INT32, [0], scalar=True)
    parts = helpers.add("parts", "SplitV", [f"{bits.name}:output:0", sizes, axis], T=UINT64, Tlen=INT32)
    parts.attr["num_split"].i = 2
    original = node.SerializeToString()
    shape, *rest = node.input
    dtype, shape_type = node.attr["Tout" if "Tout" in node.attr else "dtype"].type, node.attr["T"].type
    for name in ("seed", "seed2", "T", "Tout"):
        node.attr.pop(name, None)
    node.op = _STATELESS[node.op]
    node.attr["dtype"].type, node.attr["Tshape"].type = dtype, shape_type
    node.attr[_INSTEAD_OF].s = original
    del node.input[:]
    node.input.extend([shape, f"{parts.name}:output:1", f"{parts.name}:output:0", algorithm, *rest])


class _Helpers:
    """Adds the nodes that one random op needs to count in a variable."""

    def __init__(self, definition: FunctionDef, stem: str, device: str) -> None:
        self._definition = definition
        self._stem = stem
        self._device = device

    def add(self, name: str, op: str, inputs: Sequence[str], **types: int) -> NodeDef:
        node = self._definition.node_def.add(name=f"{self._stem}_{name}", op=op, input=inputs, device=self._device)
        for attribute, dtype in types.items():
            node.attr[attribute].type = dtype
        return node

    def constant(self, name: str, dtype: int, numbers: Sequence[int], *, scalar: bool = False) -> str:
        """Add a constant of `numbers`; gives how the function refers to it."""
        array = np.array(numbers, tf.as_dtype(dtype).as_numpy_dtype)
        node = self.add(name, "Const", [], dtype=dtype)
        node.attr["value"].tensor.CopyFrom(tf.make_tensor_proto(array[0] if scalar else array))
        return f"{node.name}:output:0"

    def numbers_in(self, shape: str, dtype: int, given: NodeDef | None) -> str:
        """Add what says how many numbers a tensor of `shape`, a vector of `dtype` that `given` gives, has."""
        if given is not None and given.op == "Const":
            lengths = tf.make_ndarray(given.attr["value"].tensor).ravel()
            if not (lengths < 0).any():
                return self.constant("drawn", UINT64, [int(np.prod(lengths, dtype=np.int64))], scalar=True)
        wide = self.add("shape", "Cast", [shape], SrcT=dtype, DstT=INT64)
        axes = self.constant("axes", INT32, [0])
        number = self.add("number", "Prod", [f"{wide.name}:y:0", axes], T=INT64, Tidx=INT32)
        drawn = self.add("drawn", "Cast", [f"{number.name}:output:0"], SrcT=INT64, DstT=UINT64)
        return f"{drawn.name}:y:0"
