"""A page by range of lines: a screen at a time, however long the document is."""

from __future__ import annotations

import numpy as np
from support.made_run import made_run, op

from tfdbg_cli.commands.service.pages import Page, Pages
from tfdbg_cli.commands.service.prompt_service import PromptService
from tfdbg_cli.commands.standard import standard_registry
from tfdbg_cli.document.array import ArrayBlock
from tfdbg_cli.document.document import Document, Text
from tfdbg_cli.document.rows import Rows
from tfdbg_cli.document.table import Column, Table
from tfdbg_cli.document.text import Span, line
from tfdbg_cli.model.runs import RunEnd


def _long(count: int, made: list[int]) -> Document:
    def row(i: int) -> list[Span]:
        made.append(i)
        return [Span(str(i)), Span(f"layer/op_{i}", link=f"pt layer/op_{i}")]

    head = Text((line("many"), line("")))
    return Document("many", (head, Table((Column("row", right=True), Column("tensor")), count, row)))


def test_a_screen_of_a_million_rows_makes_a_screen_of_rows() -> None:
    made: list[int] = []
    page = Page("lt", _long(1_000_000, made))
    assert page.length(80) == 1_000_003
    sampled = len(made)
    assert sampled <= 201, "the sample that chooses the widths"
    lines = page.lines(80, 500_003, 40)
    assert [item.text.split()[0] for item in (lines[0], lines[-1])] == ["500000", "500039"]
    assert made[sampled:] == list(range(500_000, 500_040))
    assert lines[0].spans[-1].link == "pt layer/op_500000"
    assert len(page.lines(80, 1_000_000, 40)) == 3
    assert made[sampled + 40 :] == [999_997, 999_998, 999_999]
    assert len(made) == sampled + 43, "laid out once for a width"


def test_lines_before_the_first_and_behind_the_last_are_none() -> None:
    page = Page("t", Document("t", (Rows(5, lambda i: line(f"row {i}")),)))
    assert [item.text for item in page.lines(80, -2, 2)] == ["row 0", "row 1"]
    assert [item.text for item in page.lines(80, 3)] == ["row 3", "row 4"]
    assert list(page.lines(80, 5, 10)) == list(page.lines(80, 2, 0)) == list(page.lines(80, 2, -1)) == []
    assert page.lines(None)[4].text == "row 4"


def test_another_width_is_another_layout() -> None:
    page = Page("t", _long(10, []))
    wide, narrow = page.lines(80, 3, 1)[0].text, page.lines(12, 3, 1)[0].text
    assert wide.endswith("layer/op_0")
    assert len(narrow) <= 12
    assert page.lines(80, 3, 1)[0].text == wide


def test_an_unfolded_array_is_laid_out_anew() -> None:
    run = made_run(op("x", "Placeholder", value=np.arange(64_000, dtype=np.float32).reshape(64, 1000)))
    service = PromptService(RunEnd(run), standard_registry())
    document = service.execute("pt x")
    assert isinstance(document, Document)
    page = service.show("pt x", document)
    before = page.length(80)
    assert not page.shows((30, 500))
    assert page.shows((0, 1))
    assert page.unfold()
    assert page.shows((30, 500))
    assert page.length(80) > 100 * before
    assert not page.unfold(), "nothing is left out any more"
    assert any(isinstance(block, ArrayBlock) for block in page.document.blocks)


def test_pages_of_equal_documents_are_different_pages() -> None:
    document = Document("t", ())
    assert Page("t", document) != Page("t", document)


def test_what_stands_in_for_the_first_answer_goes_with_it() -> None:
    pages = Pages(10)
    pages.open(Page("", Document("nothing", ())))
    for command in ("lt", "origin"):
        pages.open(Page(command, Document(command, ())))
    assert [page.command for page in pages.all] == ["lt", "origin"]
