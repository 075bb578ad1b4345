"""Recipes of random programs: what a step of training consists of, drawn from a seed, and small enough to print."""

from __future__ import annotations

import random
from dataclasses import dataclass, replace

LAYERS = (
    "dense relu", "dense tanh", "dense gelu", "dense approximate gelu", "dense swish", "dense softplus", "dense elu",
    "dense selu", "dense relu6", "dense leaky relu", "bias apart", "gated", "layer norm", "rms norm", "batch norm",
    "softmax",
    "log softmax", "attention", "residual", "product of scalars", "product of tensors", "sum of terms", "differences",
    "divided by root", "divided twice", "powers", "common subexpression", "convolution relu", "depthwise", "pooled",
    "concatenated", "gathered", "branch", "while loop", "for loop", "scan", "called", "dropout", "cumulative sum",
    "einsum", "mean taken off", "rotated", "mixture", "top", "segment sum", "negated", "cast there and back",
)  # fmt: skip
LOSSES = ("mean square", "huber", "cross entropy", "log sum exp", "sum of five", "cosine", "hinge", "log likelihood")
OPTIMIZERS = (
    "sgd",
    "momentum",
    "nesterov",
    "adam",
    "adam folded",
    "rmsprop",
    "centered",
    "adagrad",
    "adadelta",
    "lion",
)
CLIPS = ("none", "none", "norm", "global norm", "value", "by mean", "scaled")
RATES = ("constant", "decayed", "cosine", "warmed up", "variable")
AROUND = (
    "weight decay",
    "moving average",
    "accumulated",
    "loss scaled",
    "skipped if not finite",
    "gradient noise",
    "penalty",
)
RETURNED = ("loss", "gradients", "norms", "predictions", "loss in a dict")
_MOST_LAYERS = 5


@dataclass(frozen=True)
class Recipe:
    """One program. `dtype` is that of all floats, `batch` None where the function does not know it.

    `drawn` says that the function takes its batches from an iterator, as `fit` does, `raw` that the batch as it came
    is read beside the first layer, too.
    """

    seed: int
    dtype: str
    batch: int | None
    width: int
    compiled: bool
    layers: tuple[str, ...]
    loss: str
    optimizer: str
    clip: str
    rate: str
    around: tuple[str, ...]
    returned: tuple[str, ...]
    drawn: bool
    raw: bool


def recipe(seed: int) -> Recipe:
    """The recipe of `seed`, always the same one."""
    chance, beside = random.Random(seed), random.Random(f"data of {seed}")
    made = Recipe(
        seed=seed,
        dtype=chance.choices(["float32", "float64", "float16", "bfloat16"], [8, 2, 1, 1])[0],
        batch=chance.choice([None, 4, 6]),
        width=chance.choice([4, 8, 16, 32]),
        compiled=chance.random() < 0.08,
        layers=tuple(chance.choice(LAYERS) for _ in range(chance.randint(1, _MOST_LAYERS))),
        loss=chance.choice(LOSSES),
        optimizer=chance.choice(OPTIMIZERS),
        clip=chance.choice(CLIPS),
        rate=chance.choice(RATES),
        around=tuple(one for one in AROUND if chance.random() < 0.2),
        returned=tuple(sorted({"loss", *chance.sample(RETURNED, chance.randint(0, 2))})),
        drawn=beside.random() < 0.4,
        raw=beside.random() < 0.4,
    )
    return replace(made, drawn=made.drawn and not made.compiled)  # XLA compiles no iterators
