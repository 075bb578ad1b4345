import pytest
import urwid.testing

from tfdbg_cli.config.settings import settable
from tfdbg_cli.document.text import Style
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.tui.terminal.theme import PARTS, THEMES, names, palette

ALL = (*THEMES, "mono")


@pytest.mark.parametrize("theme", THEMES)
def test_every_style_and_part_is_defined_in_every_theme(theme):
    assert set(THEMES[theme]) == {str(style) for style in Style if style} | set(PARTS)


@pytest.mark.parametrize("theme", ALL)
@pytest.mark.parametrize("colors", [1, 16, 88, 256, 2**24])
def test_every_name_resolves_in_every_depth_of_colour(theme, colors):
    rows = palette(theme)
    assert [row[0] for row in rows] == names()
    for name in names():
        urwid.testing.resolve_attr(urwid.LayeredAttr(name, "selected", "screen"), rows, colors=colors)


@pytest.mark.parametrize("name", ["nan", "inf", "error", "match", "link", "link focus", "title hit", "title error"])
def test_what_matters_is_told_without_colours_too(name):
    """NO_COLOR, and TensorFlow's tfdbg: nothing is said by colour alone."""
    spec = urwid.testing.resolve_attr(name, palette("dark"), colors=1)
    assert spec.bold or spec.underline or spec.standout


def test_the_theme_without_colours_has_none():
    for name in names():
        spec = urwid.testing.resolve_attr(urwid.LayeredAttr(name, "screen"), palette("mono"), colors=256)
        assert spec.foreground_number == spec.background_number == 0 or spec.standout
        assert not spec.foreground_high
        assert not spec.background_high


def test_a_name_in_a_selected_row_keeps_its_colour():
    rows = palette("dark")
    alone = urwid.testing.resolve_attr(urwid.LayeredAttr("nan", "screen"), rows)
    chosen = urwid.testing.resolve_attr(urwid.LayeredAttr("nan", "selected", "screen"), rows)
    assert alone.foreground == chosen.foreground
    assert alone.background != chosen.background


def test_settings_offer_exactly_the_themes_there_are():
    for theme in ALL:
        assert settable("theme", theme) == theme
    with pytest.raises(TfdbgError):
        settable("theme", "pink")
