"""How the styles of a document look where colours are given as in CSS."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from tfdbg_cli.document.text import Style

FRONT, BACK = "#d8d8d8", "#16181d"


@dataclass(frozen=True, slots=True)
class Look:
    """Colours as in CSS, "" for those around; bold and italic letters; a line below."""

    front: str = ""
    back: str = ""
    bold: bool = False
    italic: bool = False
    underline: bool = False

    def css(self) -> str:
        """The look as declarations of CSS."""
        parts = [f"color:{self.front}"] if self.front else []
        parts += [f"background:{self.back}"] if self.back else []
        parts += ["font-weight:bold"] if self.bold else []
        parts += ["font-style:italic"] if self.italic else []
        parts += ["text-decoration:underline"] if self.underline else []
        return ";".join(parts)


# Each is readable on BACK (contrast of 4.5 and more, WCAG 2.1, 1.4.3).
LOOKS: Mapping[Style, Look] = {
    Style.PLAIN: Look(),
    Style.TITLE: Look("#ffffff", bold=True),
    Style.HEADING: Look("#87afd7", bold=True),
    Style.DIM: Look("#8f8f8f"),
    Style.LABEL: Look("#87afaf"),
    Style.NAME: Look("#87d7ff"),
    Style.OP: Look("#d7af87"),
    Style.NUMBER: Look("#d0d0d0"),
    Style.DEVICE: Look("#af87af"),
    Style.GOOD: Look("#87d787"),
    Style.WARNING: Look("#ffd75f"),
    Style.ERROR: Look("#ff8787", bold=True),
    Style.HINT: Look("#afd7af"),
    Style.NAN: Look("#ff6f6f", bold=True, underline=True),
    Style.INF: Look("#ffaf5f", bold=True),
    Style.MARK: Look("#ffffd7", "#005f87"),
    Style.MATCH: Look("#000000", "#ffd75f"),
    Style.KEY: Look("#ffd787"),
    Style.KEYWORD: Look("#d787d7"),
    Style.STRING: Look("#afd787"),
    Style.COMMENT: Look("#8f8f8f", italic=True),
    Style.DEFINITION: Look("#87d7ff", bold=True),
}
