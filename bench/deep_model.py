"""One training step of a deep Keras 3 model, whose run has about eight thousand tensors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

_BLOCKS = 32  # each has a layer of weights, a normalization and a shortcut: 250 tensors with their training
_WIDTH = 32
_BATCH = 16


def build_step() -> Callable[[], Any]:
    """A call that trains on one batch."""
    import keras
    import numpy as np

    keras.utils.set_random_seed(1)
    layers = keras.layers
    inputs = keras.Input((_WIDTH,))
    found = inputs
    for _ in range(_BLOCKS):
        inner = layers.Dense(_WIDTH, activation="gelu")(layers.LayerNormalization()(found))
        found = layers.Add()([found, inner])
    model = keras.Model(inputs, layers.Dense(1)(found))
    model.compile("adam", "mse", jit_compile=False)
    random = np.random.RandomState(0)
    rows, targets = random.rand(_BATCH, _WIDTH).astype("float32"), random.rand(_BATCH, 1).astype("float32")
    return lambda: model.train_on_batch(rows, targets)
