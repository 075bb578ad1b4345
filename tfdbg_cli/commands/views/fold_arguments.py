"""The arguments by which a list that is a tree folds."""

from __future__ import annotations

from tfdbg_cli.commands.registry import Argument, ArgumentKind

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
