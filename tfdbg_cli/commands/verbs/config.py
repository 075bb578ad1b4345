"""`config`: the settings."""

from __future__ import annotations

import argparse
from collections.abc import Iterator

from tfdbg_cli.commands.context import Context
from tfdbg_cli.commands.registry import Argument, ArgumentKind, Command
from tfdbg_cli.config.settings import PROGRAM, TABLES, Settings, setting_names, value_of, values_of
from tfdbg_cli.config.settings_file import file_of
from tfdbg_cli.document.document import Document, Text
from tfdbg_cli.document.table import Column, Table
from tfdbg_cli.document.text import EMPTY_LINE, Span, Style, line
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.model.units import bytes_text


def _config(context: Context, options: argparse.Namespace) -> Document:
    if options.action == "show":
        if options.value is not None:
            raise TfdbgError("`config show` takes at most a name.", hint="Write: config set NAME VALUE")
        return _show(context, options.name)
    if options.action == "unset":
        if not options.name or options.value is not None:
            raise TfdbgError("`config unset` takes one name.", hint="Write: config unset NAME")
        context.set(options.name, None)
        return _show(context, options.name)
    if not options.name or options.value is None:
        raise TfdbgError("A name or a value is missing.", hint="Write: config set NAME VALUE. See `config show`.")
    context.set(options.name, options.value)
    return _show(context, options.name)


def _show(context: Context, only: str) -> Document:
    settings, defaults = context.settings, Settings()
    names = [only] if only and only not in TABLES else list(_names(settings, only))
    shown = {name: value_of(settings, name) for name in names}

    def row(i: int) -> tuple[Span, ...]:
        name, value = names[i], shown[names[i]]
        default = value_of(defaults, name)
        note = "" if value == default or "." in name else f"default {_text(name, default)}"
        return Span(name, Style.LABEL), Span(_text(name, value), link=_next(name, value)), Span(note, Style.DIM)

    table = Table((Column("Setting"), Column("Value"), Column("")), len(names), row)
    where = Text((EMPTY_LINE, line(Span(f"Kept in {file_of(settings)}", Style.DIM))))
    return Document("config", (table, where), lambda: {"settings": shown, "path": str(file_of(settings))}, "config")


def _names(settings: Settings, table: str) -> Iterator[str]:
    """What there is to show, each entry of a table by its own name; of `table` alone if that names one."""
    for name in (table,) if table else setting_names():
        if name in TABLES:
            yield from (f"{name}.{entry}" for entry, _ in getattr(settings, name))
        else:
            yield name


def _next(name: str, value: object) -> str:
    """What gives the setting the next one of the words that it can be; empty where it can be anything."""
    choices = values_of(name)
    if not choices or isinstance(value, bool):  # Enter pressed once too often takes nobody's mouse away
        return ""
    at = choices.index(_text(name, value))
    return f"config set {name} {choices[(at + 1) % len(choices)]}"


def _text(name: str, value: object) -> str:
    if name.partition(".")[0] in TABLES:
        return "as without it" if value is None else str(value) or "nothing"
    if value is None:
        return PROGRAM
    if isinstance(value, bool):
        return "on" if value else "off"
    if name.endswith("_budget") and isinstance(value, int):
        return bytes_text(value) if value else f"half of the free {name.removesuffix('_budget')}"
    return str(value)


COMMAND = Command(
    "config",
    ("cfg",),
    "Show the settings, or change one.",
    _config,
    (
        Argument(("action",), "show, set or unset", choices=("show", "set", "unset"), nargs="?", default="show"),
        Argument(("name",), "the setting", ArgumentKind.SETTING, nargs="?", default=""),
        Argument(("value",), "its new value; sizes such as 512M or 4G", ArgumentKind.SETTING_VALUE, nargs="?"),
    ),
    section="Settings and help",
    details="""\
A changed setting holds at once and is kept for later programs, in a TOML file that may be written by hand, too;
`config unset` puts the default back. precision, suppress, edgeitems and linewidth are those of np.set_printoptions;
`program` leaves them to the program.

On the full screen Enter gives a setting the next of the words that it can be. There, `keys.KEY` makes a key of a
document run a command, or do `ui:NAME`, an action of docs/keys.md; an empty value takes its meaning away.
`colours.STYLE` changes a colour of the theme, as in `light red, bold on black`.

Examples:
  config show
  config set graph_recursion_depth 5
  config set disk_budget 4G
  config set precision 3
  config set theme ascii
  config set 'keys.ctrl o' origin
  config set colours.nan 'white on dark red'
  config unset precision""",
    acts=True,
)
