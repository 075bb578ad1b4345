"""Every test of the screen begins with nothing painted."""

from __future__ import annotations

import pytest
import urwid


@pytest.fixture(autouse=True)
def _fresh_canvases():
    urwid.CanvasCache.clear()
