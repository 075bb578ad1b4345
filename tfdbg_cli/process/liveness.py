"""Whether another process still runs."""

from __future__ import annotations

import os
from pathlib import Path


def has_ended(process: int) -> bool:
    """Whether no process has the number `process` any more, or one that is over, which nobody has waited for."""
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return True
    except PermissionError:  # somebody else's by now, who was given the number
        return True
    try:  # of Linux; the state stands behind the name, which may hold anything
        state = Path(f"/proc/{process}/stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
    except OSError:
        return False
    return state[:1] == ["Z"]
