import urwid.testing
from hypothesis import given
from hypothesis import strategies as st

from tfdbg_cli.document.text import Line, Span, Style, line
from tfdbg_cli.tui.reading.paint import attribute, canvas, columns, links_of, paint


def text_of(row, cols):
    return canvas([row], cols).decoded_text[0]


def test_control_characters_never_reach_the_terminal():
    painted = text_of(paint(line("dog\x1b[2J\x07\u202e\tx"), 40), 40)
    assert painted.rstrip() == "dog\\x1b[2J\\x07\\u202e\\tx"


def test_wide_characters_are_never_cut_in_half():
    wide = line("中文字")
    assert text_of(paint(wide, 5), 5) == "中文›"
    assert text_of(paint(wide, 4), 4) == "中 ›"
    assert text_of(paint(wide, 5, left=1), 5) == "‹文字"
    assert text_of(paint(wide, 4, left=2), 4) == "‹ 字"


def test_marks_say_that_a_line_goes_on():
    assert text_of(paint(line("abcdefgh"), 4, left=2), 4) == "‹de›"
    assert text_of(paint(line("abcdefgh"), 8), 8) == "abcdefgh"


@given(
    st.lists(st.tuples(st.text(max_size=8), st.sampled_from(list(Style)), st.booleans()), max_size=5),
    st.integers(1, 30),
    st.integers(0, 20),
)
def test_every_row_is_exactly_as_wide_as_asked(parts, cols, left):
    content = Line(tuple(Span(text, style, "pt x" if link else "") for text, style, link in parts))
    row = paint(content, cols, left=left, focus=0, matches=[(0, 2)])
    drawn = canvas([row], cols)
    assert drawn.cols() == cols
    assert columns(drawn.decoded_text[0]) == cols
    assert b"".join(text for _, _, text in row.runs) == row.text == drawn.text[0]


def test_links_know_their_columns():
    content = line(Span("中x "), Span("a\x1b:0", Style.NAME, "pt a"), " ", Span("size", Style.HEADING, "lt -s size"))
    first, second = links_of(content)
    assert (first.start, first.end, first.link, first.heading) == (4, 11, "pt a", False)
    assert (second.start, second.end, second.text, second.heading) == (12, 16, "size", True)


def test_matches_keep_the_rest_of_a_span_as_it_was():
    row = paint(line(Span("loss/Log:0", Style.NAME, "pt")), 12, matches=[(5, 8)])
    looks = [(look, len(text)) for look, _, text in row.runs]
    assert looks[0] == (attribute(Style.NAME, "link"), 5)
    assert looks[1] == (attribute(Style.MATCH, Style.NAME, "link"), 3)
    assert looks[2] == (attribute(Style.NAME, "link"), 2)


def test_a_search_sees_what_the_screen_shows():
    assert line("a\tb", Span("\x00")).text == "a\\tb\\x00"
    assert line("Käse 中").text == "Käse 中"


def test_sixty_rows_are_painted_within_a_frame():
    content = line(*(Span(f"cell{i}  ", Style.NAME, f"pt {i}") for i in range(12)))
    runs = urwid.testing._runs(canvas([paint(content, 200) for _ in range(60)], 200))
    assert len(runs) == 60
