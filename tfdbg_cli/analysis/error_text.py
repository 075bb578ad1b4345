"""What an error of TensorFlow says, without the stacks that it carries in its message."""

from __future__ import annotations

import re
from collections.abc import Sequence

from tfdbg_cli.model.sources import is_library
from tfdbg_cli.model.units import count_text

# `Session.run` puts "Graph execution error", the stack of the op and `Node: 'x'` before the words of the kernel, and
# another account of the stack behind them (client/session.py, framework/error_interpolation.py).
_BEFORE = re.compile(r"\AGraph execution error:.*?^Node: '[^'\n]*'\n", re.DOTALL | re.MULTILINE)
# A function puts the stack of the op alone there (framework/error_interpolation.py): its lines are indented.
_STACKS = re.compile(
    r"\A(?:Graph execution error:\s*)?(?:Detected at node [^\n]*\(most recent call last\):\n(?:[ \t][^\n]*\n|\n)*)+"
)
_BEHIND = re.compile(r"\n\s*\n(Original stack trace for |Errors may have originated from an input operation)")
_CALL = re.compile(r'^(?P<indent>\s*)File "(?P<file>[^"]+)", line \d+, in ')
_NODE = re.compile(r"^\s*\[\[\{\{node [^\n]*\}\}\][^\n]*\n?", re.MULTILINE)
# The op that failed, by the function that TensorFlow wrapped it into or that called it, and its device.
_FUNCTION = re.compile(r"^\s*\{\{function_node [^\n]*?\}\}\s*", re.MULTILINE)

# Where several replicas or branches fail, the words of each stand behind a line that counts them.
_SEVERAL = re.compile(r"\A\d+ root error\(s\) found\.\s*\(0\)\s*(?:[A-Z_]+:\s*)?")


def first_line(message: str) -> str:
    """The first line of the kernel's own words in `message`, of several errors of the first; empty for no words."""
    rows = _SEVERAL.sub("", essence(message)).split("\n")
    return next((row.strip() for row in rows if row.strip()), "")


def essence(message: str) -> str:
    """The kernel's own words in `message`; the whole message where it has another form."""
    message = message.removeprefix("<stack traces unavailable>\n")
    text = _STACKS.sub("", _BEFORE.sub("", message.replace("\r\n", "\n"), count=1), count=1)
    behind = _BEHIND.search(text)
    text = _FUNCTION.sub("", _NODE.sub("", text[: behind.start()] if behind else text)).strip()
    return text or message.strip()


def without_library_calls(rows: Sequence[str]) -> list[str]:
    """`rows` of a message, of a Python stack in it the calls of the program alone; the others are counted."""
    found: list[str] = []
    left, indent = 0, ""
    dropping = False

    def tell_left() -> None:
        nonlocal left
        if left:
            found.append(f"{indent}… {count_text(left, 'call')} in installed packages")
        left = 0

    for row in rows:
        call = _CALL.match(row)
        if call is not None:
            dropping = is_library(call["file"])
            indent = call["indent"]
            left += dropping
        elif row and not row.startswith(f"{indent} "):
            dropping = False
        if not dropping:
            tell_left()
            found.append(row)
    tell_left()
    return found
