"""What is told of a variable that eager code writes itself: the program's name for it, and no learning rate."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from support.prompt import json_of

from tfdbg_cli.model.decision import RunUntil

pytestmark = pytest.mark.tf


def test_a_variable_of_a_model_that_the_program_multiplies(tf2, watched) -> None:
    """A blind test: it was called by the list in which Keras keeps it, and to be trained with a lower rate."""

    class Sharper(tf2.keras.Model):  # type: ignore[name-defined,misc]
        def __init__(self) -> None:
            super().__init__()
            self.memory = self.add_weight(shape=(4,), name="memory")
            self.beta = self.add_weight(shape=(), initializer="ones", trainable=False, name="beta")

        def train_step(self, data: Any) -> dict[str, Any]:
            with tf2.GradientTape() as tape:
                loss = tf2.reduce_mean((data - self.memory) ** 2)
            self.optimizer.apply_gradients([(tape.gradient(loss, self.memory.value), self.memory)])
            self.beta.assign(self.beta * 1e20)
            return {"loss": loss}

    model = Sharper()
    model.compile("sgd", run_eagerly=True)
    with watched(RunUntil("has_inf_or_nan")) as front:
        model.fit(np.ones((12, 4), np.float32), batch_size=4, verbose=0)
    found = json_of("origin", front.ends[0])
    assert found["cause"].endswith("; model.beta has grown to 1e+20.")
    assert found["suggestion"].startswith("That variable is not trained")
    told = {one["name"]: one["trainable"] for one in json_of("lv", front.ends[0])["variables"]}
    assert told["model.beta"] is False and told["model.memory"] is True
