"""The tests of the screen share a driver and a small registry, beside them."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
import urwid

sys.path.insert(0, str(Path(__file__).parent))


@pytest.fixture(autouse=True)
def _fresh_canvases():
    urwid.CanvasCache.clear()
