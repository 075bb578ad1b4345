"""The array viewer as a person saw it and agreed, text and looks, at four sizes: tests/golden/screens."""

from __future__ import annotations

import numpy as np
import pytest
from support.golden import check_golden
from support.looks import frame_with_looks
from support.made_run import made_run, op
from support.screen import Driven

from tfdbg_cli.commands.standard import standard_registry
from tfdbg_cli.model.runs import RunEnd

SIZES = [(40, 10), (80, 24), (120, 40), (200, 60)]
SCREENS = {
    "numbers": ("v]n", 16),
    "texts": ("jv", 256),
    "heatmap": ("v]n2", 256),
    "characters": ("v]n2", 1),
    "picture": ("v]n3", 256),
    "histogram": ("v]n4", 256),
    "line": ("v]nx5", 256),
    "health": ("v]n6", 16),
    "ends": ("v#", 256),
    "precision": ("v]n-----", 256),
    "scientific": ("v]ne---", 256),
    "suppressed": ("vs", 256),
}


def _run() -> RunEnd:
    down, across = np.mgrid[0:40, 0:60]
    array = np.stack([np.sin(down / (7 + k)) * np.cos(across / 9) * 10 ** (k - 1) for k in range(3)])
    array = array.astype(np.float32)
    array[1, 17, 4], array[1, 20, 5], array[1, 21, 6] = np.nan, np.inf, -np.inf
    texts = np.array([[b"a\x1b[31mred", b"\xff\xfe"], ["long " * 40, "中文"]], object)
    return RunEnd(made_run(op("waves", "Placeholder", value=array), op("texts", "Placeholder", value=texts)))


def _small() -> RunEnd:
    return RunEnd(made_run(op("small", "Placeholder", value=np.geomspace(1e-7, 1, 24).reshape(4, 6))))


@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
@pytest.mark.parametrize("name", SCREENS)
def test_screen(name, size):
    keys, colors = SCREENS[name]
    run = _small() if name == "suppressed" else _run()
    screen = Driven(run, size=size, opening="lt", registry=standard_registry())
    screen.state.colors = colors
    for key in keys:
        screen.app.key(key)
    check_golden(f"screens/array/{name}-{size[0]}x{size[1]}", frame_with_looks(screen, size, colors))
