"""The words for what a group of tensors holds that is not finite: NaN and infinities apart, where that is known."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from support.made_run import INF, NAN, made_run, op
from support.prompt import Prompt

from tfdbg_cli.commands.views.lists.node_values import NodeValues
from tfdbg_cli.model.statistics import summarize


@pytest.mark.parametrize(
    ("value", "words"),
    [([1.0, NAN], "1 NaN"), ([INF, -INF], "2 ±inf"), ([NAN, INF, NAN], "2 NaN  1 ±inf"), ([1.0, 2.0], "")],
)
def test_only_what_is_there_is_named(value, words) -> None:
    assert _said(value) == f"  float32[{len(value)}]{'  ' if words else ''}{words}"


def test_what_was_not_told_apart_is_named_by_both() -> None:
    assert _said([NAN, INF, 1.0], unknown=frozenset({"nan", "neg_inf", "pos_inf"})).endswith("NaN or ±inf")


def _said(value, unknown: frozenset[str] = frozenset()) -> str:
    context = Prompt(made_run(op("x", "Const", value=value))).context
    context.later = True
    if unknown:
        summary = replace(summarize(np.float32(value)), unknown=unknown)
        context.memory.summaries[context.current, 0] = summary
    values = NodeValues(context, ["x"])
    for _ in values.later.count(0):
        pass
    text = "".join(getattr(span, "text", span) for span in values.spans(0))
    return text.partition("  |x| max")[0]
