"""Values that outlive the files they lie in."""

from __future__ import annotations

from dataclasses import replace

from tfdbg_cli.capture.stores import gathered, rows_of
from tfdbg_cli.formats.dumps.store import DumpTensorStore
from tfdbg_cli.model.runs import Run


def in_memory(run: Run) -> Run:
    """`run` with its values in memory if they are in a dump, since that is deleted when the run is over.

    The snapshot from before the run is dropped: kept for every run, these would take as much memory again.
    """
    run = replace(run, replayable=None, steppable=None)
    return replace(run, tensors=gathered(rows_of(run.tensors))) if isinstance(run.tensors, DumpTensorStore) else run
