"""Colours of the screen: what each style of a document and each part of the screen looks like, theme by theme."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import urwid

from tfdbg_cli.document.text import Style
from tfdbg_cli.tui.terminal.ramp import ramp_names, ramp_rows

PaletteRow: TypeAlias = tuple[str, str, str, str, str, str]
_KEEP = urwid.INHERIT


@dataclass(frozen=True, slots=True)
class Appearance:
    """One appearance: settings that stand without colour, a colour of 16 and one of 256, a background of each.

    Empty colours keep what lies under them, as a selected row under the names in it.
    """

    mono: str = ""
    low: str = ""
    high: str = ""
    low_back: str = ""
    high_back: str = ""
    settings: str = ""  # bold, underline, … beside the colour


# Parts of the screen that are not spans of a document. Each theme defines every one of them.
PARTS = (
    "screen",
    "selected",
    "head",
    "link",
    "link focus",
    "marker",
    "thumb",
    "track",
    "title start",
    "title end",
    "title hit",
    "title error",
    "title opened",
    "crumbs",
    "crumb",
    "status",
    "message",
    "message error",
    "prompt",
    "footer",
    "box",
    "candidate",
)

_MONO: dict[str, str] = {
    Style.TITLE: "bold",
    Style.HEADING: "bold",
    Style.LABEL: "",
    Style.NAME: "",
    Style.ERROR: "bold",
    Style.WARNING: "bold",
    Style.NAN: "bold,standout",
    Style.INF: "bold,underline",
    Style.MARK: "standout",
    Style.MATCH: "standout",
    Style.KEY: "bold",
    Style.KEYWORD: "bold",
    Style.DEFINITION: "bold",
    "selected": "bold",
    "head": "bold,underline",
    "link": "bold",  # underlined, each _ of a name would be hidden
    "link focus": "standout",
    "title start": "standout",
    "title end": "standout",
    "title hit": "standout,bold",
    "title error": "standout,bold",
    "title opened": "standout",
    "crumb": "bold",
    "message error": "bold",
    "box": "",
    "candidate": "",
}


def _look(low: str, high: str, settings: str = "", low_back: str = "", high_back: str = "") -> Appearance:
    return Appearance("", low, high, low_back, high_back, settings)


_DARK: dict[str, Appearance] = {
    Style.TITLE: _look("white", "h255", "bold"),
    Style.HEADING: _look("light blue", "h110", "bold"),
    Style.DIM: _look("dark gray", "h245"),
    Style.LABEL: _look("light gray", "h109"),
    Style.NAME: _look("light cyan", "h117"),
    Style.OP: _look("brown", "h180"),
    Style.NUMBER: _look("light gray", "h252"),
    Style.DEVICE: _look("dark magenta", "h139"),
    Style.GOOD: _look("light green", "h114"),
    Style.WARNING: _look("yellow", "h221"),
    Style.ERROR: _look("light red", "h210", "bold"),
    Style.HINT: _look("light green", "h151"),
    Style.NAN: _look("light red", "h203", "bold"),
    Style.INF: _look("yellow", "h215", "bold"),
    Style.MARK: _look("white", "h230", "", "dark blue", "h24"),
    Style.MATCH: _look("black", "h16", "", "brown", "h221"),
    Style.KEY: _look("yellow", "h222"),
    Style.KEYWORD: _look("light magenta", "h176"),
    Style.STRING: _look("light green", "h150"),
    Style.COMMENT: _look("dark gray", "h245", "italics"),
    Style.DEFINITION: _look("light cyan", "h117", "bold"),
    "screen": _look("default", "default", "", "default", "default"),
    "selected": _look("", "", "", "black", "h236"),
    "head": _look("light blue", "h110", "bold", "default", "h234"),
    "link": _look("light cyan", "h117"),
    "link focus": _look("black", "h16", "", "light cyan", "h117"),
    "marker": _look("light cyan", "h117"),
    "thumb": _look("light gray", "h244"),
    "track": _look("dark gray", "h238"),
    "title start": _look("white", "h231", "bold", "dark blue", "h25"),
    "title end": _look("white", "h255", "bold", "dark gray", "h238"),
    "title hit": _look("white", "h231", "bold", "dark red", "h124"),
    "title error": _look("white", "h231", "bold", "dark red", "h124"),
    "title opened": _look("white", "h231", "bold", "dark magenta", "h60"),
    "crumbs": _look("light gray", "h248", "", "default", "h235"),
    "crumb": _look("white", "h255", "bold"),
    "status": _look("light gray", "h248", "", "default", "h235"),
    "message": _look("light green", "h151", "", "default", "h235"),
    "message error": _look("light red", "h217", "bold", "default", "h52"),
    "prompt": _look("light cyan", "h117", "bold"),
    "footer": _look("light gray", "h246"),
    "box": _look("light gray", "h252", "", "black", "h236"),
    "candidate": _look("yellow", "h222"),
}

_LIGHT: dict[str, Appearance] = {
    Style.TITLE: _look("black", "h16", "bold"),
    Style.HEADING: _look("dark blue", "h24", "bold"),
    Style.DIM: _look("dark gray", "h244"),
    Style.LABEL: _look("dark gray", "h240"),
    Style.NAME: _look("dark blue", "h25"),
    Style.OP: _look("brown", "h94"),
    Style.NUMBER: _look("black", "h235"),
    Style.DEVICE: _look("dark magenta", "h90"),
    Style.GOOD: _look("dark green", "h28"),
    Style.WARNING: _look("brown", "h130"),
    Style.ERROR: _look("dark red", "h124", "bold"),
    Style.HINT: _look("dark green", "h22"),
    Style.NAN: _look("dark red", "h160", "bold"),
    Style.INF: _look("brown", "h130", "bold"),
    Style.MARK: _look("black", "h16", "", "light gray", "h153"),
    Style.MATCH: _look("black", "h16", "", "brown", "h221"),
    Style.KEY: _look("brown", "h94", "bold"),
    Style.KEYWORD: _look("dark magenta", "h90"),
    Style.STRING: _look("dark green", "h28"),
    Style.COMMENT: _look("dark gray", "h244", "italics"),
    Style.DEFINITION: _look("dark blue", "h25", "bold"),
    "screen": _look("default", "default", "", "default", "default"),
    "selected": _look("", "", "", "light gray", "h254"),
    "head": _look("dark blue", "h24", "bold", "default", "h255"),
    "link": _look("dark blue", "h25"),
    "link focus": _look("white", "h231", "", "dark blue", "h25"),
    "marker": _look("dark blue", "h25"),
    "thumb": _look("dark gray", "h245"),
    "track": _look("light gray", "h252"),
    "title start": _look("white", "h231", "bold", "dark blue", "h25"),
    "title end": _look("black", "h16", "bold", "light gray", "h250"),
    "title hit": _look("white", "h231", "bold", "dark red", "h160"),
    "title error": _look("white", "h231", "bold", "dark red", "h160"),
    "title opened": _look("white", "h231", "bold", "dark magenta", "h60"),
    "crumbs": _look("dark gray", "h240", "", "default", "h254"),
    "crumb": _look("black", "h16", "bold"),
    "status": _look("dark gray", "h240", "", "default", "h254"),
    "message": _look("dark green", "h22", "", "default", "h254"),
    "message error": _look("dark red", "h88", "bold", "default", "h224"),
    "prompt": _look("dark blue", "h25", "bold"),
    "footer": _look("dark gray", "h241"),
    "box": _look("black", "h235", "", "light gray", "h254"),
    "candidate": _look("brown", "h94"),
}

# Few colours, each far from its background; brightness and settings carry the rest.
_CONTRAST: dict[str, Appearance] = {
    **{style: _look("white", "h231") for style in Style if style},
    Style.TITLE: _look("white", "h231", "bold"),
    Style.HEADING: _look("white", "h231", "bold,underline"),
    Style.NAME: _look("light cyan", "h51"),
    Style.GOOD: _look("light green", "h46", "bold"),
    Style.WARNING: _look("yellow", "h226", "bold"),
    Style.ERROR: _look("white", "h231", "bold", "dark red", "h124"),
    Style.HINT: _look("light green", "h46"),
    Style.NAN: _look("white", "h231", "bold", "dark red", "h124"),
    Style.INF: _look("black", "h16", "bold", "brown", "h226"),
    Style.MARK: _look("black", "h16", "", "light gray", "h231"),
    Style.MATCH: _look("black", "h16", "bold", "brown", "h226"),
    Style.KEY: _look("yellow", "h226", "bold"),
    Style.KEYWORD: _look("light magenta", "h213", "bold"),
    Style.STRING: _look("light green", "h46"),
    Style.COMMENT: _look("light gray", "h252", "italics"),
    Style.DEFINITION: _look("light cyan", "h51", "bold"),
    "screen": _look("white", "h231", "", "black", "h16"),
    "selected": _look("", "", "bold", "dark blue", "h18"),
    "head": _look("white", "h231", "bold,underline", "black", "h16"),
    "link": _look("light cyan", "h51", "underline"),
    "link focus": _look("black", "h16", "bold", "light cyan", "h51"),
    "marker": _look("yellow", "h226", "bold"),
    "thumb": _look("white", "h231"),
    "track": _look("light gray", "h244"),
    "title start": _look("white", "h231", "bold", "dark blue", "h19"),
    "title end": _look("black", "h16", "bold", "light gray", "h231"),
    "title hit": _look("white", "h231", "bold", "dark red", "h124"),
    "title error": _look("white", "h231", "bold", "dark red", "h124"),
    "title opened": _look("white", "h231", "bold", "dark magenta", "h53"),
    "crumbs": _look("white", "h231", "", "black", "h16"),
    "crumb": _look("white", "h231", "bold,underline"),
    "status": _look("white", "h231", "", "black", "h16"),
    "message": _look("light green", "h46", "bold", "black", "h16"),
    "message error": _look("white", "h231", "bold", "dark red", "h124"),
    "prompt": _look("yellow", "h226", "bold"),
    "footer": _look("white", "h231"),
    "box": _look("white", "h231", "", "dark blue", "h17"),
    "candidate": _look("yellow", "h226", "bold"),
}

THEMES: dict[str, dict[str, Appearance]] = {"dark": _DARK, "light": _LIGHT, "contrast": _CONTRAST}


def palette(theme: str) -> list[PaletteRow]:
    """The palette (urwid's rows) of the theme called `theme`: dark, light, contrast or mono.

    Its monochrome column is what terminals without colours show, and everyone under NO_COLOR.
    """
    ramp = {row[0]: row for row in ramp_rows(coloured=theme in THEMES)}
    looks = THEMES.get(theme, {})
    return [ramp.get(name) or _row(name, looks.get(name)) for name in names()]


def names() -> list[str]:
    """Every name that a palette defines."""
    return [*(str(style) for style in Style if style), *PARTS, *ramp_names()]


def _row(name: str, look: Appearance | None) -> PaletteRow:
    mono = _MONO.get(name, "")
    ground = name == "screen"
    if look is None:  # the theme without colours
        plain = ",".join(part for part in ("default" if ground else _KEEP, mono) if part)
        back = "default" if ground else _KEEP
        return (name, plain, back, mono, plain, back)
    keep = "default" if ground else _KEEP
    low = ",".join(part for part in (look.low or keep, look.settings) if part)
    high = ",".join(part for part in (look.high or keep, look.settings) if part)
    return (name, low, look.low_back or keep, mono, high, look.high_back or keep)
