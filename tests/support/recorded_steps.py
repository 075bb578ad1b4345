"""A step of a program, recorded: what is on the disk of it afterwards."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import tfdbg_cli as tf_debug
from tfdbg_cli.formats.opening import open_path
from tfdbg_cli.model.runs import Run


def recorded(path: Path, step: Callable[[], object], times: int = 1, **options: Any) -> list[Run]:
    """The runs of more than two tensors of `step`, taken so many `times` and recorded in `path` with these `options`.

    They are those of `tfdbg_cli.record`.
    """
    tf_debug.record(path, every=1, **options)
    for _ in range(times):
        step()
    tf_debug.stop_recording()
    return [run for run in open_path(path).runs if len(run.tensors) > 2]
