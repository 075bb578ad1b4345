"""The command line that the examples share."""

from __future__ import annotations

import argparse


def flag_parser(description: str | None, max_steps: int | None = None) -> argparse.ArgumentParser:
    """A parser with --debug, --ui_type and --dump_root; with --max_steps when it has a default."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.ArgumentDefaultsHelpFormatter)
    parser.add_argument(
        "--debug",
        type=_switch,
        nargs="?",
        const=True,
        default=False,
        metavar="BOOL",
        help="have tfdbg debug it",
    )
    parser.add_argument(
        "--ui_type", choices=("curses", "readline"), help="full screen or line prompt; without it tfdbg chooses"
    )
    parser.add_argument(
        "--dump_root", metavar="DIR", help="an empty folder for what tfdbg dumps; without it a temporary one"
    )
    if max_steps is not None:
        parser.add_argument("--max_steps", type=int, default=max_steps, metavar="N", help="training steps")
    return parser


def _switch(text: str) -> bool:
    if text.lower() not in {"true", "false"}:
        raise argparse.ArgumentTypeError(f"true or false, not {text!r}")
    return text.lower() == "true"
