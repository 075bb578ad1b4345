"""What an error of TensorFlow says, without the stacks that it carries in its message."""

from __future__ import annotations

import re

# `Session.run` puts "Graph execution error", the stack of the op and `Node: 'x'` before the words of the kernel, and
# another account of the stack behind them (client/session.py, framework/error_interpolation.py).
_BEFORE = re.compile(r"\AGraph execution error:.*?^Node: '[^'\n]*'\n", re.DOTALL | re.MULTILINE)
# A function puts the stack of the op alone there (framework/error_interpolation.py): its lines are indented.
_STACKS = re.compile(
    r"\A(?:Graph execution error:\s*)?(?:Detected at node [^\n]*\(most recent call last\):\n(?:[ \t][^\n]*\n|\n)*)+"
)
_BEHIND = re.compile(r"\n\s*\n(Original stack trace for |Errors may have originated from an input operation)")
_NODE = re.compile(r"^\s*\[\[\{\{node [^\n]*\}\}\][^\n]*\n?", re.MULTILINE)


def essence(message: str) -> str:
    """The kernel's own words in `message`; the whole message where it has another form."""
    text = _STACKS.sub("", _BEFORE.sub("", message.replace("\r\n", "\n"), count=1), count=1)
    behind = _BEHIND.search(text)
    text = _NODE.sub("", text[: behind.start()] if behind else text).strip()
    return text or message.strip()
