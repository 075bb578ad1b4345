"""Colours that stand for numbers: a ramp from dark to bright, in which equal steps look equal."""

from __future__ import annotations

import urwid

from tfdbg_cli.tui.array.levels import STEPS, ground, ink

# From dark blue over green to yellow, as in viridis: it grows brighter all the way, also for the colour-blind.
_STOPS = ((68, 1, 84), (65, 68, 135), (42, 120, 142), (34, 168, 132), (122, 209, 81), (253, 231, 37))
_KEEP = urwid.INHERIT


def _color(level: int) -> str:
    at = level * (len(_STOPS) - 1) / (STEPS - 1)
    first = min(int(at), len(_STOPS) - 2)
    share = at - first
    channels = (round(a + (b - a) * share) for a, b in zip(_STOPS[first], _STOPS[first + 1], strict=True))
    return "#" + "".join(f"{channel:02x}" for channel in channels)


def ramp_names() -> list[str]:
    """The names of the steps, as a foreground and as a background."""
    return [name(level) for name in (ink, ground) for level in range(STEPS)]


def ramp_rows(*, coloured: bool) -> list[tuple[str, str, str, str, str, str]]:
    """The steps as rows of a palette; terminals of few colours show none of them, but characters instead."""
    colors = [_color(level) if coloured else _KEEP for level in range(STEPS)]
    inks = [(ink(level), _KEEP, _KEEP, "", color, _KEEP) for level, color in enumerate(colors)]
    return [*inks, *((ground(level), _KEEP, _KEEP, "", _KEEP, color) for level, color in enumerate(colors))]
