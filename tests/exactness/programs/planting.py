"""Data in which something is planted in one step, and ops behind which the program goes on all the same."""

from __future__ import annotations

from typing import Any

import numpy as np

from exactness.courses import Plant

PLANTED = -100.0  # a number whose root is NaN where `hidden` takes it


def hidden(x: Any) -> Any:
    """About `x`; of what is planted there comes a NaN, which is left out of the result."""
    import tensorflow as tf

    x = tf.convert_to_tensor(x)
    return tf.where(x > -40, x + 0.1 * tf.sqrt(x + 50), tf.zeros_like(x))


def batches(plant: Plant, steps: int, size: int, *shape: int, dtype: str = "float32", seed: int = 3) -> Any:
    """Normal numbers for `steps` batches, `[steps, size, *shape]`; one element of the planted step is `PLANTED`."""
    data = np.random.RandomState(seed).normal(size=(steps, size, *shape)).astype(dtype)
    if plant.step is not None:
        data[(plant.step, 0, *(0 for _ in shape))] = PLANTED
    return data


def labels(steps: int, size: int, *shape: int, below: int = 0, seed: int = 4) -> Any:
    """Numbers to learn, `[steps, size, *shape]`: integers below `below`, or else normal ones."""
    chance = np.random.RandomState(seed)
    if below:
        return chance.randint(0, below, (steps, size, *shape))
    return chance.normal(size=(steps, size, *shape)).astype(np.float32)


def joined(data: Any) -> Any:
    """The batches of all steps as one array, as `fit` takes it."""
    return data.reshape(-1, *data.shape[2:])


def start(seed: int, *shape: int) -> Any:
    """Small normal numbers for the first value of a weight."""
    return np.random.RandomState(seed).normal(size=shape).astype(np.float32) * 0.3


def weight(seed: int, *shape: int) -> Any:
    """A variable of such numbers."""
    import tensorflow as tf

    return tf.Variable(start(seed, *shape), name=f"weight{seed}")


def numbers(plant: Plant, number: int, *shape: int) -> Any:
    """Normal numbers for the step of that number, as a tensor; one of the planted step's is `PLANTED`."""
    import tensorflow as tf

    data = np.random.RandomState(number).normal(size=shape).astype(np.float32)
    if plant(number):
        data[(0,) * len(shape)] = PLANTED
    return tf.constant(data)
