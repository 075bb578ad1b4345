"""Names of what we add to functions, and the program's names in what TensorFlow tells of it.

A function that was rewritten, and an op that is computed once more, have the name of the original with a mark behind
it. So what TensorFlow says of them, in an error above all, can be said of the original.
"""

from __future__ import annotations

import re

_OWN = "tfdbg_"  # what begins so is no op of the program's
_MARK = f"__{_OWN}"
_MARKED = re.compile(rf"{_MARK}\d+_\d+")


def marked(name: str, number: int) -> str:
    """The beginning of a name for a thing of ours that stands for `name`; `_` and one more number come behind it."""
    return f"{name}{_MARK}{number}"


def in_place_of(node: str, slot: int) -> str:
    """The beginning of a name for a node of ours that is read in the place of an output of the program's `node`.

    TensorFlow sorts the terms of sums by the names of what gives them (`node`, `node:1`, `node:10`, `node:2`), and
    their order decides how they are rounded. Among other names, this one stands where that of the output does.
    """
    return f"{node}/{_OWN}{slot}."


def original_names(text: str) -> str:
    """`text` with the names that things of ours stand for in the place of theirs."""
    return _MARKED.sub("", text)


def has_new_name(name: str) -> bool:
    """Whether `name` is that of a thing of ours which stands for one of the program's."""
    return _MARK in name and _MARKED.search(name) is not None


def is_ours(name: str) -> bool:
    """Whether `name` is that of a node of ours in a function of the program's."""
    return name.startswith(_OWN) or f"/{_OWN}" in name or has_new_name(name)
