"""Whole screens as a person saw them and agreed, at four sizes: tests/golden/screens."""

import pytest
from support import sample_run
from support.golden import check_golden
from support.looks import written
from support.screen import Driven

SIZES = [(40, 10), (80, 24), (120, 40), (200, 60)]
SCREENS = {
    "start": (sample_run.run_start, "ri", ""),
    "tensors": (sample_run.run_end, "lt", "jj"),
    "scrolled": (sample_run.run_end, "lt", "G"),
    "tensor": (sample_run.run_hit, "lt", "<enter>j"),
    "error": (sample_run.run_failed, "text", ":lst<enter>"),
    "recording": (sample_run.opened, "lt", ""),
    "search": (sample_run.run_end, "lt", "/loss"),
    "prompt": (sample_run.run_end, "lt", ":pt loss/<tab><tab>"),
    "keys": (sample_run.run_end, "lt", "?j"),
    "leave": (sample_run.run_end, "lt", "q"),
}


@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
@pytest.mark.parametrize("name", SCREENS)
def test_screen(name, size):
    event, opening, keys = SCREENS[name]
    screen = Driven(event(), keys, size=size, opening=opening)
    check_golden(f"screens/{name}-{size[0]}x{size[1]}", written(screen, 256))
    cursor = screen.screen.canvases[-1].cursor
    assert cursor is not None
    assert 0 <= cursor[0] < size[0]
    assert 0 <= cursor[1] < size[1]
