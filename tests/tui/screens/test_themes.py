"""The main pages in every theme, text and looks, as a person saw them and agreed: tests/golden/screens/themes."""

from __future__ import annotations

import pytest
import urwid
from support import sample_run
from support.golden import check_golden
from support.looks import written
from support.screen import Driven

from tfdbg_cli.commands.standard import standard_registry
from tfdbg_cli.config.settings import Settings
from tfdbg_cli.document.cells import display_width
from tfdbg_cli.plain_text import PLAIN

THEMES = ("dark", "light", "contrast", "mono", "ascii")
SCREENS = {
    "tensors": ("lt", "jj"),
    "tensor": ("lt", "<enter>j"),
    "node": ("ni loss/Log", ""),
    "keys": ("lt", "?j"),
    "origin": ("origin", "j"),
    "source": ("ps train.py -b 7", ""),
    "array": ("pt loss/Log:0", "]n"),
    "heatmap": ("pt loss/Log:0", "]n2"),
    "curve": ("pt loss/Log:0", "]nx5"),
    "histogram": ("pt loss/Log:0", "]n4"),
    "picture": ("pt loss/Log:0", "]n3"),
    "strips": ("pt loss/Log:0", "]n6"),
    "tree": ("tree", "jjx"),
    "leave": ("lt", "q"),
    "prompt": ("lt", ":pt loss/<tab>"),
    "filter": ("lt", "floss nam>"),
    "find": ("lt", "<ctrl p>loss"),
    "panes": ("lt", "j" * 7),
}
LARGE = {"panes": (200, 60)}  # where there is room for them


def _drive(theme: str, name: str) -> Driven:
    opening, keys = SCREENS[name]
    return Driven(
        sample_run.run_hit(), keys, size=LARGE.get(name, (80, 24)), opening=opening, registry=standard_registry(),
        settings=Settings(theme=theme),
    )  # fmt: skip


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("name", SCREENS)
def test_screen(theme, name):
    check_golden(f"screens/themes/{name}-{theme}", written(_drive(theme, name), 256))


@pytest.mark.parametrize("name", SCREENS)
def test_the_plain_theme_shows_nothing_but_ascii(name):
    for row in _drive("ascii", name).screen.canvases[-1].text:
        assert row.isascii()
        assert b"\x0e" not in row  # the terminal's second set of characters


def test_the_encoding_is_given_back():
    _drive("ascii", "tensors")
    assert urwid.util.get_encoding() == "utf-8"


def test_a_theme_holds_at_once():
    keys = [*":config set theme ascii", "enter", "?"]
    screen = Driven(sample_run.run_hit(), keys, registry=standard_registry())
    assert all(row.isascii() for row in screen.screen.canvases[-1].text)


def test_every_plain_character_takes_the_place_of_one():
    for glyph, plain in PLAIN.items():
        assert (display_width(glyph), display_width(plain), plain.isascii()) == (1, 1, True), glyph
    urwid.set_ascii_fallbacks(PLAIN)  # refuses what is no such pair
    urwid.set_ascii_fallbacks({})
