from hypothesis import given
from hypothesis import strategies as st
from support.plain_text import plain

from tfdbg_cli.document.cells import clip, display_width, pad, wrapped
from tfdbg_cli.document.definitions import Definitions
from tfdbg_cli.document.text import Span
from tfdbg_cli.document.wrapping import Labelled

_MESSAGE = "これは とても 長い エラー メッセージ です。 入力 が 大きすぎる ので 学習 を 続ける こと が できません。"


def test_widths():
    assert display_width("abc") == 3
    assert display_width("中") == 2
    assert display_width("e\u0301") == 1
    assert display_width("█⣿…") == 3


@given(st.text(st.characters(codec="utf-8", exclude_categories=("Cc", "Cs")), max_size=40), st.integers(1, 30))
def test_a_clipped_text_always_fits(text, width):
    assert display_width(clip(text, width)) <= width


@given(st.text("ab中", max_size=10), st.integers(0, 30))
def test_padding_fills_exactly(text, width):
    if display_width(text) <= width:
        assert display_width(text + pad(text, width)) == width


def test_wide_characters_take_two_columns() -> None:
    assert wrapped("一二 三四 五六", 9) == ["一二 三四", "五六"]
    assert wrapped("一二三四五六 ab", 5) == ["一二", "三四", "五六", "ab"]
    assert wrapped("ab 一二三四", 6) == ["ab 一", "二三四"]
    assert wrapped("e\u0301e\u0301 e\u0301e\u0301", 5) == ["e\u0301e\u0301 e\u0301e\u0301"]


def test_labelled_messages_and_definitions_fit() -> None:
    for block in (Labelled("Message", _MESSAGE), Definitions(((Span("Term"), Span(_MESSAGE)),))):
        for width in (30, 40, 80):
            rows = plain(block.lines(width)).split("\n")
            assert all(display_width(row) <= width for row in rows)
            assert "".join(_MESSAGE.split()) in "".join("".join(rows).split())


@given(st.text("a中é\u0301 -", max_size=60), st.integers(2, 30))
def test_nothing_but_blanks_is_lost(text: str, width: int) -> None:
    rows = wrapped(text, width)
    assert all(display_width(row) <= width for row in rows)
    assert "".join("".join(rows).split()) == "".join(text.split())
