"""Values that a function did not give back: computed, when somebody looks, from those that it did."""

from __future__ import annotations

import math
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, TypeAlias

import numpy as np
import tensorflow as tf

from tfdbg_cli.capture.functions.definition.body import types_of
from tfdbg_cli.capture.functions.definition.mergeable import AS_FIRST, BINARY, SAME, UNARY
from tfdbg_cli.capture.functions.definition.shown_values import Recipe
from tfdbg_cli.capture.tf import compat
from tfdbg_cli.capture.tf.types import AttributeList, EagerTensor, NodeDef
from tfdbg_cli.model.walks import needs_first
from tfdbg_cli.ops.kinds import NORMALIZATIONS, RESHAPES

_SHAPED_AS_FIRST = UNARY | AS_FIRST | NORMALIZATIONS | {"Softmax"}
_MOST_SHAPES = 100  # of one value

LazyTensor: TypeAlias = "EagerTensor | Recomputed"  # at hand, or to be computed when somebody looks


class Recent:
    """Keeps the values computed last: the next one of a chain is made of them, if it is gone through in order."""

    def __init__(self, most: int = 4) -> None:
        self._most = most
        self._found: OrderedDict[Recomputed, EagerTensor] = OrderedDict()
        self._lock = threading.Lock()

    def all(self) -> dict[Recomputed, EagerTensor]:
        """The tensors at hand."""
        with self._lock:
            return dict(self._found)

    def add(self, value: Recomputed, tensor: EagerTensor) -> None:
        """Keep `tensor`, and forget the oldest one."""
        with self._lock:
            self._found[value] = tensor
            while len(self._found) > self._most:
                self._found.popitem(last=False)


class Recomputed:
    """The first output of the op of `recipe`, given `inputs`, computed when it is asked for."""

    __slots__ = ("_inputs", "_recent", "_recipe", "_shape")

    def __init__(self, recipe: Recipe, inputs: Sequence[LazyTensor], recent: Recent) -> None:
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
        found = self._recent.all()
        for value in self._before(found.__contains__):
            inputs = [found[i] if isinstance(i, Recomputed) else i for i in value._inputs]
            found[value] = _output(value._recipe.node, inputs)
        self._recent.add(self, found[self])
        return found[self]

    def _before(self, is_known: Callable[[Recomputed], bool]) -> list[Recomputed]:
        """The value and those that it is made of, as far as they are not known, inputs first. Chains can be long."""

        def unknown(values: Iterable[Any]) -> Iterator[Recomputed]:
            return (value for value in values if isinstance(value, Recomputed) and not is_known(value))

        return list(needs_first(unknown([self]), lambda value: unknown(reversed(value._inputs))))


def made_of(recipe: Recipe, inputs: Sequence[LazyTensor], recent: Recent) -> LazyTensor:
    """The value that `recipe` makes of `inputs`: the input itself where it is only passed on."""
    return inputs[0] if recipe.node.op in SAME else Recomputed(recipe, inputs, recent)


def _output(node: NodeDef, inputs: Sequence[EagerTensor]) -> EagerTensor:
    if node.op == "Const":
        with tf.device(node.device or None):
            return tf.constant(tf.make_ndarray(node.attr["value"].tensor))
    definition = compat.op_definition(node.op)
    outputs = sum(len(types_of(arg, node, definition)) for arg in definition.output_arg)
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


def _shape(recipe: Recipe, inputs: Sequence[LazyTensor]) -> tuple[int, ...] | None:
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
    with tf.Graph().as_default():
        definition = tf.compat.v1.GraphDef()
        definition.node.add().CopyFrom(node)
        made = definition.node[0]
        made.ClearField("input")
        made.ClearField("device")
        made.attr.pop("_class", None)
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
