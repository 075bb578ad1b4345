"""`tfdbg open`: looking at runs on disk."""

from __future__ import annotations

import argparse
import atexit
import gc
import time
from typing import TYPE_CHECKING

from tfdbg_cli.api.launch_options import set_launch_options
from tfdbg_cli.cli.parser import Parser
from tfdbg_cli.cli.prompt import add_prompt_options, look_at, options_given
from tfdbg_cli.cli.waiting import waited_for
from tfdbg_cli.errors import NothingYetError
from tfdbg_cli.plain_text import safe
from tfdbg_cli.process.streams import to_stderr

if TYPE_CHECKING:
    from tfdbg_cli.model.runs import Opened

HELP = "look at runs and graphs on disk"
_MANY_OBJECTS = 100_000
_INTERVAL = 0.5  # seconds between two looks for a first run


def prepare_parser(parser: Parser) -> None:
    """Take the path of a recording."""
    parser.description = "Look at runs, and graphs, on disk. TensorFlow is not needed."
    what = (
        "a recording, of one program or of the workers of a job, a dump directory of one run, a folder of many, a"
        " log directory of Debugger V2, a SavedModel, a checkpoint, a profile (NAME.xplane.pb, or the log directory),"
        " or a file with a GraphDef, MetaGraphDef or RunMetadata; also by an address such as gs://BUCKET/RUN, where"
        " fsspec is installed"
    )
    parser.add_argument("path", metavar="PATH", help=what)
    parser.add_argument(
        "--follow",
        action="store_true",
        help="show new runs as they are written: of a recording, of workers, or a log directory of Debugger V2; waits"
        " for the first one",
    )
    add_prompt_options(parser)


def run(options: argparse.Namespace) -> int:
    """Open the prompt on the recording; 1 when a command failed.

    Raises:
        TfdbgError: there is nothing that can be opened.

    """
    # A recording is many small objects that stay: looking through them for garbage takes a tenth of the time.
    gc.set_threshold(_MANY_OBJECTS)
    # What is there when Python ends goes with it: looking through that for garbage takes a fifth of the time, too,
    # and to free it piece by piece a tenth. A circle that is frozen is not freed.
    atexit.register(gc.freeze)
    from tfdbg_cli.formats.opening import open_path

    set_launch_options(options_given(options))
    path = options.path
    opened = _followed(path) if options.follow else waited_for(path, lambda: open_path(path))
    kept: list[object] = [opened]
    kept.append(kept)
    return look_at(opened)


def _followed(path: str) -> Opened:
    """The recording at `path`, as soon as there is a run in it.

    Raises:
        TfdbgError: what is there cannot be opened, or does not grow.

    """
    from tfdbg_cli.formats.opening import open_followed

    said = False
    while True:
        try:
            return waited_for(path, lambda: open_followed(path))
        except NothingYetError as error:
            if not said:
                to_stderr(f"{safe(error.message)} Waiting for the first one; Ctrl-C ends.")
                said = True
        time.sleep(_INTERVAL)
