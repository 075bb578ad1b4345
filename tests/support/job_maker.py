"""Folders in which workers recorded, without any program."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from support.made_run import made_run, op
from tfdbg_cli.formats.container.writer import RecordingWriter
from tfdbg_cli.formats.jobs.root import folder_for
from tfdbg_cli.model.calls import RunKind
from tfdbg_cli.model.runs import Run


def step(number: int, value: float = 1.0) -> Run:
    """A step of a training: a weight, and a gradient that is `value`."""
    run = made_run(
        op("weight", "Const", value=np.float32([1, 2])), op("gradient", "Const", value=np.float32([value, 0]))
    )
    call = replace(run.call, number=number, kind=RunKind.FUNCTION, function="train_step")
    return replace(run, call=call)


def record_job(root: Path, steps: Mapping[str, Sequence[int]]) -> Path:
    """Have each worker record its steps; those of equal places were written one after the other."""
    writers = {worker: RecordingWriter(folder_for(root, worker)) for worker in steps}
    for place in range(max(map(len, steps.values()))):
        for worker, numbers in steps.items():
            if place < len(numbers):
                writers[worker].write(step(numbers[place]))
    for writer in writers.values():
        writer.close()
    return root
