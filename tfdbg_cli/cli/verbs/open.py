"""`tfdbg open`: looking at runs on disk."""

from __future__ import annotations

import argparse
import gc

from tfdbg_cli.api.launch_options import set_launch_options
from tfdbg_cli.cli.parser import Parser
from tfdbg_cli.cli.prompt import add_prompt_options, launch_options, look_at

HELP = "look at runs and graphs on disk"
_MANY_OBJECTS = 100_000


def prepare_parser(parser: Parser) -> None:
    """Take the path of a recording."""
    parser.description = "Look at runs, and graphs, on disk. TensorFlow is not needed."
    what = (
        "a recording, a dump directory of one run, a folder of many, a log directory of Debugger V2, a SavedModel, a"
        " checkpoint, or a file with a GraphDef, MetaGraphDef or RunMetadata"
    )
    parser.add_argument("path", metavar="PATH", help=what)
    add_prompt_options(parser)


def run(options: argparse.Namespace) -> int:
    """Open the prompt on the recording; 1 when a command failed.

    Raises:
        TfdbgError: there is nothing that can be opened.

    """
    # A recording is many small objects that stay: looking through them for garbage takes a tenth of the time.
    gc.set_threshold(_MANY_OBJECTS)
    from tfdbg_cli.formats.opening import open_path

    set_launch_options(launch_options(options))
    return look_at(open_path(options.path))
