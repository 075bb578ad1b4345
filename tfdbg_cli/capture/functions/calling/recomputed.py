"""Values that a function did not give back: computed, when somebody looks, from those that it did."""

from __future__ import annotations

import math
import threading
import weakref
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, ClassVar, TypeAlias

import numpy as np
import tensorflow as tf

from tfdbg_cli.capture.functions.definition.body import types_of
from tfdbg_cli.capture.functions.definition.mergeable import AS_FIRST, BINARY, SAME, UNARY
from tfdbg_cli.capture.functions.definition.shown_values import ValueRecipe
from tfdbg_cli.capture.tf import colocation, compat
from tfdbg_cli.capture.tf.graph_collection import GRAPH_COLLECTION
from tfdbg_cli.capture.tf.second_thread import apart
from tfdbg_cli.capture.tf.types import AttributeList, EagerTensor, NodeDef
from tfdbg_cli.model.walks import needs_first
from tfdbg_cli.ops.kinds import NORMALIZATIONS, RESHAPES

_SHAPED_AS_FIRST = UNARY | AS_FIRST | NORMALIZATIONS | {"Softmax"}
_MOST_SHAPES = 100  # of one value
_MOST_BYTES = 64 << 20  # of values that were computed, of the run that is looked at
_FEW = 4  # values that are kept in any case

LazyTensor: TypeAlias = "EagerTensor | Recomputed"  # at hand, or to be computed when somebody looks


class Recent:
    """Keeps the values computed last: others of their run are made of them, in whatever order it is gone through.

    Of the run that was looked at last as many as 64 MB hold, of any other the last four.
    """

    _lock: ClassVar[threading.Lock] = threading.Lock()
    _in_use: ClassVar[weakref.ref[Recent] | None] = None  # the one that was added to last

    def __init__(self) -> None:
        # Weakly: they hold this, and a circle of values waits for the garbage collector, which may be long.
        self._found: OrderedDict[weakref.ref[Recomputed], EagerTensor] = OrderedDict()
        self._bytes = 0

    def get(self, value: Recomputed) -> EagerTensor | None:
        """Its tensor, if it is at hand."""
        return self._found.get(weakref.ref(value))

    def add(self, values: Iterable[tuple[Recomputed, EagerTensor]]) -> None:
        """Keep tensors, and forget the oldest ones."""
        with Recent._lock:
            other = None if Recent._in_use is None else Recent._in_use()
            if other is not None and other is not self:
                other._forget(0)
            Recent._in_use = weakref.ref(self)
            for value, tensor in values:
                key = weakref.ref(value)
                if key not in self._found:
                    self._found[key] = tensor
                    self._bytes += _bytes(tensor)
            self._forget(_MOST_BYTES)

    def _forget(self, most_bytes: int) -> None:
        while len(self._found) > _FEW and self._bytes > most_bytes:
            _, tensor = self._found.popitem(last=False)
            self._bytes -= _bytes(tensor)


def _bytes(tensor: EagerTensor) -> int:
    return int(compat.elements_of(tensor) * tensor.dtype.size)


class Recomputed:
    """The first output of the op of `recipe`, given `inputs`, computed when it is asked for."""

    __slots__ = ("__weakref__", "_inputs", "_recent", "_recipe", "_shape")

    def __init__(self, recipe: ValueRecipe, inputs: Sequence[LazyTensor], recent: Recent) -> None:
        self._recipe = recipe
        self._inputs = tuple(inputs)
        self._recent = recent
        self._shape: tuple[int, ...] | None = None

    @property
    def device(self) -> str:
        """Where it is computed: the device of its first input; a value that has no inputs is computed to tell."""
        value: LazyTensor = self
        while isinstance(value, Recomputed):
            value = value._inputs[0] if value._inputs else value.tensor()
        return str(value.device)

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape, found without computing the value, but where it depends on others than those of the inputs."""
        open_ = [self] if self._shape is None else []
        while open_:
            value = open_[-1]
            unknown = [one for one in value._inputs if isinstance(one, Recomputed) and one._shape is None]
            if unknown:  # inputs first: chains can be long
                open_ += unknown
                continue
            if value._shape is None:
                found = _shape(value._recipe, value._inputs)
                value._shape = compat.shape_of(value.tensor()) if found is None else found
            open_.pop()
        assert self._shape is not None
        return self._shape

    def tensor(self) -> EagerTensor:
        """The eager tensor.

        Raises:
            tf.errors.OpError: it cannot be computed, for instance since memory does not suffice.

        """
        at_hand: dict[Recomputed, EagerTensor] = {}

        def is_at_hand(value: Recomputed) -> bool:
            known = self._recent.get(value)
            if known is not None:
                at_hand[value] = known  # it may be forgotten meanwhile
            return value in at_hand

        order = self._before(is_at_hand)
        last_reader = {given: value for value in order for given in value._inputs if isinstance(given, Recomputed)}
        for value in order:
            inputs = [at_hand[one] if isinstance(one, Recomputed) else one for one in value._inputs]
            found = at_hand[value] = _output(value._recipe.node, inputs)
            self._recent.add([(value, found)])
            for given in value._inputs:  # a chain may be long, and its tensors large
                if isinstance(given, Recomputed) and last_reader[given] is value:
                    at_hand.pop(given, None)
        return at_hand[self]

    def _before(self, is_known: Callable[[Recomputed], bool]) -> list[Recomputed]:
        """The value and those that it is made of, as far as they are not known, inputs first. Chains can be long."""

        def unknown(values: Iterable[Any]) -> Iterator[Recomputed]:
            return (value for value in values if isinstance(value, Recomputed) and not is_known(value))

        return list(needs_first(unknown([self]), lambda value: unknown(reversed(value._inputs))))


def made_of(recipe: ValueRecipe, inputs: Sequence[LazyTensor], recent: Recent) -> LazyTensor:
    """The value that `recipe` makes of `inputs`: the input itself where it is only passed on."""
    return inputs[0] if recipe.node.op in SAME else Recomputed(recipe, inputs, recent)


def _output(node: NodeDef, inputs: Sequence[EagerTensor]) -> EagerTensor:
    if node.op == "Const":
        with tf.device(node.device or None):
            return tf.constant(tf.make_ndarray(node.attr["value"].tensor))
    definition = compat.op_definition(node.op)
    outputs = sum(len(types_of(arg, node, definition)) for arg in definition.output_arg)
    with GRAPH_COLLECTION.alone():  # a recording's thread computes while the program's has TensorFlow compile
        return compat.run_op(node.op, inputs, _attributes(node), outputs, inputs[0].device)[0]


def _attributes(node: NodeDef) -> AttributeList:
    """The attributes that the definition of the op names, as the eager runtime takes them."""
    found: list[Any] = []
    for attribute in compat.op_definition(node.op).attr:
        if attribute.name in node.attr:
            value = node.attr[attribute.name]
            kind = value.WhichOneof("value")
            if kind == "list":
                found += [attribute.name, next((list(items) for _, items in value.list.ListFields()), [])]
            elif kind == "shape":
                sizes = None if value.shape.unknown_rank else [size.size for size in value.shape.dim]
                found += [attribute.name, sizes]
            elif kind is not None:
                found += [attribute.name, getattr(value, kind)]
    return found


def shape_of(value: LazyTensor) -> tuple[int, ...]:
    """The shape of a tensor, found without computing it."""
    return value.shape if isinstance(value, Recomputed) else compat.shape_of(value)


def _shape(recipe: ValueRecipe, inputs: Sequence[LazyTensor]) -> tuple[int, ...] | None:
    """The shape of the value that `recipe` makes of `inputs`; None where their shapes do not tell it."""
    node = recipe.node
    if node.op in RESHAPES:
        return tuple(_shape_of_view(node, inputs))
    shapes = tuple(map(shape_of, inputs))
    if node.op in _SHAPED_AS_FIRST or (node.op in BINARY and shapes[0] == shapes[1]):
        return shapes[0]
    if node.op in BINARY:
        return np.broadcast_shapes(*shapes)
    if node.op == "MatMul":  # the most frequent of the others, and TensorFlow's answer takes a millisecond
        transposed = node.attr["transpose_a"].b, node.attr["transpose_b"].b
        return shapes[0][transposed[0]], shapes[1][not transposed[1]]
    if shapes not in recipe.shapes:
        if len(recipe.shapes) > _MOST_SHAPES:
            recipe.shapes.clear()
        recipe.shapes[shapes] = _inferred(node, shapes)
    return recipe.shapes[shapes]


def _inferred(node: NodeDef, shapes: Sequence[tuple[int, ...]]) -> tuple[int, ...] | None:
    """The shape of the first output of `node` by TensorFlow's own rule, in a graph that is thrown away.

    None where it depends on the numbers that the op is given, such as axes.
    """
    op = compat.op_definition(node.op)
    types = [dtype for arg in op.input_arg for dtype in types_of(arg, node, op)]
    return apart(lambda: _inferred_in_a_graph(node, types, shapes))


def _inferred_in_a_graph(
    node: NodeDef, types: Sequence[int], shapes: Sequence[tuple[int, ...]]
) -> tuple[int, ...] | None:
    with tf.Graph().as_default():
        definition = tf.compat.v1.GraphDef()
        definition.node.add().CopyFrom(node)
        made = definition.node[0]
        made.ClearField("input")
        made.ClearField("device")
        colocation.forget(made)
        made.input.extend(f"tfdbg_{i}" for i in range(len(shapes)))
        places = map(tf.compat.v1.placeholder, types, shapes)
        given = {f"tfdbg_{i}": place for i, place in enumerate(places)}
        (output,) = tf.graph_util.import_graph_def(definition, given, [f"{made.name}:0"], name="")
        return tuple(output.shape.as_list()) if output.shape.is_fully_defined() else None


def _shape_of_view(node: NodeDef, inputs: Sequence[LazyTensor]) -> list[int]:
    sizes = list(shape_of(inputs[0]))
    if node.op == "Squeeze":
        chosen = {axis % len(sizes) for axis in node.attr["squeeze_dims"].list.i}
        return [size for axis, size in enumerate(sizes) if axis not in chosen and (chosen or size != 1)]
    wanted = [int(size) for size in np.ravel(np.asarray(_tensor(inputs[1])))]
    if node.op == "ExpandDims":
        sizes.insert(wanted[0] % (len(sizes) + 1), 1)
        return sizes
    rest = math.prod(size for size in wanted if size != -1)
    return [math.prod(sizes) // max(rest, 1) if size == -1 else size for size in wanted]


def _tensor(value: LazyTensor) -> EagerTensor:
    return value.tensor() if isinstance(value, Recomputed) else value
