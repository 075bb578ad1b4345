"""The loss of a small network with its gradients, traced once for all optimizers that are to train it.

What Keras does in Python to trace a network takes most of the time that such a program takes. The ops that it made
are put into each step as they are, under their names, so that a step is the graph that it would be traced to.
"""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from exactness.courses import NOTHING, seed_all
from exactness.programs.networks import BATCH, data_for, network


@dataclass(frozen=True)
class SharedGradients:
    """A network, and what its loss and the gradients of that are traced to. `beginning` are its first variables."""

    model: Any
    beginning: Sequence[Any]
    traced: Any

    def put_back(self) -> Any:
        """The network as it was at its beginning."""
        for variable, value in zip(self.model.variables, self.beginning, strict=True):
            variable.assign(value)
        return self.model

    def added(self, x: Any, y: Any) -> tuple[Any, Sequence[Any]]:
        """The loss and its gradients for a batch, in the graph that is being built."""
        import tensorflow as tf

        graph, own = tf.compat.v1.get_default_graph(), self.traced.graph
        given = [x, y, *map(graph.capture, self.traced.captured_inputs)]
        placeholders = [one.op.name for one in own.inputs]
        definition = own.as_graph_def()
        kept = [node for node in definition.node if node.name not in placeholders]
        del definition.node[:]
        definition.node.extend(kept)
        loss, *gradients = tf.graph_util.import_graph_def(
            definition,
            {f"{name}:0": tensor for name, tensor in zip(placeholders, given, strict=True)},
            [tensor.name for tensor in own.outputs],
            name="",
        )
        return loss, gradients


@cache
def shared_gradients(library: str, name: str) -> SharedGradients:
    """The network of that name of one of the two libraries, which every program that asks for it trains."""
    import tensorflow as tf

    seed_all()
    keras = importlib.import_module(library)
    model = network(keras, name)
    of_classes = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    x, y = map(tf.constant, data_for(name, NOTHING)(1))
    assert len(x) == BATCH

    def loss_and_gradients(x: Any, y: Any) -> Any:
        with tf.GradientTape() as tape:
            loss = of_classes(y, model(x, training=True))
        held = model.trainable_variables
        return loss, tape.gradient(loss, [v.value for v in held] if library == "keras" else held)

    model(x, training=False)  # builds it
    beginning = [variable.numpy() for variable in model.variables]
    traced = tf.function(loss_and_gradients, autograph=False).get_concrete_function(x, y)
    return SharedGradients(model, beginning, traced)
