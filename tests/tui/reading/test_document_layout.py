from tfdbg_cli.document.document import Document, Text
from tfdbg_cli.document.table import Column, Table
from tfdbg_cli.document.text import Span, line
from tfdbg_cli.tui.reading.layout import DocumentLayout

PROSE = "a sentence that is too long for twenty columns of a narrow screen"


def table(count: int, link: str = "") -> Table:
    columns = (Column("name", link=link, subject=True), Column("size", right=True))
    return Table(columns, count, lambda row: (Span(f"t{row}", link=f"pt t{row}"), Span(str(row))))


def document() -> Document:
    return Document("t", (Text((line(PROSE), line("end"))), Text(()), table(3), table(2, link="lt -s size")))


def test_a_document_that_is_not_laid_out_has_no_lines_and_no_heads():
    layout = DocumentLayout(document(), 0)
    assert len(layout.lines) == 0
    assert [part.length for part in layout.parts] == [0, 0, 0, 0]
    assert layout.block_at(0) is None
    assert layout.heads(0) == []


def test_lines_belong_to_blocks_and_an_empty_block_has_none():
    layout = DocumentLayout(document(), 20)
    broken = layout.parts[0].length
    assert broken > 2
    assert layout.parts[0].unbroken == 2
    assert len(layout.lines) == broken + 4 + 3
    assert [layout.block_at(at) for at in range(broken + 7)] == [0] * broken + [2] * 4 + [3] * 3


def test_a_line_of_the_document_is_found_where_lines_before_it_were_broken():
    layout = DocumentLayout(document(), 20)
    broken = layout.parts[0].length
    assert layout.lines[layout.line_of(1)].text == "end"
    assert layout.line_of(2) == broken, "the head of the first table"
    assert layout.line_of(100) == len(layout.lines) - 1


def test_rows_are_numbered_in_their_table_without_its_head():
    layout = DocumentLayout(document(), 20)
    head = layout.parts[2].start
    assert [(at - head, row) for at, _, row in layout.rows(head, head + 4)] == [(1, 0), (2, 1), (3, 2)]
    assert [row for *_, row in layout.rows(head + 2, head + 6)] == [1, 2, 0]


def test_a_row_is_about_the_link_of_its_subject_and_a_head_about_nothing():
    layout = DocumentLayout(document(), 20)
    head = layout.parts[2].start
    assert layout.subject(head) is None
    assert layout.subject(head + 2) == "pt t1"
    assert layout.subject(0) is None


def test_the_heads_are_those_of_the_table_at_the_line_or_of_the_first():
    layout = DocumentLayout(document(), 20)
    assert layout.heads(0) == []
    assert layout.heads(layout.parts[3].start + 1) == ["lt -s size"]
