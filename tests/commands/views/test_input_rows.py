"""The inputs of an op beside each other, or on a narrow screen name above content."""

from __future__ import annotations

import numpy as np
import pytest
from support.made_run import made_run, op
from support.prompt import links_of, text_of

from tfdbg_cli.commands.views.input_rows import InputRows
from tfdbg_cli.document.text import Span, Style

_NAME = "one_step_on_data/digits_1/centre_1/some/deep/scope/Sum_1"
_RUN = made_run(
    op(_NAME, "Placeholder", value=np.linspace(-1e-5, 13.81, 200)),
    op("log", "Log", _NAME, value=np.full(200, np.nan)),
)
_CONTENT = "float64[200] n=200 x∈[-1e-05, 13.81] μ=6.905 σ=4.007"


def test_where_there_is_room_an_input_takes_one_row() -> None:
    text = text_of("origin", _RUN, width=140)
    assert f"From      {_NAME}:0  Placeholder  {_CONTENT}" in text


@pytest.mark.parametrize("width", [80, 70])
def test_on_a_narrow_screen_nothing_of_the_content_is_lost(width: int) -> None:
    rows = text_of("origin", _RUN, width=width).split("\n")
    at = next(i for i, row in enumerate(rows) if row.startswith("From"))
    assert "deep/scope/Sum_1:0  Placeholder" in rows[at] and len(rows[at]) <= width
    assert rows[at + 1] == f"{' ' * 12}{_CONTENT}"
    assert any(link == f"pt {_NAME}:0" for link in links_of("origin", _RUN, width=width).values())


def test_at_forty_columns_the_content_is_wrapped() -> None:
    rows = text_of("origin", _RUN, width=40).split("\n")
    at = next(i for i, row in enumerate(rows) if row.startswith("From"))
    assert " ".join(row.strip() for row in rows[at + 1 : at + 4]) == _CONTENT


@pytest.mark.parametrize("width", [None, 30])
def test_what_it_says_of_nan_and_infinities_has_their_styles(width: int | None) -> None:
    """A blind test: at a stop amid eager code what an op gave was red, and what it was given was not."""
    content = Span("float32[50] NaN×1,048 -inf×2 [nan, 3, inf] information")
    rows = InputRows("Given", 10, ((Span("nan", Style.NAME), Span("Log", Style.OP), content),)).lines(width)
    styled = [(span.style, span.text) for row in rows for span in row.spans]
    assert [text for style, text in styled if style is Style.NAN] == ["NaN×1,048", "nan"]
    assert [text for style, text in styled if style is Style.INF] == ["-inf×2", "inf"]
    assert (Style.NAME, "nan") in styled, "a name stays one"
