"""docs/keys.md, made from the bindings: `python -m tfdbg_cli.tui.keys_page > docs/keys.md`."""

from __future__ import annotations

from tfdbg_cli.commands.registry import LIVE, Moment
from tfdbg_cli.tui.keys.array_keys import ARRAY_BINDINGS
from tfdbg_cli.tui.keys.dialogs import SUSPEND, keys_of
from tfdbg_cli.tui.keys.keymap import AFTER_START, BINDINGS, OPENED, PAUSED, Binding, KeyContext

_INTRODUCTION = """\
# Keys of the full screen

This page is generated from `tfdbg_cli/tui/keys/keymap.py` and `array_keys.py` by
`python -m tfdbg_cli.tui.keys_page > docs/keys.md`.

Keys go to the document, until `:` opens the prompt, `/` a search or `f` a filter. Every key runs a command string,
so whatever a key does can also be typed, scripted with `-c`, or clicked; words in braces stand for the chosen tensor,
or the one that the page is about. `?` lists the keys that work where you are.
With the mouse, click a link to follow it, the head of a column to sort, a breadcrumb to go back to it; the wheel
scrolls.

In a document a key can be given another meaning, or none: `config set 'keys.ctrl o' origin` (a command),
`config set keys.x ui:worst` (an action of the last column), `config set keys.m ''`.
"""
_WHEN = {
    LIVE: " (not in a recording)",
    OPENED: " (in a recording)",
    PAUSED: " (amid eager code; not in a recording)",
    AFTER_START: " (not before a run; not in a recording)",
    frozenset({Moment.STEPPING}): " (in the stepper)",
}


def keys_page() -> str:
    """The page, in Markdown."""
    parts = [_INTRODUCTION]
    for place in KeyContext:
        rows = [_row(binding) for binding in BINDINGS if binding.place is place]
        if place is KeyContext.ANYWHERE:
            rows.append(f"| `{SUSPEND[0]}` | {SUSPEND[1].replace('`fg`', '`fg`')} | |")
        parts.append(_section(place.value, rows))
        if place is KeyContext.DOCUMENT:
            parts.append(
                _section(
                    "In the array viewer (its keys come before those above)",
                    [_row(binding) for binding in ARRAY_BINDINGS],
                )
            )
    return "\n".join(parts)


def _section(title: str, rows: list[str]) -> str:
    return f"## {title}\n\n| keys | what they do | command |\n|---|---|---|\n" + "\n".join(rows) + "\n"


def _row(binding: Binding) -> str:
    keys = " ".join(f"`{key}`" for key in keys_of(binding).split(", ")).replace("|", "\\|")
    command = "" if binding.action.startswith(("edit:", "pane:")) else f"`{binding.action}`"
    when = _WHEN.get(binding.moments, "")
    return f"| {keys} | {binding.help}{when} | {command} |"


if __name__ == "__main__":
    print(keys_page(), end="")
