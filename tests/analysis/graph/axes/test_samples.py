"""Ops of which `SAMPLES` says that a sample of the output is made of the same one of the first input: tried."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tfdbg_cli.analysis.graph.making.parts import SAMPLES

pytestmark = pytest.mark.tf
IMAGES = np.random.default_rng(0).uniform(0.1, 0.9, (3, 8, 8, 3)).astype("float32")
SEQUENCE, VOLUME = IMAGES.reshape(3, 64, 3), IMAGES.reshape(3, 8, 4, 2, 3)
SIZE = np.int32([5, 5])
WINDOW, STEP = [1, 2, 2, 1], [1, 1, 1, 1]
TURN = np.tile(np.float32([0.9, 0.1, 0, -0.1, 0.9, 0, 0, 0]), (3, 1))
KERNEL = np.ones((2, 2, 3, 4), np.float32)


def _resized(op: str) -> Callable[[Any, Any], Any]:
    return lambda raw, x: getattr(raw, op)(images=x, size=SIZE)


OPS: dict[str, Callable[[Any, Any], Any]] = {
    "Conv2D": lambda raw, x: raw.Conv2D(input=x, filter=KERNEL, strides=STEP, padding="SAME"),
    "Conv3D": lambda raw, x: raw.Conv3D(
        input=x.reshape(VOLUME.shape), filter=np.ones((2, 2, 1, 3, 4), np.float32), strides=[1] * 5, padding="SAME"
    ),
    "DepthwiseConv2dNative": lambda raw, x: raw.DepthwiseConv2dNative(
        input=x, filter=KERNEL, strides=STEP, padding="SAME"
    ),
    "AvgPool": lambda raw, x: raw.AvgPool(value=x, ksize=WINDOW, strides=STEP, padding="VALID"),
    "MaxPool": lambda raw, x: raw.MaxPool(input=x, ksize=WINDOW, strides=STEP, padding="VALID"),
    "AvgPool3D": lambda raw, x: raw.AvgPool3D(
        input=x.reshape(VOLUME.shape), ksize=[1, 2, 2, 1, 1], strides=[1] * 5, padding="VALID"
    ),
    "MaxPool3D": lambda raw, x: raw.MaxPool3D(
        input=x.reshape(VOLUME.shape), ksize=[1, 2, 2, 1, 1], strides=[1] * 5, padding="VALID"
    ),
    "LRN": lambda raw, x: raw.LRN(input=x),
    "Dilation2D": lambda raw, x: raw.Dilation2D(
        input=x, filter=np.ones((2, 2, 3), np.float32), strides=STEP, rates=STEP, padding="SAME"
    ),
    "ExtractImagePatches": lambda raw, x: raw.ExtractImagePatches(
        images=x, ksizes=WINDOW, strides=STEP, rates=STEP, padding="SAME"
    ),
    "SpaceToDepth": lambda raw, x: raw.SpaceToDepth(input=x, block_size=2),
    "DepthToSpace": lambda raw, x: raw.DepthToSpace(input=x.reshape(3, 4, 4, 12), block_size=2),
    **{op: _resized(op) for op in ("ResizeArea", "ResizeBicubic", "ResizeBilinear", "ResizeNearestNeighbor")},
    "ResizeBilinearGrad": lambda raw, x: raw.ResizeBilinearGrad(grads=x, original_image=IMAGES[:, :5, :5]),
    "ResizeBicubicGrad": lambda raw, x: raw.ResizeBicubicGrad(grads=x, original_image=IMAGES[:, :5, :5]),
    "ResizeNearestNeighborGrad": lambda raw, x: raw.ResizeNearestNeighborGrad(grads=x, size=SIZE),
    "ImageProjectiveTransformV2": lambda raw, x: raw.ImageProjectiveTransformV2(
        images=x, transforms=TURN, output_shape=SIZE, interpolation="BILINEAR"
    ),
    "ImageProjectiveTransformV3": lambda raw, x: raw.ImageProjectiveTransformV3(
        images=x, transforms=TURN, output_shape=SIZE, fill_value=0.0, interpolation="BILINEAR"
    ),
    "AdjustHue": lambda raw, x: raw.AdjustHue(images=x, delta=0.1),
    "AdjustSaturation": lambda raw, x: raw.AdjustSaturation(images=x, scale=0.5),
    "RGBToHSV": lambda raw, x: raw.RGBToHSV(images=x),
    "HSVToRGB": lambda raw, x: raw.HSVToRGB(images=x),
}
NO_OPS = {"Conv1D"} | {op for op in SAMPLES if op.startswith("_")}  # no such op, or one that only the optimizer makes


def test_all_are_tried() -> None:
    assert set(OPS) == SAMPLES - NO_OPS


@pytest.mark.parametrize("op", sorted(OPS))
def test_a_sample_is_made_of_the_same_sample(op: str) -> None:
    import tensorflow as tf

    changed = IMAGES.copy()
    changed[1] = 1.0 - changed[1]
    with tf.device("CPU"):
        before, after = (np.asarray(OPS[op](tf.raw_ops, images)) for images in (IMAGES, changed))
    differs = (before != after).reshape(len(IMAGES), -1).any(axis=1)
    assert before.shape[0] == len(IMAGES) and differs.tolist() == [False, True, False]
