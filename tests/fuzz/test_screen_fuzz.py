"""Whatever keys are pressed, wherever is clicked, the screen is drawn and tfdbg never makes a mistake of its own."""

from __future__ import annotations

import random

import pytest
import urwid
from support import sample_run
from support.command_maker import CommandMaker
from support.fuzzing import Turns
from support.screen import Driven

from tfdbg_cli.commands.context import Context
from tfdbg_cli.commands.standard import standard_registry
from tfdbg_cli.commands.views.opening import opening_command
from tfdbg_cli.tui.keys.keymap import BINDINGS

_STOPS = (sample_run.run_start, sample_run.run_end, sample_run.run_hit, sample_run.run_failed, sample_run.opened)
_SIZES = ((80, 24), (200, 60), (40, 10), (39, 9), (1, 1), (5, 50), (300, 3))
_REGISTRY = standard_registry()
_KEYS = sorted({key for binding in BINDINGS for key in binding.keys} - {"ctrl z"})
_NOISE = (
    "é",
    "漢",
    "🙂",
    "\x7f",
    "meta x",
    "f12",
    "begin paste",
    "end paste",
    "focus in",
    "focus out",
    "\ud800",
    "@",
    "/",
)


@pytest.mark.parametrize("stop", _STOPS, ids=lambda stop: stop.__name__)
@pytest.mark.parametrize("seed", range(2))
def test_random_keys_never_break_the_screen(stop, seed, turns: Turns):
    urwid.CanvasCache.clear()
    pick = random.Random(f"{stop.__name__} {seed}")
    event = stop()
    maker = CommandMaker(seed, Context(event, width=80), _REGISTRY)
    for _ in turns(2):
        keys = [key for _ in range(30) for key in _strokes(pick, maker)]
        size = pick.choice(_SIZES[:3])
        screen = Driven(event, keys, size, opening_command(event), registry=_REGISTRY)
        assert not screen.state.report, f"{keys}\n{screen.state.report}"
        cols, rows = screen.screen.size
        drawn = screen.screen.canvases[-1]
        assert (drawn.cols(), drawn.rows()) == (cols, rows)


def _strokes(pick: random.Random, maker: CommandMaker) -> list[object]:
    """What a person does in one go: a key, a click, a resize, a command, a search."""
    match pick.randrange(12):
        case 0:
            return [":", "ctrl u", *maker.command(), pick.choice(("enter", "esc", "tab", "up"))]
        case 1:
            return ["/", *pick.choice(("loss", "(", "[0-9]+", ".*", "", "漢", "X")), pick.choice(("enter", "esc"))]
        case 2:
            return ["@", *pick.choice(("[0,0]", "1,1", "[9999]", "x", "[", "-1", "99999999999999999999999"))]
        case 3 | 4:
            col, row = pick.randrange(200), pick.randrange(60)
            return [(pick.choice(("mouse press", "mouse drag", "mouse release")), pick.randrange(6), col, row)]
        case 5 if pick.random() < 0.3:
            cols, rows = pick.choice(_SIZES)
            return [f"resize {cols}x{rows}"]
        case 6:
            return [pick.choice(_NOISE)]
        case _:
            return [pick.choice(_KEYS)]
