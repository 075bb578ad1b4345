"""`print_feed`: what a run was fed."""

from __future__ import annotations

import argparse

from tfdbg_cli.commands.context import Context
from tfdbg_cli.commands.registry import Argument, ArgumentKind, Command
from tfdbg_cli.commands.views.values.feed_page import feed_document
from tfdbg_cli.commands.views.values.value_view import VALUE_ARGUMENTS
from tfdbg_cli.document.document import Document


def _print_feed(context: Context, options: argparse.Namespace) -> Document:
    return feed_document(context, options, options.feed)


COMMAND = Command(
    "print_feed",
    ("pf",),
    "Print what the run was fed.",
    _print_feed,
    (
        Argument(("feed",), "the name of the feed; a slice may follow", ArgumentKind.FEED),
        Argument(("-n", "--number"), "as for tensors; a feed has one value, number 0", metavar="K", type=int),
        *VALUE_ARGUMENTS,
    ),
    details="""\
Lists and numbers are shown as the arrays that TensorFlow makes of them, before it casts them to the placeholder's
type. A sparse feed shows its values, indices and shape; -w writes the three as .npz.

Examples:
  pf x:0 -s
  pf 'x:0[0, :]'
  pf labels -w labels.npy""",
)
