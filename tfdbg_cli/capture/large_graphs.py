"""What is said before a large graph is prepared, which takes seconds: nobody is to take that for a hang."""

from __future__ import annotations

from enum import StrEnum

from tfdbg_cli.capture.failures import remark

RUN = "The graph of this run"
_LARGE = 5_000  # ops for which TensorFlow's compiler and we take five seconds, together
_VERY_LARGE = 10_000  # where proving that checks change nothing may take several rounds
_IN_A_SECOND = 1_000  # ops that are prepared where the processor has nothing else to do; LSTMs of 8,122 took 8 s
_STEP = 5  # seconds; a finer figure would say more than anybody knows
_ROUNDS = 4


class Preparation(StrEnum):
    """What is prepared."""

    CHECKS = "its checks"
    VALUES = "the values of all of them"


def announce(name: str, ops: int, preparation: Preparation) -> None:
    """Say, once, that a graph called `name` is being prepared, if it has so many `ops` that this takes seconds."""
    if ops >= _LARGE:
        least = _STEP * -(-ops // (_STEP * _IN_A_SECOND))
        time = f"about {least} seconds" if ops < _VERY_LARGE else f"{least} to {_ROUNDS * least} seconds"
        busy = "on a busy machine several times as long"
        remark(f"{name} has {ops:,} ops: preparing {preparation} takes {time}, once; {busy}.")
