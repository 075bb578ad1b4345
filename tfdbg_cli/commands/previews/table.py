"""What commands lead to, at a glance: a row for each command whose answer has a preview."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from tfdbg_cli.commands.context import Context
from tfdbg_cli.commands.previews.batch import batch_preview, row_preview
from tfdbg_cli.commands.previews.feed import feed_preview
from tfdbg_cli.commands.previews.layer import is_layer, layer_preview
from tfdbg_cli.commands.previews.node import node_preview
from tfdbg_cli.commands.previews.source import source_preview
from tfdbg_cli.commands.previews.tensor import tensor_preview
from tfdbg_cli.commands.previews.trend import trend_preview
from tfdbg_cli.document.document import Document


@dataclass(frozen=True, slots=True)
class Preview:
    """`make` gives the preview for the options of the command; it must be quick: values are counted and drawn later.

    Where nothing is chosen on a page the page itself is previewed, if `on_page`. `stays` says that this preview
    stands above those of what is chosen, too. Of options that it does not take there is none;
    `needs` says what it takes.
    """

    make: Callable[[Context, argparse.Namespace], Document]
    on_page: bool = True
    stays: bool = False
    takes: Callable[[argparse.Namespace], bool] = lambda options: True
    needs: str = ""


# By the name of the command.
PREVIEWS: Mapping[str, Preview] = {
    "print_tensor": Preview(tensor_preview),
    "print_feed": Preview(feed_preview),
    "node_info": Preview(node_preview),
    "print_source": Preview(source_preview, on_page=False),
    "origin": Preview(batch_preview, stays=True),
    "row": Preview(row_preview),
    "list_tensors": Preview(layer_preview, on_page=False, takes=is_layer, needs=" -l LAYER"),
    "trends": Preview(trend_preview, on_page=False),
}
