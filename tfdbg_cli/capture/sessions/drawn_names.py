"""The names by which a graph that TensorFlow ran calls what was fed to it, told as the program's."""

from __future__ import annotations

import re

from tfdbg_cli.capture.sessions.hidden_ops import PREFIX

_DRAWN = f"{PREFIX}drawn/"
_ARGUMENT = re.compile(r"_arg_(.+)_(\d+)_\d+")  # of TensorFlow: the node that is fed, its output, a number


def drawn_name(node: str, slot: int) -> str:
    """That of the op which hands on what is fed for output `slot` of `node`, once what leads there is over."""
    return f"{_DRAWN}{node}/{slot}"


def program_source(text: str) -> str:
    """The tensor of the program that is meant by `text`, an input of a node that was run."""
    name = text.partition(":")[0]
    found = _ARGUMENT.fullmatch(name)
    if found is not None:
        node, slot = found[1], found[2]
    elif name.startswith(_DRAWN):
        node, _, slot = name.removeprefix(_DRAWN).rpartition("/")
    else:
        return text.removesuffix(":0")
    return node if slot == "0" else f"{node}:{slot}"
