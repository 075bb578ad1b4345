"""Ops whose outputs are references: who reads such an output can write the variable or queue behind it."""

from __future__ import annotations

from tfdbg_cli.ops.effects import Does, StatePlace, does

_FIRST_OUTPUT = frozenset({
    "Barrier", "ConditionalAccumulator", "DebugGradientRefIdentity", "FIFOQueue", "FakeQueue",
    "FixedLengthRecordReader", "HashTable", "IdentityReader", "LMDBReader", "MutableDenseHashTable",
    "MutableHashTable", "MutableHashTableOfTensors", "PaddingFIFOQueue", "PriorityQueue", "RandomShuffleQueue",
    "RefEnter", "RefExit", "RefIdentity", "RefMerge", "RefNextIteration", "RefSelect", "RefSwitch",
    "SparseConditionalAccumulator", "Stack", "TFRecordReader", "TemporaryVariable", "TensorArray",
    "TensorArrayGrad", "TextLineReader", "WholeFileReader",
})  # fmt: skip


def gives_reference(op_type: str, slot: int) -> bool:
    """Whether the output `slot` of an op of this type is a reference."""
    if slot:
        return slot == 1 and op_type == "RefSwitch"
    return op_type in _FIRST_OUTPUT or does(op_type, {Does.HOLDS, Does.WRITES}, {StatePlace.REFERENCE})
