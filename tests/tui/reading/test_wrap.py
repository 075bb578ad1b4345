from hypothesis import example, given
from hypothesis import strategies as st

from tfdbg_cli.document.document import Document, Text
from tfdbg_cli.document.excerpt import excerpt
from tfdbg_cli.document.text import Line, Span, Style, line
from tfdbg_cli.tui.reading.paint import columns, links_of
from tfdbg_cli.tui.reading.viewport import Viewport
from tfdbg_cli.tui.reading.wrap import is_prose, wrap


def texts(rows):
    return [row.text for row in rows]


def test_prose_is_broken_at_blanks_under_its_label():
    rows = wrap(line(Span("Cause", Style.LABEL), "    the logarithm of zero is minus infinity"), 26)
    assert texts(rows) == ["Cause    the logarithm of", "         zero is minus", "         infinity"]
    assert texts(wrap(line("  - one two three"), 10)) == ["  - one", "  two", "  three"]


def test_a_word_without_blanks_is_broken_anywhere():
    assert texts(wrap(line("abcdefghij"), 4)) == ["abcd", "efgh", "ij"]


def test_a_link_that_is_broken_is_a_link_on_both_rows():
    rows = wrap(line("see ", Span("all the inputs", Style.KEY, "li x")), 10)
    assert texts(rows) == ["see all", "the inputs"]
    assert [[place.link for place in links_of(row)] for row in rows] == [["li x"], ["li x"]]


@example(["0", "\u10c6", "0\u0dcf"], 4)  # the mark makes the 0 before it two columns wide
@given(st.lists(st.text(max_size=20), max_size=4), st.integers(4, 40))
def test_rows_fit_and_lose_nothing_but_blanks(parts, cols):
    content = Line(tuple(Span(part) for part in parts))
    rows = wrap(content, cols)
    assert all(columns(row.text) <= cols for row in rows)
    whole = line(*parts).text
    assert "".join("".join(texts(rows)).split(" ")) == "".join(whole.split(" "))


def test_code_and_arrays_are_left_as_they_are():
    assert not is_prose(line(Span("def", Style.KEYWORD), " f(): pass"))
    assert not is_prose(Line((Span("1 2 3"),), (0, 0)))


def test_of_source_the_line_that_matters_is_shown_whole_and_no_other_is_broken():
    """A blind test: a line without a keyword was broken, the next one cut, and the fault stood behind the edge."""
    plain = "plain = tf.data.Dataset.from_tensor_slices((images, labels)).batch(32)"
    loop = "for one in plain: print(one.numerator / one.lengths)"
    for marked, other in ((plain, loop), (loop, plain)):
        view = Viewport(Document("t", (Text(excerpt((other, other, marked, other), 3)),)))
        view.resize(40, 20)
        rows = [view.line(i).text for i in range(len(view.lines))]
        assert rows[:2] == [f"  1  {other}", f"  2  {other}"] and rows[-1] == f"  4  {other}"
        whole = [row[5:] for row in rows[2:-1]]
        assert len(whole) > 1 and "".join(whole).replace(" ", "") == marked.replace(" ", "")


def test_the_focus_of_a_document_counts_its_own_lines():
    text = Text((line("word " * 30), line("word " * 30), line("here"), line("after")))
    view = Viewport(Document("t", (Text((line("head"),)), text), focus=3))
    view.resize(40, 20)
    assert view.line(view.selected).text == "here"
    view.resize(70, 20)
    assert view.line(view.selected).text == "here"
