"""The data behind the batches of a call: arrays that a method of Keras was given, or the data set of an iterator."""

from __future__ import annotations

import inspect
import weakref
from collections.abc import Mapping
from types import FrameType
from typing import Any

import tensorflow as tf

from tfdbg_cli.capture.failures import report_once
from tfdbg_cli.capture.runs.batch_places import LOOPS, is_keras, validates
from tfdbg_cli.capture.runs.delivered import DELIVERIES, handle_of
from tfdbg_cli.capture.samples.given_arrays import ArrayPart, GivenArrays, is_part
from tfdbg_cli.capture.samples.named_parts import keys_of
from tfdbg_cli.capture.samples.pipeline import Pipeline
from tfdbg_cli.capture.tf import compat
from tfdbg_cli.capture.tf.callers import names_in
from tfdbg_cli.capture.tf.memo import Memo
from tfdbg_cli.model.records import Behind, DataBehind
from tfdbg_cli.process.interruptions import our_errors

_ON_BATCH = frozenset({"train_on_batch", "test_on_batch", "predict_on_batch"})
_GIVEN = ("x", "y", "sample_weight")  # by these names all methods of Keras have their arrays, in this order
_MOST_ARRAYS = 1_000  # given to one call; more are no arrays, but a list of numbers


def data_behind(given: Mapping[str, int]) -> Mapping[str, Behind]:
    """The data behind the batches of a call, by the names of what it is given: see `batch_places`."""
    if not given:
        return {}
    try:
        return _behind(given)
    except our_errors() as error:  # a Keras that has its arrays elsewhere
        report_once("find the data that a batch was made of", error)
        return {}


def _behind(given: Mapping[str, int]) -> dict[str, Behind]:
    loop = _loop()
    handle, data = None, None
    if loop is not None:
        names = names_in(loop)
        if loop.f_code.co_name in _ON_BATCH:
            return _of_one_batch(loop, names, given)
        iterator = names.get("iterator", names.get("dataset_or_iterator"))
        handle, data = handle_of(iterator), _data(loop, names, iterator)
    found = {}
    for name, tensor in given.items():
        delivery = DELIVERIES.of(tensor)
        if tensor == handle and data is not None:
            found[name] = Behind(data)
        elif delivery is not None and delivery.iterator == handle and data is not None:
            found[name] = Behind(data, delivery.component)
        elif delivery is not None and delivery.dataset is not None:
            found[name] = Behind(Pipeline(delivery.dataset), delivery.component)
    return found


def _loop() -> FrameType | None:
    """The innermost call of a method of Keras that was given data."""
    frame: FrameType | None = inspect.currentframe()
    while frame is not None:
        if frame.f_code.co_name in LOOPS | _ON_BATCH and is_keras(frame):
            return frame
        frame = frame.f_back
    return None


def _of_one_batch(call: FrameType, names: Mapping[str, Any], given: Mapping[str, int]) -> dict[str, Behind]:
    """What `train_on_batch` and its like were given: a batch as it is."""
    arrays = _arrays(call, names)
    if arrays is None or len(given) > len(arrays):
        return {}
    data = GivenArrays(arrays, one_batch=True)
    handle = handle_of(names.get("iterator"))  # Keras 2 makes a data set of the batch
    if handle is not None:
        return {name: Behind(data) for name, tensor in given.items() if tensor == handle}
    return {name: Behind(data, at) for at, name in enumerate(given)}


def _data(loop: FrameType, names: Mapping[str, Any], iterator: Any) -> DataBehind | None:
    """What a loop of Keras takes its batches from; found once for each time that it is called."""
    owner = names.get("epoch_iterator", names.get("data_handler"))
    known = None if owner is None else _FOUND.of(owner)
    if known:
        return known[0]
    adapter = getattr(owner, "data_adapter", None)
    if adapter is None or type(adapter).__name__ == "ArrayDataAdapter":
        arrays = _arrays(loop, names)
        if arrays is not None and known is not None:
            known.append(GivenArrays(arrays))
            return known[0]
    dataset = compat.dataset_of(iterator) if isinstance(iterator, compat.OwnedIterator) else None
    return None if dataset is None else Pipeline(weakref.ref(dataset))


_FOUND: Memo[list[DataBehind]] = Memo(lambda owner: [])


def _arrays(call: FrameType, names: Mapping[str, Any]) -> list[ArrayPart | None] | None:
    """The arrays that a method of Keras loops over, in the order of a batch's parts; None where it has others."""
    given = {name: names[name] for name in _GIVEN if names.get(name) is not None}
    leaves = tf.nest.flatten(list(given.values()))
    if not leaves or len(leaves) > _MOST_ARRAYS or not all(map(_is_array, leaves)):
        return None
    # What the program wrote in a call has no name: `x` would be taken for its variable, whose records are others.
    keys = [key or f"argument {name}" for name, part in given.items() for key in keys_of(part)]
    outer, user = _outermost(call)
    handed = _handed(outer)
    ends = validates(call) and handed.get("validation_data") is None
    beside = tf.nest.flatten([handed.get(name) for name in given]) if ends or "validation_split" in handed else []
    beside = beside if len(beside) == len(leaves) else [None] * len(leaves)
    pool = list(filter(_is_array, tf.nest.flatten(list(handed.values()))))
    known = [] if user is None else [*names_in(user).items(), *user.f_globals.items()]
    parts = []
    for array, key, cut_from in zip(leaves, keys, beside, strict=True):
        whole, first = _whole(array, pool, cut_from, ends=ends)
        name = next((name for name, held in known if held is whole), "")
        if not name and not first:  # a part of an array that the program calls by a name
            name, whole = next(((name, held) for name, held in known if is_part(array, held)), ("", whole))
        parts.append(ArrayPart.made(array, whole, name or key, first))
    return parts


def _whole(array: Any, pool: list[Any], cut_from: Any, *, ends: bool) -> tuple[Any, int]:
    """Which array of the `pool`, all that the program handed to Keras, `array` is or is a part of, from which record.

    Keras cuts the arrays in two where some are for validation, with `ends` the last ones. What it casts then, it
    copies: then the array is no part of `cut_from` in memory, but in length.
    """
    whole = next((one for one in pool if one is array), None)
    if whole is None:
        whole = next((one for one in pool if is_part(array, one)), None)
    if whole is not None:
        return whole, 0
    if cut_from is None or not _is_array(cut_from) or tuple(cut_from.shape[1:]) != tuple(array.shape[1:]):
        return array, 0
    missing = int(cut_from.shape[0]) - int(array.shape[0])
    return (array, 0) if missing < 0 else (cut_from, missing if ends else 0)


def _handed(outer: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments with which the program called a method of Keras, of which `outer` are the local names."""
    positional = dict(zip(_GIVEN[:2], outer.get("args", ())[1:], strict=False))
    return {**{name: outer[name] for name in _GIVEN if name in outer}, **positional, **outer.get("kwargs", {})}


def _outermost(call: FrameType) -> tuple[Mapping[str, Any], FrameType | None]:
    """The names of the call by which the program entered Keras, and the program's own call."""
    outer = call
    while outer.f_back is not None and is_keras(outer.f_back):
        outer = outer.f_back
    return names_in(outer), outer.f_back


def _is_array(leaf: Any) -> bool:
    """Whether it is an array of some rows; of a sparse or ragged one these do not stand one below the other."""
    return getattr(leaf, "shape", None) not in (None, ()) and (
        type(leaf) is compat.EagerTensor or hasattr(leaf, "__array__")
    )
