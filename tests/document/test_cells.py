from hypothesis import given
from hypothesis import strategies as st

from tfdbg_cli.document.cells import clip, display_width, pad


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
