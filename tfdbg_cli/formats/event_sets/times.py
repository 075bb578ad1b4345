"""Times of events, which a file may claim to be anything."""

from __future__ import annotations

import numpy as np

from tfdbg_cli.model.values import Array

_LATEST = float(1 << 40)  # seconds: behind all that a date can show
MICROSECONDS = 1_000_000  # in a second


def seconds(wall_time: float) -> float:
    """`wall_time`, seconds from the epoch; 0 where it is no time."""
    return wall_time if 0 <= wall_time < _LATEST else 0.0


def all_seconds(wall_times: Array) -> Array:
    """The same of very many times at once."""
    return np.where((wall_times >= 0) & (wall_times < _LATEST), wall_times, 0.0)
