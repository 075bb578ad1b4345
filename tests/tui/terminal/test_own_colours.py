import pytest
import urwid.testing

from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.tui.terminal.own_colours import recoloured
from tfdbg_cli.tui.terminal.theme import THEMES, palette


def _look(name, own, colors):
    return urwid.testing.resolve_attr(name, recoloured(palette("dark"), own), colors=colors)


def test_a_style_looks_as_the_person_wants():
    spec = _look("nan", (("nan", "white, underline on dark blue"),), 256)
    assert (spec.foreground, spec.background) == ("white,underline", "dark blue")


def test_a_terminal_of_few_colours_keeps_the_themes_where_it_lacks_one():
    own = (("nan", "#f60 on dark blue"),)
    assert _look("nan", own, 256).foreground.startswith("#f60")
    spec = _look("nan", own, 16)
    assert spec.foreground == _look("nan", (), 16).foreground
    assert spec.background == "dark blue"


def test_what_tells_without_colour_is_kept():
    spec = _look("nan", (("nan", "white"),), 1)
    assert spec.standout


@pytest.mark.parametrize("theme", [*THEMES, "mono", "ascii"])
@pytest.mark.parametrize("colors", [1, 16, 88, 256, 2**24])
def test_every_theme_takes_own_colours(theme, colors):
    plain = palette(theme)
    rows = recoloured(plain, (("nan", "h203, bold on #123456"), ("title hit", "black on yellow")))
    assert [row[0] for row in rows] == [row[0] for row in plain]
    looks = {row[0]: urwid.testing.resolve_attr(row[0], rows, colors=colors) for row in rows}
    nan, hit, of_theme = looks["nan"], looks["title hit"], urwid.testing.resolve_attr("nan", plain, colors=colors)
    assert nan.bold
    if colors >= 256:
        assert nan.background == ("#066" if colors == 256 else "#123456")
    elif colors > 1:
        assert (nan.foreground, nan.background) == (of_theme.foreground, of_theme.background)
    if colors > 1:
        assert (hit.foreground, hit.background) == ("black", "yellow")


@pytest.mark.parametrize(
    ("own", "words"),
    [
        (("nam", "white"), "nan"),
        (("nan", "read"), "dark red"),
        (("nan", "white on dark bleu"), "dark blue"),
        (("nan", "white, bald"), "bold"),
        (("nan", ""), "no colour"),
    ],
)
def test_what_is_wrong_is_said_with_what_would_be_right(own, words):
    with pytest.raises(TfdbgError) as caught:
        recoloured(palette("dark"), (own,))
    assert words in f"{caught.value} {caught.value.hint}"
