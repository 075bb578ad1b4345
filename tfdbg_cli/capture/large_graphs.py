"""What is said before a large graph is prepared, which takes seconds: nobody is to take that for a hang."""

from __future__ import annotations

from enum import StrEnum

from tfdbg_cli.capture.failures import remark

RUN = "The graph of this run"
_LARGE = 5_000  # ops for which TensorFlow's compiler and we take some two seconds, together
_VERY_LARGE = 10_000  # where proving that checks change nothing may take several rounds


class Preparation(StrEnum):
    """What is prepared."""

    CHECKS = "its checks"
    VALUES = "the values of all of them"


def announce(name: str, ops: int, preparation: Preparation) -> None:
    """Say, once, that a graph called `name` is being prepared, if it has so many `ops` that this takes seconds."""
    if ops >= _LARGE:
        time = "some seconds" if ops < _VERY_LARGE else "up to a minute"
        remark(f"{name} has {ops:,} ops: preparing {preparation} takes {time}, once.")
