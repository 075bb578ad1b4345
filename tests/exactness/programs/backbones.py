"""Networks of keras_hub with two layers and random weights, trained with `fit`; nothing is downloaded."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from exactness.courses import Build, Plant, Program
from exactness.programs.fitting import fitted, hiding
from exactness.programs.planting import batches, joined, labels

_BATCH, _WORDS, _LENGTH = 4, 40, 8
_SMALL = {"vocabulary_size": _WORDS, "num_layers": 2, "hidden_dim": 16, "intermediate_dim": 32}
_HEADS = {**_SMALL, "num_heads": 2}
_HEADS_OF_ELECTRA = {"vocab_size" if key == "vocabulary_size" else key: value for key, value in _HEADS.items()}
_QUERIES = {**_SMALL, "num_query_heads": 2, "num_key_value_heads": 1}
_BLOCKS = {"block_type": "basic_block", "image_shape": (16, 16, 3)}

TEXTS: Mapping[str, Mapping[str, Any]] = {
    "Albert": {**_HEADS, "embedding_dim": 8, "max_sequence_length": _LENGTH},
    "Bart": {**_HEADS, "max_sequence_length": _LENGTH},
    "Bert": {**_HEADS, "max_sequence_length": _LENGTH},
    "DebertaV3": {**_HEADS, "max_sequence_length": _LENGTH, "bucket_size": 4},
    "DistilBert": {**_HEADS, "max_sequence_length": _LENGTH},
    "Electra": {**_HEADS_OF_ELECTRA, "embedding_dim": 8, "max_sequence_length": _LENGTH},
    "FNet": {**_SMALL, "max_sequence_length": _LENGTH},
    "GPT2": {**_HEADS, "max_sequence_length": _LENGTH},
    "Gemma": {**_QUERIES, "head_dim": 8},
    "GPTNeoX": {**_HEADS, "max_sequence_length": _LENGTH},
    "Llama": _QUERIES,
    "Mistral": {**_QUERIES, "sliding_window": 4},
    "OPT": {**_HEADS, "max_sequence_length": _LENGTH},
    "Phi3": _QUERIES,
    "Qwen": _QUERIES,
    "Roberta": {**_HEADS, "max_sequence_length": _LENGTH + 2},
    "T5": _HEADS,
    "Whisper": {
        **_HEADS,
        "num_mels": 4,
        "max_encoder_sequence_length": _LENGTH,
        "max_decoder_sequence_length": _LENGTH,
    },
}
IMAGES: Mapping[str, Mapping[str, Any]] = {
    "DenseNet": {"stackwise_num_repeats": [2, 2], "image_shape": (32, 32, 3), "growth_rate": 4},
    "ResNet": {
        **_BLOCKS, "input_conv_filters": [64], "input_conv_kernel_sizes": [3], "stackwise_num_filters": [64, 64],
        "stackwise_num_blocks": [1, 1], "stackwise_num_strides": [1, 2],
    },
    "ViT": {
        "image_shape": (16, 16, 3), "patch_size": 8, "num_layers": 2, "num_heads": 2, "hidden_dim": 16, "mlp_dim": 32,
    },
}  # fmt: skip
BACKBONES = (*TEXTS, *IMAGES, "MMDiT", "VAE")


def backbone(name: str) -> Build:
    """Training of the backbone called so.

    Raises:
        ImportError: keras_hub is not installed, or has none of that name.

    """
    import keras_hub

    if name not in _INNER and not hasattr(keras_hub.models, f"{name}Backbone"):
        raise ImportError(f"keras_hub has no {name}Backbone")

    def build(plant: Plant) -> Program:
        import keras

        inner = _INNER[name]() if name in _INNER else _made(keras_hub, name)
        beside = keras.Input((6,), name="beside")
        given = inner(inner.input)
        pooled = [_pooled(keras, part) for part in keras.tree.flatten(given)]
        head = keras.layers.Dense(2)(keras.layers.Concatenate()([*pooled, hiding(keras)(beside)]))
        inputs = dict(inner.input) if isinstance(inner.input, dict) else {part.name: part for part in inner.inputs}
        model = keras.Model({**inputs, "beside": beside}, head)
        model.compile(keras.optimizers.Adam(1e-3), "mse")

        def data(steps: int) -> tuple[Any, Any]:
            x = {key: _numbers(key, part, steps * _BATCH) for key, part in inputs.items()}
            x["beside"] = joined(batches(plant, steps, _BATCH, 6))
            return x, joined(labels(steps, _BATCH, 2))

        return fitted(keras, model, data, _BATCH)

    return build


def _made(keras_hub: Any, name: str) -> Any:
    options = TEXTS.get(name) or IMAGES[name]
    return getattr(keras_hub.models, f"{name}Backbone")(**options)


def _autoencoder() -> Any:
    """That of Stable Diffusion 3: convolutions down and up again, with attention between them."""
    from keras_hub.src.models.vae.vae_backbone import VAEBackbone

    return VAEBackbone(
        encoder_num_filters=[32, 32], encoder_num_blocks=[1, 1], decoder_num_filters=[32, 32],
        decoder_num_blocks=[1, 1], sampler_method="mode",
    )  # fmt: skip


def _diffusion() -> Any:
    """The transformer inside Stable Diffusion 3."""
    import keras
    from keras_hub.src.models.stable_diffusion_3.mmdit import MMDiT

    return MMDiT(
        patch_size=2, hidden_dim=16, num_layers=2, num_heads=2, position_size=8, qk_norm="rms_norm",
        latent_shape=(8, 8, 4), context_shape=(4, 16), pooled_projection_shape=(16,), dtype=keras.config.floatx(),
    )  # fmt: skip


_INNER = {"MMDiT": _diffusion, "VAE": _autoencoder}


def _pooled(keras: Any, part: Any) -> Any:
    axes = tuple(range(1, len(part.shape) - 1))
    return keras.ops.mean(part, axes) if axes else part


def _numbers(name: str, part: Any, rows: int) -> Any:
    """Numbers for an input of a backbone: tokens, masks, or an image and the like."""
    chance = np.random.RandomState(sum(map(ord, name)))
    shape = (rows, *(size or (16 if len(part.shape) == 4 else _LENGTH) for size in part.shape[1:]))
    if "mask" in name:
        return np.arange(_LENGTH) < chance.randint(4, _LENGTH + 1, (rows, 1))
    if "segment" in name:
        return chance.randint(0, 2, shape)
    if "token" in name:
        return chance.randint(1, _WORDS, shape)
    return chance.normal(size=shape).astype(np.float32)
