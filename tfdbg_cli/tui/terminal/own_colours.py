"""Colours that a user set for single styles, over those of the theme."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import urwid

from tfdbg_cli.config.settings import Entries
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.model.names import did_you_mean
from tfdbg_cli.tui.terminal.theme import PaletteRow

_NAMED = (
    "default", "black", "dark red", "dark green", "brown", "dark blue", "dark magenta", "dark cyan", "light gray",
    "dark gray", "light red", "light green", "yellow", "light blue", "light magenta", "light cyan", "white",
)  # fmt: skip
_SETTINGS = ("bold", "underline", "standout", "blink", "italics", "strikethrough")
_FORM = "Write COLOUR[, SETTING…][ on COLOUR], as in: light red, bold on black"
_NAMES: Literal[16] = 16  # colours of a terminal that knows them by name
_HIGH: Literal[256] = 256  # and of one that knows h203 or #f60


def recoloured(rows: Sequence[PaletteRow], own: Entries) -> list[PaletteRow]:
    """The palette `rows` with the styles that `own` names as it says.

    Raises:
        TfdbgError: there is no such style or colour.

    """
    found = {row[0]: row for row in rows}
    for name, text in own:
        if name not in found:
            hint = did_you_mean(name, found) or f"Styles: {', '.join(found)}."
            raise TfdbgError(f"There is no style {name!r} to colour.", hint=hint)
        found[name] = _row(found[name], text)
    return list(found.values())


def _row(row: PaletteRow, text: str) -> PaletteRow:
    """The row of a palette with the colours in `text`; terminals of 16 colours keep theirs where it names others."""
    name, low, low_back, mono, _, high_back = row
    front, _, back = (part.strip() for part in text.partition(" on "))
    color, *settings = [part.strip() for part in front.split(",")]
    for part in settings:
        if part not in _SETTINGS:
            hint = did_you_mean(part, _SETTINGS) or _FORM
            raise TfdbgError(f"A colour cannot be {part!r}.", hint=hint)
    for one in filter(None, (color, back)):
        if not _known(one, _HIGH):
            raise TfdbgError(f"There is no colour {one!r}.", hint=did_you_mean(one, _NAMED) or _FORM)
    if not color:
        raise TfdbgError(f"There is no colour in {text!r}.", hint=_FORM)
    front = ",".join([color, *settings])
    return (
        name,
        front if _known(color, _NAMES) else low,
        back if back and _known(back, _NAMES) else low_back,
        ",".join(settings) or mono,
        front,
        back or high_back,
    )


def _known(color: str, colors: Literal[16, 256]) -> bool:
    try:
        urwid.AttrSpec(color, "default", colors)
    except urwid.AttrSpecError:
        return False
    return "," not in color
