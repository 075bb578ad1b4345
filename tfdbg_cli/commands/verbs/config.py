"""`config`: the settings."""

from __future__ import annotations

import argparse
from dataclasses import fields

from tfdbg_cli.commands.context import Context
from tfdbg_cli.commands.registry import Argument, Command, Kind
from tfdbg_cli.config import Settings
from tfdbg_cli.document.document import Document, Text
from tfdbg_cli.document.table import Column, Table
from tfdbg_cli.document.text import EMPTY_LINE, Span, Style, line
from tfdbg_cli.document.units import bytes_text
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.paths import config_file


def _config(context: Context, options: argparse.Namespace) -> Document:
    if options.action == "show":
        if options.value:
            raise TfdbgError("`config show` takes at most a name.", hint="Write: config set NAME VALUE")
        return _show(context, options.name)
    if not options.name or not options.value:
        raise TfdbgError("A name or a value is missing.", hint="Write: config set NAME VALUE. See `config show`.")
    context.set(options.name, options.value)
    return _show(context, options.name)


def _show(context: Context, only: str) -> Document:
    shown = {field.name: getattr(context.settings, field.name) for field in fields(Settings)}
    if only:
        if only not in shown:
            raise TfdbgError(f"There is no setting {only!r}.", hint=f"Settings: {', '.join(shown)}.")
        shown = {only: shown[only]}
    names = list(shown)
    defaults = Settings()

    def row(i: int) -> tuple[Span, ...]:
        name, value = names[i], shown[names[i]]
        default = getattr(defaults, name)
        note = "" if value == default else f"default {_text(name, default)}"
        return Span(name, Style.LABEL), Span(_text(name, value)), Span(note, Style.DIM)

    table = Table((Column("Setting"), Column("Value"), Column("")), len(names), row)
    where = Text((EMPTY_LINE, line(Span(f"Kept in {config_file()}", Style.DIM))))
    return Document("config", (table, where), lambda: {"settings": shown, "path": str(config_file())}, "config")


def _text(name: str, value: object) -> str:
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
        Argument(("action",), "show or set", choices=("show", "set"), nargs="?", default="show"),
        Argument(("name",), "the setting", Kind.SETTING, nargs="?", default=""),
        Argument(("value",), "its new value; sizes such as 512M or 4G", nargs="?", default=""),
    ),
    section="Settings and help",
    details="""\
A changed setting holds at once and is kept for later programs.

Examples:
  config show
  config set graph_recursion_depth 5
  config set disk_budget 4G""",
)
