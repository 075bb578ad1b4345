"""Lines in colour for terminals: SGR codes of ECMA-48, section 8.3.117, with the 16 colours that every theme sets."""

from __future__ import annotations

import re
from collections.abc import Mapping

from tfdbg_cli.document.text import Line, Style

_RESET = "\x1b[0m"

CODES: Mapping[Style, str] = {
    Style.PLAIN: "",
    Style.TITLE: "1",
    Style.HEADING: "1",
    Style.DIM: "2",
    Style.LABEL: "36",
    Style.NAME: "",
    Style.OP: "34",
    Style.NUMBER: "",
    Style.DEVICE: "2",
    Style.GOOD: "32",
    Style.WARNING: "33",
    Style.ERROR: "1;31",
    Style.HINT: "33",
    Style.NAN: "1;31",
    Style.INF: "1;35",
    Style.MARK: "7",
    Style.MATCH: "1;7",
    Style.KEY: "1;36",
    Style.KEYWORD: "1;34",
    Style.STRING: "32",
    Style.COMMENT: "2",
    Style.DEFINITION: "1",
}

# Terminals without colours, as terminfo has them. The database itself may be missing, or name no such terminal.
_COLOURLESS = re.compile(r"|dumb|vt52(-.*)?|vt([12]\d\d|[34]20).*|.+-(m|mono)")


def ansi_row(line: Line) -> str:
    """One line with colours. Nothing is left switched on at its end."""
    parts: list[str] = []
    for span in line.spans:
        code = CODES[span.style]
        parts.append(f"\x1b[{code}m{span.text}{_RESET}" if code and span.text else span.text)
    return "".join(parts).rstrip(" ")


def wants_color(environ: Mapping[str, str], tty: bool) -> bool:
    """Whether to print in colour on a stream that is a terminal or not.

    NO_COLOR (no-color.org) forbids it, FORCE_COLOR and CLICOLOR_FORCE ask for it also in files and pipes,
    CLICOLOR=0 and a TERM without colours leave it out (bixense.com/clicolors).
    """
    if environ.get("NO_COLOR"):
        return False
    for name in ("FORCE_COLOR", "CLICOLOR_FORCE"):
        if environ.get(name):
            return environ[name] not in {"0", "false"}
    return tty and environ.get("CLICOLOR") != "0" and not _COLOURLESS.fullmatch(environ.get("TERM", ""))
