"""Keys that a user gave a meaning of their own, in documents."""

from __future__ import annotations

import re
import shlex

from tfdbg_cli.commands.registry import Moment, Registry
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.model.names import did_you_mean
from tfdbg_cli.tui.keys.keymap import Binding, KeyContext

_MODIFIERS = {"ctrl": "ctrl", "alt": "meta", "meta": "meta", "shift": "shift"}
_NAMED = {
    "pgdn": "page down", "pgup": "page up", "page down": "page down", "page up": "page up", "return": "enter",
    "enter": "enter", "escape": "esc", "esc": "esc", "space": " ", "tab": "tab", "backspace": "backspace",
    "delete": "delete", "insert": "insert", "home": "home", "end": "end", "up": "up", "down": "down", "left": "left",
    "right": "right", **{f"f{number}": f"f{number}" for number in range(1, 13)},
}  # fmt: skip

# What stops a program, or leads out of anything, is not given away; the terminal itself takes the others.
_KEPT = ("ctrl c", "esc", "ctrl z", "ctrl s", "ctrl q", "ctrl \\")


def own_binding(name: str, action: str, registry: Registry, actions: frozenset[str]) -> Binding:
    """The binding of the key called `name` to `action`: a command, `ui:NAME` of `actions`, or "" for nothing.

    Raises:
        TfdbgError: no such key, command or action, or a key that keeps its meaning.

    """
    key = _key(name)
    action = action.strip()
    if action and not action.startswith("ui:"):
        meaning = f"`{action}`, by your settings"
        return Binding(KeyContext.DOCUMENT, (key,), action, meaning, moments=_when(action, registry))
    if action and action.removeprefix("ui:") not in actions:
        raise TfdbgError(
            f"The key {name!r} cannot do {action!r}: there is no such action.",
            hint=did_you_mean(action.removeprefix("ui:"), actions) or "docs/keys.md lists them.",
        )
    return Binding(KeyContext.DOCUMENT, (key,), action, f"{action}, by your settings")


def _when(command: str, registry: Registry) -> frozenset[Moment]:
    """At which stops a command can be given."""
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise TfdbgError(f"{command!r} is no command: {error}.") from None
    return registry.find(words[0]).moments


def _key(name: str) -> str:
    """The key in urwid's words, of `ctrl o`, `Ctrl-O`, `PgDn` or `x`."""
    *modifiers, last = re.split("[- ]", name) if len(name) > 1 and name.lower() not in _NAMED else [name]
    plain = last.lower() if len(last) > 1 or "ctrl" in map(str.lower, modifiers) else last
    if not all(part.lower() in _MODIFIERS for part in modifiers) or not (len(plain) == 1 or plain in _NAMED):
        raise TfdbgError(
            f"There is no key {name!r}.", hint=did_you_mean(name.lower(), _NAMED) or "Write x, ctrl o, f5."
        )
    key = " ".join([*(_MODIFIERS[part.lower()] for part in modifiers), _NAMED.get(plain, plain)])
    if key in _KEPT:
        raise TfdbgError(f"{name} keeps its meaning.", hint="Choose another key.")
    return key
