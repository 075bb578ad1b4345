"""The variables that a program has made so far, and the objects that lead to them."""

from __future__ import annotations

import gc
import sys
import weakref
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import tensorflow as tf

from tfdbg_cli.capture.living_objects import living_objects
from tfdbg_cli.model.restoring import ProgramObject, ProgramVariable, ProgramVariables
from tfdbg_cli.model.walks import nearest_first


def living_variables(moment: str, restored: Sequence[Any], roots: Mapping[int, Any]) -> ProgramVariables:
    """All variables with values of their own that are alive, found by Python's collector.

    `restored` are the tf.train.Checkpoints that the program restored by; without any it is every one alive. `roots`
    has by the identity of such a one the `root` that it was made with.
    """
    gc.collect()  # what nothing leads to any more would not be restored
    keras = getattr(sys.modules.get("keras"), "Variable", None)
    kinds = [tf.Variable, tf.train.Checkpoint, *([keras] if isinstance(keras, type) else [])]
    held = living_objects(*kinds)
    wrapped = list(_of_keras(held))
    inside = {id(value) for _, value in wrapped}
    inside |= {id(part) for one in held if _is_spread(one) for part in one.values}
    plain = [one for one in held if isinstance(one, tf.Variable) and id(one) not in inside and _is_eager(one)]
    # Keras holds variables of TensorFlow: the objects of a checkpoint lead to its own, which have the full names.
    numbers: dict[int, int] = {}
    variables: list[ProgramVariable] = []
    for one, value in [*((one, one) for one in plain), *wrapped]:
        numbers[id(one)] = numbers[id(value)] = len(variables)
        name = one.name.rpartition(":")[0] if one is value else one.path
        shape = None if value.shape.rank is None else tuple(value.shape)
        variables.append(ProgramVariable(name or one.name, value.dtype.name, shape))
    alive = [one for one in held if isinstance(one, tf.train.Checkpoint)]
    known = {id(one) for one in restored}
    others = [one for one in alive if id(one) not in known] if restored else []
    objects, further = (
        [_objects(one, _alive(roots.get(id(one))), numbers) for one in checkpoints]
        for checkpoints in (restored or alive, others)
    )
    led_to = {one.variable for reached in further for one in reached if one.variable is not None}
    return ProgramVariables(moment, variables, objects, sorted(led_to))


def _alive(root: Any) -> Any:
    """`root`, which may be a weak reference (Keras 2 has such ones)."""
    return root() if isinstance(root, weakref.ref) else root


def _is_spread(variable: Any) -> bool:
    """Whether it has a part on each device of a strategy."""
    return isinstance(variable, tf.distribute.DistributedValues) and isinstance(variable, tf.Variable)


def _is_eager(variable: Any) -> bool:
    if _is_spread(variable):
        return all(map(_is_eager, variable.values))
    try:
        return isinstance(variable.handle, tf.Tensor) and hasattr(variable.handle, "numpy")
    except (AttributeError, NotImplementedError, ValueError):  # of a graph
        return False


def _of_keras(held: Iterable[Any]) -> Iterator[tuple[Any, Any]]:
    """The variables of Keras 3 with those of TensorFlow that hold their values."""
    kind = getattr(sys.modules.get("keras"), "Variable", None)
    for one in held:
        if isinstance(kind, type) and isinstance(one, kind):
            value = getattr(one, "value", None)
            if isinstance(value, tf.Variable):
                yield one, value


def _objects(checkpoint: Any, root: Any, numbers: Mapping[int, int]) -> Sequence[ProgramObject]:
    """The objects that `checkpoint` leads to, the nearest first; its children are those of its `root`, too."""
    first = checkpoint if root is None else root
    view = tf.train.TrackableView(first)
    # Some objects are made when they are asked for: what is not kept would give its number to another one.
    kept: dict[int, Any] = {id(first): first}
    named: dict[int, dict[str, int]] = {}

    def further(one: int) -> Iterable[int]:
        children = dict(view.children(kept[one]))
        if root is not None and one == id(first):
            children.update(view.children(checkpoint))
        kept.update((id(child), child) for child in children.values())
        named[one] = {name: id(child) for name, child in children.items()}
        return named[one].values()

    order = [one for one, _ in nearest_first([id(first)], further)]
    places = {one: at for at, one in enumerate(order)}
    return [
        ProgramObject({name: places[other] for name, other in named[one].items()}, numbers.get(one)) for one in order
    ]
