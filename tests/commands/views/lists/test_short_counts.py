"""Counts in a narrow column: rounded no further than the column asks for."""

from __future__ import annotations

import pytest

from tfdbg_cli.commands.views.lists.health_columns import short_count


@pytest.mark.parametrize(
    ("count", "text"),
    [
        (0, "0"), (9_999, "9,999"), (99_999, "99999"), (100_000, "100k"), (123_456, "123k"), (999_499, "999k"),
        (999_500, "1M"), (1_500_000, "1.5M"), (999_999_999, "1G"), (12_300_000_000, "12.3G"), (5 * 10**14, "500T"),
    ],
)  # fmt: skip
def test_a_count_in_five_columns(count: int, text: str) -> None:
    assert short_count(count) == text
    assert len(text) <= 5
