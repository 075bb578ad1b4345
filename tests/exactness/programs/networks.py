"""Small networks of Keras 3 and of tf_keras, each with the data it learns from."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from exactness.courses import Plant
from exactness.programs.fitting import Data, hiding
from exactness.programs.planting import batches, joined, labels

BATCH = 8
CLASSES = 3


def dense(keras: Any) -> list[Any]:
    layers = keras.layers
    return [layers.Dense(12, activation="relu")]


def convolution(keras: Any) -> list[Any]:
    """With batch normalization."""
    layers = keras.layers
    return [
        layers.Conv2D(4, 3, padding="same", use_bias=False), layers.BatchNormalization(), layers.ReLU(),
        layers.Conv2D(4, 3, activation="relu"), layers.MaxPooling2D(2), layers.Flatten(),
    ]  # fmt: skip


def lstm(keras: Any) -> list[Any]:
    return [keras.layers.LSTM(6)]


def attention(keras: Any) -> list[Any]:
    """With layer normalization."""
    layers = keras.layers

    class Block(layers.Layer):  # type: ignore[name-defined, misc]
        def __init__(self) -> None:
            super().__init__()
            self.attention = layers.MultiHeadAttention(2, 4)
            self.norm = layers.LayerNormalization()

        def call(self, x: Any) -> Any:
            return self.norm(x + self.attention(x, x))

    return [Block(), layers.Dense(8, activation="gelu"), layers.GlobalAveragePooling1D()]


NETWORKS: Mapping[str, tuple[Callable[[Any], list[Any]], tuple[int, ...]]] = {
    "Dense": (dense, (8,)),
    "Conv": (convolution, (6, 6, 2)),
    "LSTM": (lstm, (4, 3)),
    "attention": (attention, (4, 8)),
}


def network(keras: Any, name: str) -> Any:
    """The network called `name` with a head of logits, in front a layer that meets what is planted."""
    inner, shape = NETWORKS[name]
    layers = keras.layers
    return keras.Sequential([layers.Input(shape), hiding(keras), *inner(keras), layers.Dense(CLASSES)])


def data_for(name: str, plant: Plant) -> Data:
    """Batches for the network called `name`, of `BATCH` samples each."""
    _, shape = NETWORKS[name]

    def data(steps: int) -> tuple[Any, Any]:
        return joined(batches(plant, steps, BATCH, *shape)), joined(labels(steps, BATCH, below=CLASSES))

    return data
