"""Where in the data a call's batches come from, as told by the iterators that gave them and by the loop of Keras."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import replace
from itertools import accumulate
from types import FrameType
from typing import Any

import numpy as np
import tensorflow as tf

from tfdbg_cli.capture.failures import report
from tfdbg_cli.capture.runs.delivered import DELIVERIES, handle_of
from tfdbg_cli.capture.samples.named_parts import keys_of
from tfdbg_cli.capture.tf import compat
from tfdbg_cli.capture.tf.callers import names_in
from tfdbg_cli.model.batch_place import VALIDATION, BatchPlace, Order
from tfdbg_cli.process.interruptions import our_errors

LOOPS = frozenset({"fit", "evaluate", "predict"})
_KERAS = ("keras.", "tf_keras.")
# How Keras 3 takes batches from Python: from generators, a PyDataset, and the loaders of other libraries.
_OF_PYTHON = frozenset({
    "GeneratorDataAdapter", "PyDatasetAdapter", "TorchDataLoaderAdapter", "GrainDatasetAdapter",
})  # fmt: skip
_SIZE = 32  # rows of a batch in Keras 2, unless the program says another number
_MOST_PARTS = 3  # x, y, sample_weight


def batch_places(given: Mapping[str, int]) -> Mapping[str, BatchPlace]:
    """Where in the data the batches of a call were, as far as it is known, by the names of what it is given.

    `given` are the ids of tensors, and of the handles of iterators.
    """
    found: dict[str, BatchPlace] = {}
    try:
        loop = _keras_loop() if given else None
    except our_errors() as error:  # a Keras that loops in another way
        report("ask Keras which step this is", error)
        return found
    for name, tensor in given.items():
        delivery = DELIVERIES.of(tensor)
        place = None if delivery is None else BatchPlace(delivery.step, first=delivery.first, single=delivery.single)
        if loop is not None and loop[0] == tensor:
            place = replace(loop[1], handle=True)
        elif loop is not None and delivery is not None and loop[0] == delivery.iterator and loop[1].steps == 1:
            place = _of_part(loop[1], delivery.component)
        if place is not None:
            found[name] = place
    return found


def _keras_loop() -> tuple[int, BatchPlace] | None:
    """The iterator of the innermost loop of Keras over batches, by its handle, and where it stands; None for none."""
    frame: FrameType | None = inspect.currentframe()
    while frame is not None:
        if _is_loop(frame):
            names = names_in(frame)
            handle = handle_of(names.get("iterator", names.get("dataset_or_iterator")))
            place = _place(frame.f_code.co_name, names)
            if handle is None or place is None:
                return None
            return handle, replace(place, loop=VALIDATION) if validates(frame) else place
        frame = frame.f_back
    return None


def _is_loop(frame: FrameType) -> bool:
    return frame.f_code.co_name in LOOPS and is_keras(frame)


def is_keras(frame: FrameType) -> bool:
    """Whether it is a call of code of Keras."""
    return str(frame.f_globals.get("__name__", "")).startswith(_KERAS)


def validates(loop: FrameType) -> bool:
    """Whether `fit` calls this loop, on the data that it validates with."""
    frame = loop.f_back
    while frame is not None and frame.f_code.co_name != "fit":
        frame = frame.f_back if is_keras(frame) else None
    return frame is not None and _is_loop(frame)


def _place(loop: str, names: Mapping[str, Any]) -> BatchPlace | None:
    """Where a loop of Keras stands, read from its local variables `names`; None where it does not say."""
    source = names.get("epoch_iterator")
    steps = names.get("steps_per_epoch", names.get("steps"))
    if source is not None:  # Keras 3
        step, end = names.get("begin_step"), names.get("end_step")
        adapter = source.data_adapter
        size, arrays = getattr(adapter, "batch_size", None), type(adapter).__name__ == "ArrayDataAdapter"
        by_python = type(adapter).__name__ in _OF_PYTHON
    else:
        source, step = names.get("data_handler"), names.get("step")
        end = step + source.step_increment if isinstance(step, int) and source is not None else None
        arrays = all(isinstance(one, (np.ndarray, tf.Tensor)) for one in tf.nest.flatten(names.get("x")))
        by_python = _gives_batches(names.get("x"))
        size = (names.get("batch_size") or _SIZE) if arrays and steps is None else None
    if not isinstance(step, int) or not isinstance(end, int):
        return None
    epoch = names["epoch"] if isinstance(names.get("epoch"), int) else None
    if steps is not None and epoch is not None and epoch != names.get("initial_epoch"):
        return None  # with a number of steps per epoch, Keras goes on where the epoch before ended, or begins anew
    first = step * size if isinstance(size, int) else None
    order = Order.PIPELINE
    if arrays and steps is None:  # with a number of steps an epoch may begin in the middle of the arrays
        order = Order.SHUFFLED if names.get("shuffle", False) else Order.ARRAYS
    by_class = names.get("class_weight") is not None and names.get("sample_weight") is None
    parts = [list(keys_of(part)) for part in _parts(names.get("iterator"))]
    keys = tuple(key for part in parts for key in part)
    return BatchPlace(
        step,
        order,
        first,
        epoch,
        loop,
        steps=end - step + 1,
        class_weight=by_class,
        parts=tuple(map(len, parts)),
        keys=keys if any(keys) else (),
        by_python=by_python,
    )


def _gives_batches(data: Any) -> bool:
    """Whether `data`, which a method of Keras 2 was given, are batches that Python makes, one by one."""
    return inspect.isgenerator(data) or any(
        kind.__name__ == "Sequence" and kind.__module__.startswith(_KERAS) for kind in type(data).__mro__
    )


def _of_part(place: BatchPlace, component: int) -> BatchPlace:
    """The place of one tensor of a batch: its `parts` and `keys` are those of this tensor alone."""
    if component >= sum(place.parts):
        return replace(place, parts=(), keys=())
    ends = accumulate(place.parts)
    at = next(at for at, end in enumerate(ends) if component < end)
    return replace(place, parts=(*(0,) * at, 1), keys=place.keys[component : component + 1])


def _parts(iterator: Any) -> tuple[Any, ...]:
    """The specifications of x, y and sample_weight in what an iterator of Keras gives; empty for no such."""
    spec = getattr(iterator, "element_spec", None)
    return spec if type(spec) is tuple and 1 < len(spec) <= _MOST_PARTS else ()


def ids_of(tensors: Mapping[str, Any]) -> dict[str, int]:
    """The ids of those of `tensors` that are eager tensors."""
    return {name: compat.tensor_id(one) for name, one in tensors.items() if type(one) is compat.EagerTensor}
