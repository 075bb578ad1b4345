"""`python -m bench [--rounds N] [NAME…]`: every measurement, or those named."""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Mapping

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")


def _session(rounds: int) -> None:
    from bench import session

    session.measure(rounds)
    session.measure_calls(rounds)


def _function(rounds: int) -> None:
    from bench import function

    function.measure("function", max(5, rounds // 2))
    function.measure_calls(rounds)


def _preparation(rounds: int) -> None:
    from bench import preparation, session_preparation

    preparation.measure(rounds)
    session_preparation.measure()


def _fit(rounds: int) -> None:
    from bench import function

    function.measure("fit", max(5, rounds // 4))


def _eager(rounds: int) -> None:
    from bench import eager

    eager.measure(rounds)


def _opening(rounds: int) -> None:
    from bench import opening

    opening.measure(rounds)


def _recordings(rounds: int) -> None:
    from bench import recordings

    recordings.measure(rounds)


def _recording(rounds: int) -> None:
    from bench import recording

    recording.measure(max(5, rounds // 3))


def _recording_curves(rounds: int) -> None:
    from bench import recording_curves

    recording_curves.measure(rounds)


def _screen(rounds: int) -> None:
    from bench import screen

    screen.measure(rounds)


def _screen_of_keras(rounds: int) -> None:
    from bench import screen

    screen.measure_deep_model(rounds)


def _screen_at_a_million(_: int) -> None:
    from bench import screen_at_a_million

    screen_at_a_million.measure()


def _memory(_: int) -> None:
    from bench import memory

    memory.measure()


MEASUREMENTS: Mapping[str, Callable[[int], None]] = {
    "session": _session,
    "function": _function,
    "preparation": _preparation,
    "fit": _fit,
    "eager": _eager,
    "memory": _memory,
    "opening": _opening,
    "recording": _recording,
    "recordings": _recordings,
    "recording_curves": _recording_curves,
    "screen": _screen,
    "screen_of_keras": _screen_of_keras,
    "screen_at_a_million": _screen_at_a_million,
}


def main() -> None:
    """Run the measurements named on the command line."""
    parser = argparse.ArgumentParser(prog="bench", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(MEASUREMENTS)}; all without a name")
    parser.add_argument("--rounds", type=int, default=20)
    options = parser.parse_args()
    unknown = [name for name in options.names if name not in MEASUREMENTS]
    if unknown:
        parser.error(f"there is no measurement {unknown[0]!r}; there are {', '.join(MEASUREMENTS)}")
    for name in options.names or MEASUREMENTS:
        MEASUREMENTS[name](options.rounds)


if __name__ == "__main__":
    main()
