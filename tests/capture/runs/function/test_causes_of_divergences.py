"""The exponential of the logarithm of a variance, of half of one, and of what is none."""

from __future__ import annotations

from typing import Any

import pytest
import tensorflow as tf

from tfdbg_cli.analysis.origin.search import OriginSearch
from tfdbg_cli.model.decision import RunUntil

pytestmark = pytest.mark.tf

DIVERGENCES = {
    "as in papers": lambda mean, v: -0.5 * tf.reduce_sum(1 + v - tf.square(mean) - tf.exp(v)),
    "the other way round": lambda mean, v: 0.5 * tf.reduce_sum(tf.exp(v) + mean**2 - 1.0 - v),
    "as a product": lambda mean, v: 0.5 * tf.reduce_sum(mean * mean + tf.exp(v) - v - 1.0),
    "without the one": lambda mean, v: tf.reduce_sum(v - tf.square(mean) - tf.exp(v)),
    "handed on": lambda mean, v: tf.reduce_sum(1 + v - tf.square(mean) - tf.exp(tf.identity(v))),
}
DEVIATIONS = {
    "by a product": lambda v: tf.exp(0.5 * v),
    "by a quotient": lambda v: tf.exp(v / 2.0),
}
OTHERS = {
    "a sum beside": lambda mean, v: tf.reduce_sum(tf.exp(v)) + tf.reduce_sum(v + mean),
    "a square beside": lambda mean, v: tf.reduce_sum(tf.exp(v) * tf.reduce_sum(v + tf.square(mean))),
    "less its tangent": lambda mean, v: tf.reduce_sum(tf.exp(v) - (1.0 + v)),
    "shares": lambda mean, v: tf.reduce_sum(tf.exp(v) / tf.reduce_sum(tf.exp(v))),
}


def cause(watched: Any, loss: Any) -> tuple[str, str]:
    """The cause and what helps, where the exponential is too large."""
    with watched(RunUntil("has_inf_or_nan")) as front:
        tf.function(loss)(tf.constant([1.0, 2.0]), tf.constant([1.0, 95.0]))
    origin = OriginSearch(front.ends[0].run).first()
    assert origin is not None and origin.cause is not None and origin.op_type == "Exp"
    return origin.cause.text, origin.cause.suggestion


@pytest.mark.parametrize("loss", DIVERGENCES.values(), ids=DIVERGENCES)
def test_a_log_variance_is_to_be_clipped(watched, loss) -> None:
    text, suggestion = cause(watched, loss)
    assert "the logarithm of a variance" in text
    assert "tf.clip_by_value" in suggestion and "softplus" in suggestion


@pytest.mark.parametrize("loss", OTHERS.values(), ids=OTHERS)
def test_what_is_no_divergence_has_the_advice_for_all(watched, loss) -> None:
    text, suggestion = cause(watched, loss)
    assert "variance" not in text
    assert "for the logarithm of a sum" in suggestion


@pytest.mark.parametrize("deviation", DEVIATIONS.values(), ids=DEVIATIONS)
def test_a_deviation_is_the_exponential_of_half_of_one(watched, deviation) -> None:
    """As a variational autoencoder draws its sample, before it computes the divergence."""

    def loss(mean: Any, half: Any) -> Any:
        v = half + half
        drawn = mean + deviation(v) * tf.constant([0.3, -0.2])
        divergence = -0.5 * tf.reduce_sum(1 + v - tf.square(mean) - tf.exp(v))
        return divergence + tf.reduce_sum(tf.square(drawn))

    text, suggestion = cause(watched, loss)
    assert "half the logarithm of a variance" in text and "so that the deviation exceeds" in text
    assert "softplus" in suggestion and "maximum" not in suggestion
