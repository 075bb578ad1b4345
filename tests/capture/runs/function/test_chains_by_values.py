"""The chain to an origin goes by what made its element so, not by what lies nearest."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from support.prompt import json_of

from tfdbg_cli.model.decision import RunUntil

pytestmark = pytest.mark.tf


def _found(watched: Callable[..., Any], function: Callable[..., Any], *given: Any) -> tuple[list[str], str]:
    with watched(RunUntil("has_inf_or_nan")) as front:
        function(*given)
    found = json_of("origin", front.ends[0])
    return [link["tensor"] for link in found["chain"]], found["cause"]


def test_a_difference_with_a_huge_prediction_leads_to_the_weights_that_grew(tf2, watched) -> None:
    w = tf2.Variable(np.full((3, 1), 1e20, "f"), name="w")

    @tf2.function
    def loss(x: Any, y: Any) -> Any:
        return tf2.reduce_mean(tf2.square(y - tf2.matmul(x, w)))

    chain, _ = _found(watched, loss, tf2.ones([8, 3]), tf2.ones([8, 1]))
    assert chain[0] == "w:0"


def test_a_row_of_masked_scores_leads_to_the_mask(tf2, watched) -> None:
    @tf2.function
    def loss(x: Any, keep: Any) -> Any:
        return tf2.reduce_mean(tf2.reduce_logsumexp(tf2.where(keep, x + 1.0, -np.inf), axis=1))

    keep = np.ones((8, 3), np.bool_)
    keep[5] = False
    chain, cause = _found(watched, loss, tf2.ones([8, 3]), tf2.constant(keep))
    assert chain[0] == "keep:0"
    assert cause.startswith("Log-sum-exp of a row that is nothing but -inf")


def test_a_mean_of_nothing_leads_to_the_mask_that_keeps_nothing(tf2, watched) -> None:
    @tf2.function
    def loss(x: Any, keep: Any) -> Any:
        return tf2.reduce_mean(tf2.boolean_mask(x * 2.0, keep))

    chain, cause = _found(watched, loss, tf2.ones([8, 3]), tf2.zeros([8], tf2.bool))
    assert chain[0] == "keep:0"
    assert cause.startswith("Mean of nothing")
