"""The command line of these programs."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable


def command(losses: Callable[[bool], Iterable[float]], about: str) -> None:
    """Print what `losses` gives; with `--mended` it computes the same without the bug."""
    parser = argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mended", action="store_true", help="compute the same without the bug")
    for number, loss in enumerate(losses(parser.parse_args().mended), 1):
        print(f"step {number}: loss {loss:.4g}")
