"""Steps of Keras held and made again: the same bits, and the model's variables as the step left them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tfdbg_cli.capture.replay.replayed import difference
from tfdbg_cli.model.decision import DebugRun
from tfdbg_cli.model.runs import RunEnd

pytestmark = pytest.mark.tf
keras = pytest.importorskip("keras")


def convolutional() -> tuple[Any, Any, Any]:
    layers = keras.layers
    model = keras.Sequential([
        keras.Input((8, 8, 3)), layers.Conv2D(4, 3), layers.BatchNormalization(), layers.ReLU(), layers.Dropout(0.3),
        layers.Flatten(), layers.Dense(3),
    ])  # fmt: skip
    random = np.random.RandomState(0)
    return model, random.rand(16, 8, 8, 3).astype(np.float32), random.randint(0, 3, 16)


def recurrent() -> tuple[Any, Any, Any]:
    layers = keras.layers
    model = keras.Sequential(
        [keras.Input((5,)), layers.Embedding(20, 4), layers.GRU(4, dropout=0.2), layers.Dense(3)]
    )
    random = np.random.RandomState(0)
    return model, random.randint(0, 20, (16, 5)), random.randint(0, 3, 16)


def dense() -> tuple[Any, Any, Any]:
    """What of the others XLA compiles in a few seconds: weights, statistics, slots and random state."""
    layers = keras.layers
    model = keras.Sequential([keras.Input((5,)), layers.BatchNormalization(), layers.Dropout(0.3), layers.Dense(3)])
    random = np.random.RandomState(0)
    return model, random.rand(16, 5).astype(np.float32), random.randint(0, 3, 16)


@pytest.mark.parametrize(
    ("build", "jit_compile"),
    [(convolutional, False), (recurrent, False), (dense, True)],
    ids=["convolutional", "recurrent", "compiled"],
)
def test_a_training_step_is_made_again_and_undone(watched, build: Callable[[], Any], jit_compile: bool) -> None:
    keras.utils.set_random_seed(1)
    model, x, y = build()
    optimizer = "adam" if build is convolutional else keras.optimizers.SGD(0.01, momentum=0.9)  # with fewer slots
    model.compile(optimizer, keras.losses.SparseCategoricalCrossentropy(from_logits=True), jit_compile=jit_compile)
    start: list[Any] = []
    ends: list[RunEnd] = []

    def at_end(event: Any) -> DebugRun:
        ends.append(event)
        start.append(_state(model))
        again = event.run.replayable.again()
        assert again.error is None
        assert difference(event.run.tensors, again.tensors) == ""
        assert _state(model) == start[-1], "made again, a step touches nothing of the program"
        if len(ends) == 2:
            assert event.run.replayable.undo() == ()
            assert _state(model) == start[0], "undone, a step leaves weights, slots and random state as they were"
        return DebugRun()

    with watched(DebugRun(), at_end, at_end):
        model.fit(x, y, batch_size=8, epochs=1, verbose=0, shuffle=False)
    assert len(ends) == 2
    assert _state(model) == start[0]


def _state(model: Any) -> list[bytes]:
    return [np.asarray(variable).tobytes() for variable in [*model.variables, *model.optimizer.variables]]
