"""`tfdbg replay`: making the run of a bundle again, and looking at it."""

from __future__ import annotations

import argparse

from tfdbg_cli.api.launch_options import set_launch_options
from tfdbg_cli.cli.parser import Parser
from tfdbg_cli.cli.prompt import add_prompt_options, look_at, options_given
from tfdbg_cli.process.streams import to_stderr

HELP = "make the run of a bundle again and look at it"


def prepare_parser(parser: Parser) -> None:
    """Take the path of a bundle, and how it is to be made again."""
    parser.description = (
        "Make the run of a bundle again, on copies of its variables, and look at its values."
        " The exit code is 1 when it does not come out as it was. A bundle whose ops may reach files, the network,"
        " Python or other processes is refused unless it is trusted."
    )
    parser.add_argument("path", metavar="BUNDLE", help="a folder that `bundle`, `run --bundle` or `record` wrote")
    parser.add_argument("--trust", action="store_true", help="run what may reach outside, too: I know who made it")
    parser.add_argument("--eager", action="store_true", help="walk through it, op by op")
    add_prompt_options(parser)


def run(options: argparse.Namespace) -> int:
    """Open the prompt on the run made again; 1 when a command failed, or the run came out otherwise.

    Raises:
        TfdbgError: there is no bundle, or its run cannot be made again.

    """
    from tfdbg_cli.cli.replay import STEPPER, replayed, steps_of

    if options.eager:
        options.commands = options.commands and [STEPPER, *options.commands]
        set_launch_options(options_given(options))
        return look_at(steps_of(options.path, trust=options.trust))
    set_launch_options(options_given(options))
    made = replayed(options.path, trust=options.trust)
    if options.commands or options.json or options.ui == "none":
        to_stderr(made.said)  # others see it on the first screen
    return look_at(made.stop) or (0 if made.same else 1)
