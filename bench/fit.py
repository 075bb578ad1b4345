"""A Keras `fit` of a small convolutional network with batch normalization and dropout, as a benchmark's step."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from bench.timing import Took

STEPS = 8
BATCH = 32


def build_step() -> Callable[[], Any]:
    """A call that fits for `STEPS` steps and tells what these took.

    Around its steps, `fit` waits half a second now and then for the threads of its data, whoever debugs it.
    """
    import keras
    import numpy as np

    keras.utils.set_random_seed(1)
    layers = keras.layers
    model = keras.Sequential([keras.Input((32, 32, 3))])
    for filters in (32, 64, 128):
        model.add(layers.Conv2D(filters, 3, padding="same", use_bias=False))
        model.add(layers.BatchNormalization())
        model.add(layers.ReLU())
        model.add(layers.Conv2D(filters, 3, padding="same", activation="relu"))
        model.add(layers.MaxPooling2D())
    model.add(layers.GlobalAveragePooling2D())
    model.add(layers.Dropout(0.3))
    model.add(layers.Dense(10))
    model.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True), metrics=["accuracy"])
    random = np.random.RandomState(0)
    images = random.rand(STEPS * BATCH, 32, 32, 3).astype("float32")
    labels = random.randint(0, 10, STEPS * BATCH)

    class Clock(keras.callbacks.Callback):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.seconds = self.began = 0.0
            self.processor = self.processor_began = 0.0

        def on_train_batch_begin(self, batch: int, logs: object = None) -> None:
            self.began, self.processor_began = time.perf_counter(), time.process_time()

        def on_train_batch_end(self, batch: int, logs: object = None) -> None:
            self.seconds += time.perf_counter() - self.began
            self.processor += time.process_time() - self.processor_began

    def call() -> Any:
        clock = Clock()
        model.fit(images, labels, batch_size=BATCH, epochs=1, shuffle=False, verbose=0, callbacks=[clock])
        return Took(clock.seconds, clock.processor)

    return call
