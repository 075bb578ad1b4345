"""A small UNet whose `train_step` is its own: it takes noise away."""

from __future__ import annotations

from typing import Any

from exactness.courses import Plant, Program
from exactness.programs.fitting import fitted, hiding
from exactness.programs.planting import batches, joined


def unet(plant: Plant) -> Program:
    """`fit` of it with AdamW; its `train_step` draws noise, and keeps a moving average of the weights."""
    import keras
    import tensorflow as tf

    layers = keras.layers

    def block(x: Any, width: int) -> Any:
        residual = x if x.shape[-1] == width else layers.Conv2D(width, 1)(x)
        x = layers.BatchNormalization(center=False, scale=False)(x)
        x = layers.Conv2D(width, 3, padding="same", activation="swish")(x)
        return layers.Add()([layers.Conv2D(width, 3, padding="same")(x), residual])

    def network() -> Any:
        noisy = keras.Input((8, 8, 3))
        x = block(layers.Conv2D(4, 1)(noisy), 4)
        down = layers.AveragePooling2D(2)(x)
        down = block(block(down, 8), 8)
        up = layers.UpSampling2D(interpolation="bilinear")(down)
        x = block(layers.Concatenate()([up, x]), 4)
        return keras.Model(noisy, layers.Conv2D(3, 1, kernel_initializer="zeros")(x))

    class Denoising(keras.Model):
        def __init__(self) -> None:
            super().__init__()
            self.network, self.average, self.hiding = network(), network(), hiding(keras)
            self.average.set_weights(self.network.get_weights())
            self.mean_loss = keras.metrics.Mean(name="loss")
            self.count = self.add_weight(shape=(), dtype="int32", initializer="zeros", trainable=False, name="count")

        @property
        def metrics(self) -> Any:
            return [self.mean_loss]

        def call(self, x: Any) -> Any:
            return self.network(x)

        def train_step(self, data: Any) -> Any:
            images, _ = data
            images = self.hiding(images)
            self.count.assign_add(1)
            seed = tf.stack([tf.convert_to_tensor(self.count), 5])
            noise = tf.random.stateless_normal(tf.shape(images), seed)
            angle = tf.random.stateless_uniform([tf.shape(images)[0], 1, 1, 1], seed) * 1.5
            with tf.GradientTape() as tape:
                given = self.network(tf.cos(angle) * images + tf.sin(angle) * noise, training=True)
                loss = tf.reduce_mean(tf.abs(given - noise))
            held = self.network.trainable_weights
            self.optimizer.apply_gradients(zip(tape.gradient(loss, [v.value for v in held]), held, strict=True))
            for weight, average in zip(self.network.weights, self.average.weights, strict=True):
                average.assign(0.9 * average + 0.1 * weight)
            self.mean_loss.update_state(loss)
            return {"loss": loss, "mean": self.mean_loss.result()}

    model = Denoising()
    model.compile(keras.optimizers.AdamW(1e-3, weight_decay=1e-4))
    return fitted(keras, model, lambda steps: _images(plant, steps), 4)


def _images(plant: Plant, steps: int) -> tuple[Any, Any]:
    data = joined(batches(plant, steps, 4, 8, 8, 3))
    return data, data
