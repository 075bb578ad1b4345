"""Lines of source around the one that matters."""

from __future__ import annotations

from tfdbg_cli.document.excerpt import excerpt


def test_a_long_line_is_cut() -> None:
    rows = excerpt(["x = 1", f"data = {list(range(2000))}", "y = 2"], 2)
    assert [len(row.text) for row in rows][::2] == [len("  1  x = 1"), len("  3  y = 2")]
    assert len(rows[1].text) == len("▸ 2  ") + 200 + 1
    assert rows[1].text.startswith("▸ 2  data = [0, 1, 2") and rows[1].text.endswith("…")


def test_a_line_that_just_fits_is_whole() -> None:
    (row,) = excerpt(["#" * 200], 1)
    assert row.text == "▸ 1  " + "#" * 200
