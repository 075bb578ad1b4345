import pytest
from support.plain_text import plain

from tfdbg_cli.document.document import ChainedLines, Document, Text, text_document
from tfdbg_cli.document.text import Line, Span, Style, line, lines_of
from tfdbg_cli.plain_text import printable


def test_blocks_are_shown_one_after_another_without_copying():
    parts = [[line("a"), line("b")], [], [line("c")]]
    chained = ChainedLines(parts)
    assert [chained[i].text for i in range(len(chained))] == ["a", "b", "c"]
    assert chained[-1].text == "c"
    assert [item.text for item in chained[1:]] == ["b", "c"]
    with pytest.raises(IndexError):
        chained[3]
    assert len(ChainedLines([])) == 0


def test_a_document_of_several_blocks():
    document = Document("x", (Text((line("a"),)), Text((line("b"),))))
    assert plain(document.lines()) == "a\nb"
    assert dict(document.data()) == {}


def test_text_documents_hold_their_text_as_json():
    assert text_document("note", line("hello")).data() == {"text": ["hello"]}


def test_spans_join_and_ends_are_trimmed():
    assert line("a ", Span("b", Style.NAN, "pt b")).text == "a b"
    assert plain([line("a  "), Line()]) == "a\n"
    assert [item.text for item in lines_of("x\n\ny")] == ["x", "", "y"]


def test_names_from_files_never_reach_the_terminal_as_codes():
    assert printable("a\x1b[2Jb\n") == "a\\x1b[2Jb\\n"
    assert printable("Käse 中") == "Käse 中"
