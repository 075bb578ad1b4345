"""The names that a graph which TensorFlow ran has for what was fed to it, and the program's names of the same."""

from __future__ import annotations

import re

from tfdbg_cli.capture.sessions.hidden_ops import PREFIX

_DRAWN = f"{PREFIX}drawn/"
_ARGUMENT = re.compile(r"_arg_(.+)_(\d+)_\d+")  # of TensorFlow: the node that is fed, its output, a number


def drawn_name(node: str, slot: int) -> str:
    """The name of the op that hands on what is fed for output `slot` of `node`, once what leads there is over."""
    return f"{_DRAWN}{node}/{slot}"


def program_source(text: str) -> str:
    """The program's name of the tensor that `text` means, an input of a node that ran."""
    name = text.partition(":")[0]
    found = _ARGUMENT.fullmatch(name)
    if found is not None:
        node, slot = found[1], found[2]
    elif name.startswith(_DRAWN):
        node, _, slot = name.removeprefix(_DRAWN).rpartition("/")
    else:
        return text.removesuffix(":0")
    return node if slot == "0" else f"{node}:{slot}"
