import numpy as np
import pytest

from tfdbg_cli.document.document import Document, Text
from tfdbg_cli.document.table import Column, Table
from tfdbg_cli.document.text import Line, Span, Style, line
from tfdbg_cli.tui.reading.viewport import Viewport


def table(count, made=None):
    def row(i):
        if made is not None:
            made.append(i)
        return [Span(str(i)), Span(f"op_{i}", Style.NAME, f"pt op_{i}:0")]

    return Table((Column("row", right=True, width=8, link="lt -s row"), Column("tensor")), count, row)


def opened(document, cols=40, rows=10):
    view = Viewport(document)
    view.resize(cols, rows)
    return view


def array_block(shape):
    """Lines that name their first element, as many a line as the width holds."""

    class Block:
        def lines(self, width):
            per_line = max(1, (width or 10**6) // 10)
            rows = []
            for i in range(shape[0]):
                for j in range(0, shape[1], per_line):
                    cells = " ".join(f"{i},{k}" for k in range(j, min(shape[1], j + per_line)))
                    rows.append(Line((Span(cells),), (i, j)))
                rows.append(Line())
            return rows

    return Block()


def test_a_million_rows_are_never_made():
    made = []
    view = opened(Document("t", (table(1_000_000, made),)))
    assert len(view.lines) == 1_000_001
    sampled = len(made)
    view.go(500_000)
    for _ in range(20):
        view.page(1)
    [view.line(i) for i in view.visible()]
    view.go(10**9)
    [view.line(i) for i in view.visible()]
    assert view.selected == 1_000_000
    assert len(made) - sampled < 600


def test_the_head_of_a_table_stays_on_top_of_its_rows():
    view = opened(Document("t", (Text((line("title"), line(""))), table(100))))
    assert view.visible()[:3] == [0, 1, 2]
    assert not view.pinned
    view.go(60)
    assert view.pinned == (2,)
    assert view.visible()[0] == 2
    assert view.visible()[-1] == 60
    for _ in range(60):
        view.move(-1)
        assert view.selected in view.visible()
        assert view.visible().index(view.selected) > 0 or view.top <= 2


def test_a_page_is_a_page():
    """TensorFlow's tfdbg: PgDn scrolled one line."""
    view = opened(Document("t", (Text(tuple(line(str(i)) for i in range(100))),)), rows=10)
    view.page(1)
    assert view.top == 9
    assert view.visible() == list(range(9, 19))
    view.page(-1)
    assert view.top == 0
    view.page(0.5)
    assert view.top == 4


def test_the_selection_is_always_in_sight():
    rng = np.random.default_rng(0)
    view = opened(Document("t", (Text((line("a"),) * 5), table(300), Text((line("b"),) * 30))))
    for _ in range(500):
        match rng.integers(6):
            case 0:
                view.move(int(rng.integers(-20, 20)))
            case 1:
                view.page(float(rng.choice([-1, -0.5, 0.5, 1])))
            case 2:
                view.scroll(int(rng.integers(-30, 30)))
            case 3:
                view.next_link(int(rng.choice([-1, 1])))
            case 4:
                view.resize(int(rng.integers(20, 90)), int(rng.integers(1, 40)))
            case 5:
                view.go(int(rng.integers(-5, 400)), centre=True)
        assert 0 <= view.selected < len(view.lines)
        assert view.selected in view.visible()
        assert len(view.visible()) == min(view.rows, len(view.lines))


def test_tab_walks_links_in_reading_order_and_stops_at_the_end():
    content = Text(
        (line("no"), line(Span("a", link="A"), " ", Span("b", link="B")), line(""), line(Span("c", link="C")))
    )
    view = opened(Document("t", (content,)))
    assert view.chosen.link == "A"
    walked = [view.chosen.link]
    while view.next_link(1):
        walked.append(view.chosen.link)
    assert walked == ["A", "B", "C"]
    assert not view.next_link(1)
    while view.next_link(-1):
        walked.append(view.chosen.link)
    assert walked[3:] == ["B", "A"]


def test_down_keeps_to_the_column_of_the_chosen_link():
    rows = Text(tuple(line(Span("left", link=f"l{i}"), "    ", Span("right", link=f"r{i}")) for i in range(3)))
    view = opened(Document("t", (rows,)))
    view.next_link(1)
    view.move(1)
    assert view.chosen.link == "r1"


def test_in_a_table_what_the_row_is_about_is_chosen_until_a_person_chooses_another():
    def row(i):
        return [Span(str(i), link=f"count {i}"), Span("+", link=f"fold {i}"), Span("  " * i + "name", link=f"lt {i}")]

    columns = (Column("n"), Column("", width=1), Column("name", subject=True))
    view = opened(Document("t", (Text((line("head"),)), Table(columns, 6, row))))
    assert view.chosen.link == "lt 0"
    view.move(5)
    assert view.chosen.link == "lt 5"
    view.beside(-1)
    view.move(-1)
    assert view.chosen.link == "fold 4"
    view.beside(1)
    view.go(4)
    assert view.chosen.link == "lt 2"  # however far the names are indented


def test_resize_keeps_the_array_element_in_sight():
    view = opened(Document("t", (Text((line("head"),)), array_block((40, 30)))), cols=80, rows=12)
    view.go(view.find_element((25, 16)))
    assert view.line(view.selected).element == (25, 16)
    above = view.selected - view.top
    view.resize(41, 12)
    assert view.line(view.selected).element == (25, 16)
    assert view.selected - view.top == above
    view.resize(200, 30)
    assert view.line(view.selected).element == (25, 0)


@pytest.mark.parametrize(("index", "found"), [((0, 0), (0, 0)), ((7, 29), (7, 24)), ((39, 5), (39, 0))])
def test_elements_are_found_on_the_line_that_shows_them(index, found):
    view = opened(Document("t", (array_block((40, 30)),)), cols=80)
    assert view.line(view.find_element(index)).element == found


def test_no_element_without_an_array_or_with_other_dimensions():
    assert opened(Document("t", (table(5),))).find_element((0,)) is None
    assert opened(Document("t", (array_block((4, 4)),))).find_element((0, 0, 0)) is None


def test_sideways_stops_where_the_lines_in_sight_end():
    view = opened(Document("t", (Text((line(Span("x" * 100, Style.STRING)), line("y"))),)), cols=40)
    for _ in range(20):
        view.sideways(8)
    assert view.left == 60
    assert not view.sideways(8)
    view.sideways(-200)
    assert view.left == 0


def test_a_link_beyond_the_edge_is_scrolled_into_sight():
    view = opened(
        Document("t", (Text((line(Span("a", Style.KEYWORD, "A"), " " * 90, Span("far", link="F")),)),)), cols=40
    )
    view.next_link(1)
    assert view.chosen.link == "F"
    assert view.left <= 91 < view.left + 40


def test_a_document_opens_at_its_focus():
    view = opened(Document("t", (Text(tuple(line(str(i)) for i in range(100))),), focus=70))
    assert view.selected == 70
    assert view.top == 65


def test_an_empty_document_can_be_walked_in():
    view = opened(Document("t", ()))
    view.move(1)
    view.page(1)
    view.scroll(3)
    assert view.visible() == []
    assert view.selected == 0
    assert not view.next_link(1)
