from __future__ import annotations

import itertools

import numpy as np

from tfdbg_cli.examples.digits import CLASSES, SIZE, load_digits


def test_the_data_set_is_whole() -> None:
    training, testing = load_digits()
    assert training.images.shape == (1500, SIZE * SIZE)
    assert testing.images.shape == (297, SIZE * SIZE)
    counts = training.labels.sum(axis=0) + testing.labels.sum(axis=0)
    # The class counts that the repository states for its test part.
    assert counts.tolist() == [178, 182, 177, 183, 181, 182, 181, 179, 174, 180]


def test_images_are_ink_from_0_to_1_and_labels_one_hot() -> None:
    training, _ = load_digits()
    assert training.images.dtype == training.labels.dtype == np.float32
    assert training.images.min() == 0
    assert training.images.max() == 1
    assert set(np.unique(training.labels)) == {0, 1}
    assert (training.labels.sum(axis=1) == 1).all()
    assert training.labels.shape[1] == CLASSES


def test_a_seed_gives_the_same_batches_again() -> None:
    training, _ = load_digits()
    first, again, other = (list(itertools.islice(training.batches(5, seed), 3)) for seed in (1, 1, 2))
    assert all(np.array_equal(a[0], b[0]) and np.array_equal(a[1], b[1]) for a, b in zip(first, again, strict=True))
    assert not np.array_equal(first[0][0], other[0][0])
    assert first[0][0].shape == (5, SIZE * SIZE)
