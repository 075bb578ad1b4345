"""`python -m bench [--rounds N]`: every measurement, or those named."""

from __future__ import annotations

import argparse
import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

_ALL = ("session", "calls", "opening", "gpt")


def main() -> None:
    """Run the measurements named on the command line."""
    parser = argparse.ArgumentParser(prog="bench", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(_ALL)}; all without a name")
    parser.add_argument("--rounds", type=int, default=20)
    options = parser.parse_args()
    for name in options.names or _ALL:
        if name == "function":
            from bench.function import measure as measure_function

            measure_function(max(5, options.rounds // 2))
        elif name == "session":
            from bench.session import measure

            measure(options.rounds)
        elif name == "calls":
            from bench.session import measure_calls

            measure_calls(options.rounds)
        elif name == "opening":
            from bench.opening import measure as measure_opening

            measure_opening(options.rounds)
        elif name == "gpt":
            from bench.gpt import measure as measure_gpt

            measure_gpt(options.rounds)
        else:
            parser.error(f"there is no measurement {name!r}; there are {', '.join(_ALL)}")


if __name__ == "__main__":
    main()
