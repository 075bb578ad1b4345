"""Reads the values of variables by their handles, all in one call, and puts them back."""

from __future__ import annotations

import itertools
import weakref
from collections.abc import Sequence

import tensorflow as tf

from tfdbg_cli.capture.tf import compat
from tfdbg_cli.capture.tf.observers import own_ops
from tfdbg_cli.capture.tf.op_errors import OpError
from tfdbg_cli.capture.tf.types import EagerTensor, FunctionDef
from tfdbg_cli.model.dtypes import RESOURCE

_SERIAL = itertools.count(1)
_FEW = 8  # variables
_RARELY = 16  # readings: as many, one by one, take as long as to make a function


class VariableReader:
    """Reads variables whose element types have the numbers `dtypes`, in that order.

    One call of a function of many ReadVariableOps takes a third of the time of as many eager ones, but it has to be
    made, and what is read for a trial is read a few times in all. Of a few variables it takes longer: a function runs
    in other threads, and is waited for.
    """

    def __init__(self, dtypes: Sequence[int]) -> None:
        self._dtypes = tuple(dtypes)
        self._readings = 0
        self._name = ""

    def _count(self) -> None:
        """Note one more reading, and make the function where it is worth it."""
        self._readings += 1
        if self._readings == _RARELY + 1 and len(self._dtypes) > _FEW:
            name = f"tfdbg_read_{next(_SERIAL)}"
            compat.add_function(_reader(name, self._dtypes))
            weakref.finalize(self, compat.remove_function, name).atexit = False
            self._name = name

    def read(self, handles: Sequence[EagerTensor]) -> list[EagerTensor | None]:
        """The values of the variables of `handles`, which share their memory; None for one that has no value yet."""
        if not handles:
            return []
        self._count()
        with own_ops():
            try:
                if self._name:
                    # There is nothing to optimize; with a thousand variables that takes the better part of a second.
                    # To hand the reads to other threads takes longer than to read.
                    read, count = compat.run_function, len(handles)
                    found = read(self._name, handles, count, optimize=False, by=compat.IN_ONE_THREAD)
                else:
                    found = list(map(compat.read_variable, handles, self._dtypes))
            except OpError:
                found = [_value(handle, dtype) for handle, dtype in zip(handles, self._dtypes, strict=True)]
            return [
                None if value is None or _is_missing(handle, value) else value
                for handle, value in zip(handles, found, strict=True)
            ]


def _reader(name: str, dtypes: Sequence[int]) -> FunctionDef:
    library = tf.compat.v1.GraphDef().library
    definition = library.function.add()
    definition.signature.name = name
    definition.signature.is_stateful = True
    for position, dtype in enumerate(dtypes):
        definition.signature.input_arg.add(name=f"handle_{position}", type=RESOURCE)
        definition.signature.output_arg.add(name=f"value_{position}", type=dtype)
        node = definition.node_def.add(name=f"read_{position}", op="ReadVariableOp", input=[f"handle_{position}"])
        node.attr["dtype"].type = dtype
        definition.ret[f"value_{position}"] = f"{node.name}:value:0"
    return definition


def _value(handle: EagerTensor, dtype: int) -> EagerTensor | None:
    try:
        return tf.raw_ops.ReadVariableOp(resource=handle, dtype=tf.dtypes.as_dtype(dtype))
    except OpError:
        return None


def _is_missing(handle: EagerTensor, value: EagerTensor) -> bool:
    """Whether the variable was never assigned: it then reads as a tensor without elements."""
    return compat.elements_of(value) == 0 and not bool(tf.raw_ops.VarIsInitializedOp(resource=handle))


def put_back(handle: EagerTensor, value: EagerTensor) -> None:
    """Give the variable of `handle` the `value` that it had.

    Raises:
        tf.errors.OpError: the variable is gone, or of another type.

    """
    with own_ops():
        tf.raw_ops.AssignVariableOp(resource=handle, value=value)
