"""Driving the whole screen without a terminal: keys in, the frames that were drawn out."""

from __future__ import annotations

import math
import re
from functools import cache
from io import StringIO
from unittest.mock import patch

import urwid
import urwid.testing

from support.screen_registry import small_registry
from tfdbg_cli.analysis.watch.filters import BUILT_IN_FILTERS
from tfdbg_cli.commands.typed_commands import History
from tfdbg_cli.config.settings import Settings
from tfdbg_cli.tui.app import App
from tfdbg_cli.tui.reading import match_walk
from tfdbg_cli.tui.terminal.theme import palette

urwid.set_encoding("utf-8")


def tokens(text):
    """`jj<page down>` as urwid's key names; a click is `<click COL ROW>`, a wheel `<wheel down>`."""
    keys = []
    for part in re.findall(r"<[^<>]+>|.", text, re.S):
        name = part[1:-1] if len(part) > 1 else part
        if name.startswith("click "):
            col, row = map(int, name.split()[1:])
            keys.append(("mouse press", 1, col, row))
        elif name.startswith("wheel "):
            keys.append(("mouse press", 4 if name.endswith("up") else 5, 3, 5))
        else:
            keys.append(name)
    return keys


@cache
def _resolved(theme, colors):
    """What each name of the palette looks like in a theme; who asks adds other looks."""
    rows = palette(theme)
    (looks,) = urwid.testing.resolve_runs([[(name, "") for name, *_ in rows]], rows, colors=colors)
    return {name: look for (name, *_), (look, _) in zip(rows, looks, strict=True)}


_kept_palettes = {}  # what screens made of a palette that was their first: it takes longer than most keys


class ClipboardScreen(urwid.testing.ScriptedScreen):
    """A scripted screen with a clipboard, programs that it would run, and sizes that `<resize COLSxROWS>` brings."""

    def __init__(self, size, keys):
        super().__init__(size=size, inputs=[[key] for key in keys])
        self.copied = []
        self.ran = []

    def register_palette(self, palette, *, replace=False):
        rows = tuple(map(tuple, palette))
        if len(self._palette) > 1 or replace:  # besides the default
            super().register_palette(rows, replace=replace)
        elif rows in _kept_palettes:
            self._palette.update(_kept_palettes[rows])
        else:
            super().register_palette(rows)
            _kept_palettes[rows] = dict(self._palette)

    def copy(self, text):
        self.copied.append(text)
        return len(text) < 1000

    def run(self, command):
        assert not self.started, "the screen is stopped meanwhile"
        self.ran.append(command)
        return 0

    def talk(self, talk):
        assert not self.started, "the screen is stopped meanwhile"
        shown = StringIO()
        talk(StringIO("p seen\nq\n"), shown)
        self.ran.append(shown.getvalue())

    def get_input(self, raw_keys=False):
        found = super().get_input(raw_keys)
        keys = found[0] if raw_keys else found
        for i, key in enumerate(keys):
            if isinstance(key, str) and key.startswith("resize "):
                self.size = tuple(map(int, key.removeprefix("resize ").split("x")))
                keys[i] = "window resize"
        return found


class Driven:
    """A stop after some keys: `text` of the last frame, `decision` if one was made.

    `keys` are written as for `tokens`, or a list of urwid's names. Without a `registry` commands are the stand-ins of
    `screen_registry`, not tfdbg's own.
    """

    def __init__(self, event, keys="", size=(80, 24), opening="lt", history=(), settings=None, registry=None):
        self.screen = ClipboardScreen(size, tokens(keys) if isinstance(keys, str) else keys)
        self.app = App(
            event,
            registry or small_registry(),
            settings or Settings(),
            BUILT_IN_FILTERS,
            History(history),
            opening,
        )
        self.app.busy._draw = None  # no notice that depends on time
        self.app.at_once = math.inf  # nor rows, cells and matches that come later, as far as a machine gets
        with patch.object(match_walk, "_AT_ONCE_SECONDS", math.inf):
            self.app.run(self.screen)
        self.decision = self.app.decision
        self.state = self.app.state

    @property
    def text(self):
        return "\n".join(row.rstrip() for row in self.screen.last_text)

    @property
    def rows(self):
        return self.text.split("\n")

    @property
    def status(self):
        """What the status row says now."""
        return self.rows[self.app.view.layout.prompt_row - 1]

    def looks(self, colors=256):
        """Each row of the last frame as (AttrSpec, text) runs."""
        runs = urwid.testing._runs(self.screen.canvases[-1])
        theme = self.state.service.settings.theme
        known = _resolved(theme, colors)
        for attr in {attr for row in runs for attr, _ in row} - known.keys():
            known[attr] = urwid.testing.resolve_attr(attr, palette(theme), colors=colors)
        return [[(known[attr], text) for attr, text in row] for row in runs]
