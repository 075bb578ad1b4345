"""The panes as a person saw them and agreed, text and looks, at four sizes: tests/golden/screens/panes."""

from __future__ import annotations

import pytest
from support import sample_run
from support.golden import check_golden
from support.looks import frame_with_looks
from support.screen import Driven, tokens

from tfdbg_cli.commands.standard import standard_registry

SIZES = [(40, 10), (80, 24), (120, 40), (200, 60)]
SCREENS = {
    "list": ("lt", "j" * 11, 256),
    "focus": ("lt", "j" * 7 + "<tab>jj", 256),
    "picture": ("lt", "j" * 7, 256),
    "origin": ("origin", "", 256),
    "source": ("ps train.py -b 7", "", 256),
    "nothing": ("help", "", 256),
    "mono": ("lt", "j" * 18, 1),
}


@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
@pytest.mark.parametrize("name", SCREENS)
def test_screen(name, size):
    opening, keys, colors = SCREENS[name]
    screen = Driven(sample_run.run_end(), size=size, opening=opening, registry=standard_registry())
    screen.state.colors = colors
    for key in tokens(keys):
        screen.app.key(key)
    while screen.app.view.running:
        screen.app.view.work(lambda: False)
    check_golden(f"screens/panes/{name}-{size[0]}x{size[1]}", frame_with_looks(screen, size, colors))
