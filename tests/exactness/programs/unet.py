"""A small UNet whose `train_step` is its own: it takes noise away."""

from __future__ import annotations

from typing import Any

import numpy as np

from exactness.courses import Plant, Program
from exactness.programs.fitting import fitted, hiding
from exactness.programs.planting import batches, joined


def unet(plant: Plant) -> Program:
    """`fit` of it with AdamW; its `train_step` draws noise and how much of it, and averages the weights."""
    import keras
    import tensorflow as tf

    layers = keras.layers

    def block(x: Any, width: int) -> Any:
        residual = x if x.shape[-1] == width else layers.Conv2D(width, 1)(x)
        x = layers.BatchNormalization(center=False, scale=False)(x)
        x = layers.Conv2D(width, 3, padding="same", activation="swish")(x)
        return layers.Add()([layers.Conv2D(width, 3, padding="same")(x), residual])

    def embedded(variance: Any) -> Any:
        speeds = 2.0 * np.pi * np.exp(np.linspace(0.0, np.log(100.0), 4)).astype(np.float32)
        return keras.ops.concatenate([keras.ops.sin(speeds * variance), keras.ops.cos(speeds * variance)], axis=3)

    def network() -> Any:
        noisy, variance = keras.Input((8, 8, 3)), keras.Input((1, 1, 1))
        e = layers.UpSampling2D(8, interpolation="nearest")(layers.Lambda(embedded)(variance))
        x = block(layers.Concatenate()([layers.Conv2D(4, 1)(noisy), e]), 4)
        down = layers.AveragePooling2D(2)(x)
        down = block(block(down, 8), 8)
        up = layers.UpSampling2D(interpolation="bilinear")(down)
        x = block(layers.Concatenate()([up, x]), 4)
        return keras.Model([noisy, variance], layers.Conv2D(3, 1, kernel_initializer="zeros")(x))

    class Denoising(keras.Model):
        def __init__(self) -> None:
            super().__init__()
            self.network, self.average, self.hiding = network(), network(), hiding(keras)
            self.average.set_weights(self.network.get_weights())
            self.mean_loss = keras.metrics.Mean(name="loss")
            self.normalizer = layers.Normalization(mean=0.1, variance=0.9)
            self.normalizer.build((None, 8, 8, 3))
            self.count = self.add_weight(shape=(), dtype="int32", initializer="zeros", trainable=False, name="count")

        @property
        def metrics(self) -> Any:
            return [self.mean_loss]

        def train_step(self, data: Any) -> Any:
            images, _ = data
            images = self.normalizer(self.hiding(images))
            self.count.assign_add(1)
            seed = tf.stack([tf.convert_to_tensor(self.count), 5])
            noise = tf.random.stateless_normal(tf.shape(images), seed)
            time = tf.random.stateless_uniform([tf.shape(images)[0], 1, 1, 1], seed)
            first, last = tf.acos(0.95), tf.acos(0.02)
            angle = first + time * (last - first)
            signal, noisy = tf.cos(angle), tf.sin(angle)
            with tf.GradientTape() as tape:
                mixed = signal * images + noisy * noise
                given = self.network([mixed, noisy**2], training=True)
                of_images = (mixed - noisy * given) / signal
                loss = self.compute_loss(y=noise, y_pred=given)
                of_image = tf.reduce_mean(tf.abs(of_images - images))
            held = self.network.trainable_weights
            self.optimizer.apply_gradients(zip(tape.gradient(loss, [v.value for v in held]), held, strict=True))
            for weight, average in zip(self.network.weights, self.average.weights, strict=True):
                average.assign(0.9 * average + 0.1 * weight)
            self.mean_loss.update_state(loss)
            return {"loss": loss, "image": of_image, "mean": self.mean_loss.result()}

    model = Denoising()
    model.compile(keras.optimizers.AdamW(1e-3, weight_decay=1e-4), "mae")
    return fitted(keras, model, lambda steps: _images(plant, steps), 4)


def _images(plant: Plant, steps: int) -> tuple[Any, Any]:
    data = joined(batches(plant, steps, 4, 8, 8, 3))
    return data, data
