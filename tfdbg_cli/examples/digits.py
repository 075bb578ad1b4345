"""The handwritten digits of the UCI repository (see data/README.md), shipped with the examples."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from importlib import resources
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]

SIZE = 8  # pixels on a side
CLASSES = 10
_TRAINING = 1500  # the first ones train, the rest test


@dataclass(frozen=True, slots=True)
class Digits:
    """Images as rows of 64 float32 from 0 to 1, labels as one-hot rows of 10 float32."""

    images: Array
    labels: Array

    def batches(self, size: int, seed: int) -> Iterator[tuple[Array, Array]]:
        """Random batches of `size` rows, for ever; the same ones for the same `seed`."""
        random = np.random.default_rng(seed)
        while True:
            rows = random.integers(0, len(self.images), size)
            yield self.images[rows], self.labels[rows]


def load_digits() -> tuple[Digits, Digits]:
    """The training part (1500 images) and the test part (297)."""
    with resources.files(__package__).joinpath("data/digits.npz").open("rb") as file, np.load(file) as archive:
        images = (archive["images"].reshape(-1, SIZE * SIZE) / 16).astype(np.float32)
        labels = np.eye(CLASSES, dtype=np.float32)[archive["labels"]]
    return Digits(images[:_TRAINING], labels[:_TRAINING]), Digits(images[_TRAINING:], labels[_TRAINING:])
