"""What a terminal shows of rows in bytes is what it shows of urwid's own writing of them."""

from __future__ import annotations

import io
from collections.abc import Sequence

import pyte
import urwid
from hypothesis import given
from hypothesis import strategies as st

from tfdbg_cli.tui.reading.row_canvas import Row, RowCanvas
from tfdbg_cli.tui.terminal.encoded_rows import Colours, EncodedRows

_COLS, _ROWS = 24, 4
_LOOKS = [
    ("plain", "", ""),
    ("red", "dark red", ""),
    ("red on blue", "dark red", "dark blue"),
    ("bright", "light green", "light gray"),
    ("bold", "white,bold", ""),
    ("under", "yellow,underline", ""),
    ("struck", "default,strikethrough", "dark cyan"),
    ("standout", "default,standout", ""),
    ("many", "#fea", "#d0d"),
    ("true", "#fe1a23", "#102030"),
    ("italic", "#fea,italics", "#102030"),
]


class _Screen(urwid.display.raw.Screen):
    """One that draws into a text."""

    def __init__(self, colors: int) -> None:
        self.written = io.StringIO()
        super().__init__(input=io.StringIO(), output=self.written)
        self.set_terminal_properties(colors=colors)
        for name, foreground, background in _LOOKS:
            few = ("brown", "dark green") if "#" in foreground else (foreground, background)
            self.register_palette_entry(name, *few, "", foreground, background)
        self._started = True

    def codes(self, look: object) -> str:
        return self._attr_to_escape(look)


def _shown(frames: Sequence[Sequence[Row]], colors: int, *, encoded: bool) -> tuple[pyte.Screen, str]:
    screen = _Screen(colors)
    rows = EncodedRows(screen.codes)
    for frame in frames:
        canvas = RowCanvas(frame, _COLS, (3, 1))
        screen.draw_screen((_COLS, _ROWS), rows.canvas(canvas) if encoded else canvas)
    shown = pyte.Screen(_COLS, _ROWS)
    pyte.Stream(shown).feed(screen.written.getvalue())
    return shown, screen.written.getvalue()


def _row(pieces: Sequence[tuple[str, str]]) -> Row:
    """Pieces, cut or filled up to the width of the screen; two characters of two columns would not be cut in half."""
    runs, left = [], _COLS
    for text, look in pieces:
        kept = text[:left]
        left -= len(kept)
        if kept:
            runs.append((look, None, kept.encode()))
    return [*runs, (None, None, b" " * left)] if left else runs


_looks = st.sampled_from([None, *(name for name, _, _ in _LOOKS)])
_pieces = st.tuples(st.text("ab é█ \x1b\x07\x9b", min_size=1, max_size=9), _looks)
_frames = st.lists(
    st.lists(st.lists(_pieces, max_size=7).map(_row), min_size=_ROWS, max_size=_ROWS), min_size=1, max_size=3
)


def _cell(char: pyte.screens.Char) -> tuple[object, ...]:
    """What is seen of a character: of a blank without lines nothing but its ground."""
    lines = char.underscore, char.strikethrough, char.reverse
    if char.data == " " and not any(lines):
        return (" ", char.bg)
    return (char.data, char.fg, char.bg, char.bold, char.italics, *lines)


@given(_frames, st.sampled_from([16, 256, 1 << 24]))
def test_the_terminal_shows_the_same(frames: Sequence[Sequence[Row]], colors: int) -> None:
    plain, _ = _shown(frames, colors, encoded=False)
    found, _ = _shown(frames, colors, encoded=True)
    for row in range(_ROWS):
        for col in range(_COLS):
            assert _cell(found.buffer[row][col]) == _cell(plain.buffer[row][col]), (row, col)
    assert (found.cursor.x, found.cursor.y) == (plain.cursor.x, plain.cursor.y)


def test_a_change_of_one_colour_is_written_as_one() -> None:
    row = _row([("aa", "red"), (" ", "plain"), ("bb", "red"), ("cc", "red on blue"), ("x" * _COLS, "red")])
    _, plain = _shown([[row] * _ROWS], 16, encoded=False)
    _, found = _shown([[row] * _ROWS], 16, encoded=True)
    assert "aa bb\x1b[44mcc\x1b[49mxx" in found
    assert len(found) < len(plain)


def test_a_row_that_stays_is_not_written_again() -> None:
    first, other = _row([("first", "red")]), _row([("other", "bold")])
    _, once = _shown([[first] * _ROWS], 256, encoded=True)
    _, twice = _shown([[first] * _ROWS, [first, other, first, first]], 256, encoded=True)
    assert twice[len(once) :].count("first") == 0
    assert twice[len(once) :].count("other") == 1


def test_of_a_frame_in_which_nothing_changed_nothing_is_written() -> None:
    """A blind test: the cursor was hidden and shown each second, so that one that blinks was begun anew."""
    first, other = [_row([("first", "red")])] * _ROWS, [_row([("other", "bold")])] * _ROWS
    _, once = _shown([first], 256, encoded=True)
    assert _shown([first, list(first)], 256, encoded=True)[1] == once
    assert len(_shown([first, other, first], 256, encoded=True)[1]) > 2 * len(once)


def test_a_cursor_that_moves_is_shown_where_it_is() -> None:
    screen = _Screen(256)
    rows = EncodedRows(screen.codes)
    frame = [_row([("first", "red")])] * _ROWS
    for cursor in ((3, 1), (4, 1), None):
        screen.draw_screen((_COLS, _ROWS), rows.canvas(RowCanvas(frame, _COLS, cursor)))
    shown = pyte.Screen(_COLS, _ROWS)
    pyte.Stream(shown).feed(screen.written.getvalue())
    assert shown.cursor.hidden
    screen.draw_screen((_COLS, _ROWS), rows.canvas(RowCanvas(frame, _COLS, (5, 2))))
    pyte.Stream(shown).feed(screen.written.getvalue())
    assert (shown.cursor.x, shown.cursor.y, shown.cursor.hidden) == (5, 2, False)


def test_text_has_no_codes_of_its_own() -> None:
    _, found = _shown([[_row([("a\x1b[31mb\x9b31mc", "plain")])] * _ROWS], 256, encoded=True)
    assert "a?[31mb?31mc" in found


def test_looks_are_forgotten() -> None:
    codes = {"look": "\x1b[0;31;49m", None: "\x1b[0;39;49m"}
    rows = EncodedRows(codes.__getitem__)
    canvas = RowCanvas([[("look", None, b"a")]] * 2, 1)
    before = next(iter(rows.canvas(canvas).content()))
    codes["look"] = "\x1b[0;32;49m"
    assert next(iter(rows.canvas(canvas).content())) == before
    rows.forget()
    assert b"\x1b[0;32;49ma" in next(iter(rows.canvas(canvas).content()))[0][2]


def test_colours_of_a_code() -> None:
    assert Colours.of("\x1b[0;38;5;229;4;48;5;164m") == Colours("38;5;229", "48;5;164", ("4",))
    assert Colours.of("\x1b[0;1;34;49m") == Colours("34", "49", ("1",))
    assert Colours.of("\x1b[0;38;2;1;2;3;104m") == Colours("38;2;1;2;3", "104", ())
    assert Colours.of("\x1b[0;39;49m\x1b[1;3}") is None, "a terminal with sequences of its own"


def test_other_character_sets_are_left_to_urwid() -> None:
    rows = EncodedRows(lambda look: "\x1b[0;39;49m")
    canvas = RowCanvas([[(None, "0", b"qqq")]] * 2, 3)
    assert list(rows.canvas(canvas).content()) == [[(None, "0", b"qqq")]] * 2
    before = urwid.util.get_encoding()
    try:
        urwid.set_encoding("iso8859-1")
        assert rows.canvas(canvas) is canvas
    finally:
        urwid.set_encoding(before)
