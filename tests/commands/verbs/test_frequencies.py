"""`frequencies`: every column, what a query leaves of it, and the links to the tensors."""

from __future__ import annotations

import pytest
from support import sample_run
from support.golden import check_golden
from support.prompt import Prompt

COLUMNS = ["op", "dtype", "shape", "rank", "device", "layer", "role", "execution"]


@pytest.fixture
def prompt() -> Prompt:
    return Prompt(sample_run.run_end())


def test_a_screen(prompt: Prompt) -> None:
    check_golden("commands/frequencies", prompt.show("fq dtype -q 'not unique'"))


@pytest.mark.parametrize("column", COLUMNS)
def test_each_value_leads_to_as_many_tensors_as_it_counts(prompt: Prompt, column: str) -> None:
    for query in ("", " -q 'loss or unique'"):
        values = {row["value"]: row["tensors"] for row in prompt.data(f"fq {column}{query}")["values"]}
        links = [span.link for span in prompt.spans(f"fq {column}{query}") if span.link.startswith("lt")]
        links = [link for link in links if link != f"fq {column}"]
        assert sum(values.values()) == (5 if query else 20)
        assert len(links) == sum(1 for value in values if value)
        counts = sorted(len(prompt.data(link)["tensors"]) for link in links)
        if column != "layer":  # an outer layer holds those of its inner ones, too
            assert counts == sorted(count for value, count in values.items() if value)


def test_the_other_columns_are_one_link_away(prompt: Prompt) -> None:
    assert prompt.show("fq").startswith(
        "15 values of op in 20 tensors\nby op dtype shape rank device layer role exec"
    )
    links = {span.text: span.link for span in prompt.spans("fq rank -q 'not unique'")}
    assert links["op"] == "fq -q 'not unique'"
    assert links["layer"] == "fq layer -q 'not unique'"
    assert links["rank"] == ""
    assert prompt.data(links["layer"])["column"] == "layer"


def test_the_most_frequent_stands_on_top(prompt: Prompt) -> None:
    assert prompt.show("fq dtype").split("\n")[4].split()[-1] == "float32"
    assert prompt.show("fq dtype").startswith("7 values of dtype in 20 tensors")
    assert "0 values of op in 0 tensors" in prompt.show("fq op -q zzz")
    assert "invalid choice" in prompt.error("fq colour").message
