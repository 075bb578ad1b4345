"""One of every family of keras.applications: captured training steps equal undebugged ones, to the last bit.

All are slow: a MobileNet is trained in a session by tests/capture/runs/session/test_graphs.py always, and layers as
these networks have them by test_steps.py.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from zoo.twins import Program, again, seeded

pytestmark = [pytest.mark.tf, pytest.mark.timeout(600)]

NAMES = (
    "ConvNeXtTiny", "DenseNet121", "EfficientNetB0", "EfficientNetV2B0", "InceptionResNetV2", "InceptionV3",
    "MobileNet", "MobileNetV2", "MobileNetV3Small", "NASNetMobile", "ResNet50", "ResNet50V2", "VGG16", "Xception",
)  # fmt: skip
SIZES = {"InceptionResNetV2": 75, "InceptionV3": 75, "Xception": 71}


def training(name: str) -> Program:
    import tensorflow as tf

    size = SIZES.get(name, 32)
    model = getattr(tf.keras.applications, name)(weights=None, input_shape=(size, size, 3), classes=3)
    images = tf.constant(np.random.RandomState(0).rand(2, size, size, 3).astype(np.float32) * 255)
    optimizer = tf.keras.optimizers.SGD(1e-4, momentum=0.9)
    optimizer.build(model.trainable_variables)

    @tf.function
    def step() -> Any:
        with tf.GradientTape() as tape:
            found = model(images, training=True)
            loss = tf.reduce_mean(tf.keras.losses.sparse_categorical_crossentropy(tf.constant([0, 2]), found))
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))
        return loss, found

    return Program(step, lambda: [v.value for v in (*model.variables, *optimizer.variables)])


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_training(name: str) -> None:
    witness = again(seeded(lambda: training(name)), 2)
    assert witness.tensors > 2 * 200


def test_every_family_is_here() -> None:
    """A family is known by the module that defines it."""
    from keras import applications

    families: dict[str, list[str]] = {}
    for name in dir(applications):
        kind = getattr(applications, name)
        if name[0].isupper() and callable(kind):
            families.setdefault(kind.__module__, []).append(name)
    assert len(families) > 9
    missing = {module for module, names in families.items() if not {*NAMES} & {*names}}
    assert {module.rpartition(".")[2] for module in missing} <= {"vgg19", "resnet"}
