"""Times of the ops of one run (`run -p`)."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class NodeTime:
    """One execution of one node: when it started and how long it took, in microseconds.

    `start_us` counts from the first op of the run. `op_us` is the computation alone, `exec_us` with scheduling
    before and after it, as in TensorFlow's NodeExecStats (op_end_rel - op_start_rel, all_end_rel).
    """

    node: str
    op_type: str
    device: str
    start_us: float
    op_us: float
    exec_us: float


@dataclass(frozen=True, slots=True)
class Profile:
    """Every timed node of a run, in order of start."""

    times: tuple[NodeTime, ...]
