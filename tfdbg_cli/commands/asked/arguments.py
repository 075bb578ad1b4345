"""Arguments that several commands take."""

from __future__ import annotations

from tfdbg_cli.commands.registry import Argument, ArgumentKind

NODE_ARGUMENT = Argument(("node_name",), "a node, or one of its tensors", ArgumentKind.NODE, metavar="NODE")
DEVICE_ARGUMENT = Argument(
    ("--device",),
    "which one, when several devices have a node of this name",
    ArgumentKind.DEVICE,
    metavar="REGEX",
    default="",
)
FOLD_ARGUMENTS = (
    Argument(
        ("--unfold",),
        "show what is in this scope, from now on; * unfolds all",
        ArgumentKind.LAYER,
        metavar="SCOPE",
        default="",
    ),
    Argument(("--levels",), "with --unfold: so many levels of what is in it", metavar="N", type=int),
    Argument(
        ("--fold",),
        "show this scope as one row, from now on; * folds all",
        ArgumentKind.LAYER,
        metavar="SCOPE",
        default="",
    ),
)


def excluded_nodes(words: str) -> Argument:
    """The argument that leaves nodes out by a regular expression; `words` say what of."""
    return Argument(("-fenn", "--filter_exclude_node_names"), words, ArgumentKind.NODE, metavar="REGEX", default="")
