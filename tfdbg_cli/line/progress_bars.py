"""Whether the program is in the middle of a line of standard output, as far as its call stack tells."""

from __future__ import annotations

import re
import sys
from types import FrameType

_LOOPS = frozenset({"fit", "evaluate", "predict"})
_KERAS = re.compile(r"[/\\](tf_)?keras[/\\]")
_DRAWN = (
    1,
    "auto",
)  # values of Keras' argument `verbose` under which a bar is drawn, its line unfinished between steps


def bar_is_drawn(frame: FrameType | None = None) -> bool:
    """Whether a loop of Keras around `frame` (by default: the caller) draws a progress bar."""
    at: FrameType | None = frame or sys._getframe(1)
    while at is not None:
        code = at.f_code
        if code.co_name in _LOOPS and _KERAS.search(code.co_filename):
            verbose = at.f_locals.get("verbose")
            if isinstance(verbose, int | str) and verbose in _DRAWN:
                return True
        at = at.f_back
    return False
