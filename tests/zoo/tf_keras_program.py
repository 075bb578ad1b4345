"""`fit` of tf_keras, undebugged and debugged. Run as a program."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent))

import numpy as np
import tf_keras

from zoo.twins import Program, twins


def build() -> Program:
    tf_keras.utils.set_random_seed(5)
    layers = tf_keras.layers
    model = tf_keras.Sequential(
        [layers.SimpleRNN(4), layers.Dropout(0.5, seed=1), layers.BatchNormalization(), layers.Dense(2)]
    )
    model.compile("adam", "mse")
    rng = np.random.RandomState(0)
    x, y = rng.rand(12, 5, 3).astype(np.float32), rng.rand(12, 2).astype(np.float32)
    model.build([None, 5, 3])

    def step() -> Any:
        history = model.fit(x, y, batch_size=4, verbose=0).history
        return history["loss"], model.predict(x, verbose=0), model.train_on_batch(x, y)

    return Program(step, lambda: [*model.variables, *model.optimizer.variables])


if __name__ == "__main__":
    twins(build, 2, at_least=2 * (3 + 1 + 1))
    print("identical")
