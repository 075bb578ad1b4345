"""Tensors that live on a custom device, as those of DTensor do: their values are in parts, on several devices."""

from __future__ import annotations

from collections.abc import Sequence

from tfdbg_cli.capture.tf.types import EagerTensor

NOT_WATCHED = (
    "What computes with DTensors, which are in parts on several devices, is neither watched nor recorded. To look "
    "into such a step, give it plain tensors, in a program without a mesh."
)
_CUSTOM = "/device:CUSTOM:"  # in the name of each such device that TensorFlow makes
_ENDS = 4  # inputs at either end that are asked: the arguments come first and the variables last


def on_custom_device(inputs: Sequence[EagerTensor]) -> bool:
    """Whether a call with these inputs runs on a custom device. A few of them are asked, for all are there then."""
    asked = inputs if len(inputs) <= 2 * _ENDS else (*inputs[:_ENDS], *inputs[-_ENDS:])
    return any(_CUSTOM in getattr(one, "device", "") for one in asked)
