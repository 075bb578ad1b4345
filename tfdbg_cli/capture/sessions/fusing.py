"""Batch normalizations that TensorFlow fuses with what is around them, though one of their outputs is fetched."""

from __future__ import annotations

import tensorflow as tf

from tfdbg_cli.capture.tf.types import SymbolicTensor

FUSED = "TensorFlow fused a batch normalization with its surroundings: its outputs but the first were not made."


def is_refusal(error: tf.errors.OpError) -> bool:
    """Whether TensorFlow found, before it ran anything, that an op that it had fused lacks an output to fetch.

    The remapper of Grappler fuses a FusedBatchNorm in inference though a further output of it is fetched.
    """
    return "does not have output" in str(error.message)


def is_by_product(tensor: SymbolicTensor) -> bool:
    """Whether `tensor` is an output of a batch normalization that fusing takes away."""
    return bool(tensor.op.type.startswith("FusedBatchNorm") and tensor.value_index > 0)
