"""Sizes, times and counts as people read them."""

from __future__ import annotations

import re

import pytest
from support.package_source import PACKAGE

from tfdbg_cli.model.units import bytes_text, count_text, ms_text, shape_text


@pytest.mark.parametrize(
    ("nbytes", "text"),
    [(0, "0 B"), (96, "96 B"), (1023, "1023 B"), (1024, "1 kB"), (1536, "1.5 kB"), (1023 * 1024, "1023 kB"),
     (1 << 20, "1 MB"), (5 << 30, "5 GB"), (1 << 62, "4096.0 PB"), (None, "?")],
)  # fmt: skip
def test_sizes(nbytes: int | None, text: str) -> None:
    assert bytes_text(nbytes) == text


def test_other_units() -> None:
    assert (count_text(1, "tensor"), count_text(2000, "tensor"), count_text(2, "fetch", "fetches")) == (
        "1 tensor",
        "2,000 tensors",
        "2 fetches",
    )
    assert (ms_text(1500), ms_text(None), shape_text((2, 3)), shape_text(()), shape_text(None)) == (
        "1.500",
        "?",
        "[2,3]",
        "[]",
        "?",
    )


def test_counts_are_put_into_words_here_alone() -> None:
    """Some had commas and some had none."""
    by_hand = re.compile(r"'s' \* \(.*!= 1\)")
    texts = {path.relative_to(PACKAGE): path.read_text(encoding="utf-8") for path in PACKAGE.rglob("*.py")}
    assert len(texts) > 100
    assert not [str(path) for path, text in texts.items() if by_hand.search(text)]
