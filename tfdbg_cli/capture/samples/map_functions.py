"""The functions that a data set calls for its elements: what they do, and whether they can be run once more."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import tensorflow as tf

from tfdbg_cli.capture.tf import compat
from tfdbg_cli.capture.tf.types import Op
from tfdbg_cli.model.walks import reached
from tfdbg_cli.ops.effects import Does, StatePlace, does, may_run_again

PYTHON = "calls Python of the program, which is not called again"
_DRAWS = "draws random numbers ({}), which would be others"
_EFFECT = "does more than compute ({})"
_PARSES = "ParseExampleV2"
READERS = frozenset({"TFRecordDataset", "TextLineDataset", "FixedLengthRecordDataset"})
# What may stand around a reader so that its records come in their order, one by one, and end.
_AROUND = frozenset({"TensorSliceDataset", "FlatMapDataset", "MapDataset", "ParallelMapDataset", "PrefetchDataset",
                     "OptionsDataset", "SkipDataset"})  # fmt: skip


def op_types(function: Any) -> Iterator[str]:
    """The types of all ops of a concrete function, those of the functions that it calls included."""
    definition = function.graph.as_graph_def()
    yield from (node.op for node in definition.node)
    yield from (node.op for called in definition.library.function for node in called.node_def)


def in_the_way(function: Any) -> str:
    """Why a concrete function may not be run once more, in words; empty where it may."""
    for op_type in op_types(function):
        if does(op_type, {Does.DRAWS}, {StatePlace.PYTHON}) or op_type.startswith("GeneratorDataset"):
            return PYTHON
        if does(op_type, {Does.DRAWS}, {StatePlace.KERNEL, StatePlace.VARIABLE, StatePlace.CLOCK}):
            return _DRAWS.format(op_type)
        if may_run_again(op_type) or does(op_type, {Does.READS}, {StatePlace.TABLE}) or is_dataset(op_type):
            continue
        definition = compat.op_definition(op_type)
        called = op_type in {"PartitionedCall", "StatefulPartitionedCall", "If", "While", "Case"}
        if definition is not None and definition.is_stateful and not called:
            return _EFFECT.format(op_type)
    return ""


def is_dataset(op_type: str) -> bool:
    """Whether ops of this type make a data set."""
    return op_type.rstrip("V0123456789").endswith("Dataset")


def skipped_of_file(function: Any) -> int | None:
    """How many records a function leaves out that opens one file and gives its records in their order.

    None where it does anything else.
    """
    made = [op_type.rstrip("V0123456789") for op_type in op_types(function) if is_dataset(op_type)]
    if sum(one in READERS for one in made) != 1 or not set(made) <= READERS | _AROUND:
        return None
    skips = [op for op in function.graph.get_operations() if op.type == "SkipDataset"]
    if len(skips) != made.count("SkipDataset"):
        return None
    counts = [tf.get_static_value(op.inputs[1]) for op in skips]
    return None if any(count is None for count in counts) else sum(map(int, counts))


def reads_files(function: Any) -> bool:
    """Whether the function reads whole files, by names that it is given."""
    return "ReadFile" in op_types(function)


def parsed_key(functions: Sequence[Any], component: int) -> str:
    """The feature of a parsed Example of which part `component` of what the last function gives is made.

    `functions` come one after another. Empty where none is, or several are.
    """
    keys: set[str] = set()
    parts = {component}
    for function in reversed(functions):
        starts = [function.outputs[part].ref() for part in parts if part < len(function.outputs)]
        given = [tensor.name for tensor in function.inputs]
        made_of = [tensor.deref() for tensor in reached(starts, _read_before_parsing)]
        keys |= {_feature(tensor.op, tensor.value_index) for tensor in made_of if tensor.op.type == _PARSES}
        parts = {given.index(tensor.name) for tensor in made_of if tensor.name in given}
    return keys.pop() if len(keys) == 1 else ""


def _read_before_parsing(tensor: Any) -> list[Any]:
    """What the op of a tensor reads, by references; nothing where it parses Examples."""
    op = tensor.deref().op
    return [] if op.type == _PARSES else [read.ref() for read in op.inputs]


def _feature(op: Op, slot: int) -> str:
    """The name of the dense feature that output `slot` of an op that parses Examples holds; empty for another one."""
    names = tf.get_static_value(op.inputs[3])
    at = slot - 3 * op.get_attr("num_sparse")
    return names[at].decode() if names is not None and 0 <= at < len(names) else ""
