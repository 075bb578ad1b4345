from support.plain_text import plain

from tfdbg_cli.document.table import Column, Table
from tfdbg_cli.document.text import Span, Style

COLUMNS = (Column("t (ms)", right=True), Column("Op", drop=1), Column("Size", right=True, drop=2), Column("Name"))
ROWS = [("0.000", "MatMul", "1.2k", "dense/MatMul:0"), ("12.500", "Log", "4", "loss/Log:0")]


def table(rows=ROWS):
    return Table(COLUMNS, len(rows), lambda i: [Span(text) for text in rows[i]])


def test_columns_line_up():
    assert plain(table().lines(None)).split("\n") == [
        "t (ms)  Op      Size  Name",
        " 0.000  MatMul  1.2k  dense/MatMul:0",
        "12.500  Log        4  loss/Log:0",
    ]


def test_a_narrow_screen_drops_columns_by_their_rank_and_never_wraps():
    lines = table().lines(34)
    assert plain(lines).split("\n")[0] == "t (ms)  Op      Name"
    assert all(len(item.text) <= 34 for item in lines)
    assert all(len(item.text) <= 12 for item in table().lines(12))


def test_what_does_not_fit_is_clipped_with_a_mark():
    assert table().lines(18)[1].text.endswith("…")


def test_links_and_styles_stay_on_their_cells():
    linked = Table((Column("Name", link="lt -s name"),), 1, lambda i: [Span("x", Style.NAME, "pt x")])
    head, row = linked.lines(40)
    assert head.spans[0].link == "lt -s name"
    assert (row.spans[0].style, row.spans[0].link) == (Style.NAME, "pt x")


def test_rows_are_made_only_when_looked_at():
    made = []

    def row(i):
        made.append(i)
        return [Span(str(i)), Span(f"node_{i}")]

    lines = Table((Column("i"), Column("name")), 1_000_000, row).lines(80)
    assert len(lines) == 1_000_001
    assert lines[500_000].text.endswith("node_499999")
    assert len(made) < 1_000


def test_cells_of_a_column_that_is_left_out_whatever_they_hold_are_not_made():
    columns = (Column("first", drop=2), Column("dear", drop=3), Column("second", drop=1), Column("Name"))
    for width, dear in ((60, True), (26, False)):
        made = set()

        class Cells(list):
            def __getitem__(self, at, made=made):
                made.add(at)
                return super().__getitem__(at)

        table = Table(columns, 1000, lambda i, cells=Cells: cells(map(Span, ("word", f"{i:08}", "letter", "a/name"))))
        head = table.lines(width)[0].text
        assert ("dear" in head) is (1 in made) is dear
        assert {0, 2, 3} <= made and "first" in head


def test_wide_characters_count_as_two_columns():
    wide = Table((Column("name"), Column("x")), 2, lambda i: [Span(("中文", "ab")[i]), Span("|")])
    assert [item.text for item in wide.lines(None)][1:] == ["中文  |", "ab    |"]


def test_an_empty_table_is_its_head():
    assert len(table([]).lines(80)) == 1


def test_a_column_that_may_shrink_gives_way_before_another_is_dropped():
    columns = (Column("Op", drop=1, least=6), Column("Size", right=True, drop=2), Column("Name"))
    row = [Span("SparseSoftmaxCrossEntropy"), Span("4"), Span("loss/SparseSoftmaxCrossEntropy:0")]
    head, body = Table(columns, 1, lambda i: row).lines(40)
    assert head.text.split() == ["Op", "Size", "Name"]
    assert body.text.startswith("Spars") and "…     4  loss/" in body.text
    assert len(body.text) <= 40


def test_the_rows_of_a_very_long_table_are_made_once_although_all_are_printed():
    made = []

    def row(i):
        made.append(i)
        return [Span(str(i)), Span("op"), Span("1"), Span("name")]

    lines = Table(COLUMNS, 60_000, row).lines(None)
    for i in range(0, len(lines), 1000):
        assert lines[i].text
    assert len(made) < 1000


def test_cells_of_a_column_without_room_are_not_made():
    class Cells(tuple):
        def __getitem__(self, at):
            assert at != 2, "the size has no room, whatever it is"
            return super().__getitem__(at)

    rows = [Cells(Span(text) for text in row) for row in ROWS]
    narrow = Table(COLUMNS, len(rows), rows.__getitem__)
    assert plain(narrow.lines(18)).split("\n")[0].split() == ["t", "(ms)", "Name"]
