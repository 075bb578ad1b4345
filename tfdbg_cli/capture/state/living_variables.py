"""The variables that a program has made so far, and the objects that lead to them."""

from __future__ import annotations

import gc
import sys
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import tensorflow as tf

from tfdbg_cli.model.restoring import ProgramObject, ProgramVariable, ProgramVariables


def living_variables(moment: str, restored: Sequence[Any] = ()) -> ProgramVariables:
    """All variables with values of their own that are alive, found by Python's collector.

    `restored` are the objects that the program restored by; without any it is every tf.train.Checkpoint alive.
    """
    held = gc.get_objects()
    wrapped = list(_of_keras(held))
    inside = {id(value) for _, value in wrapped}
    plain = [one for one in held if isinstance(one, tf.Variable) and id(one) not in inside and _is_eager(one)]
    # Keras holds variables of TensorFlow: the objects of a checkpoint lead to its own, which have the full names.
    numbers: dict[int, int] = {}
    variables: list[ProgramVariable] = []
    for one, value in [*((one, one) for one in plain), *wrapped]:
        numbers[id(one)] = numbers[id(value)] = len(variables)
        name = one.name.rpartition(":")[0] if one is value else one.path
        shape = None if value.shape.rank is None else tuple(value.shape)
        variables.append(ProgramVariable(name or one.name, value.dtype.name, shape))
    roots = list(restored) or [one for one in held if isinstance(one, tf.train.Checkpoint)]
    return ProgramVariables(moment, variables, [_objects(root, numbers) for root in roots])


def _is_eager(variable: Any) -> bool:
    try:
        return isinstance(variable.handle, tf.Tensor) and hasattr(variable.handle, "numpy")
    except (AttributeError, NotImplementedError, ValueError):  # of a graph, or spread over several devices
        return False


def _of_keras(held: Iterable[Any]) -> Iterator[tuple[Any, Any]]:
    """The variables of Keras 3 with those of TensorFlow that hold their values."""
    keras = sys.modules.get("keras")
    kind = getattr(keras, "Variable", None)
    if not isinstance(kind, type):
        return
    for one in held:
        if isinstance(one, kind):
            value = getattr(one, "value", None)
            if isinstance(value, tf.Variable):
                yield one, value


def _objects(root: Any, numbers: dict[int, int]) -> Sequence[ProgramObject]:
    """The objects that `root` leads to, the nearest first."""
    view = tf.train.TrackableView(root)
    places, left = {id(root): 0}, deque([root])
    kept: list[Any] = [root]  # some are made when they are asked for; what is gone would give its number to others
    found = []
    while left:
        one = left.popleft()
        children = {}
        for name, child in view.children(one).items():
            if id(child) not in places:
                places[id(child)] = len(kept)
                kept.append(child)
                left.append(child)
            children[name] = places[id(child)]
        found.append(ProgramObject(children, numbers.get(id(one))))
    return found
