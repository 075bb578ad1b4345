"""Values that outlive the files they lie in."""

from __future__ import annotations

from dataclasses import replace

from tfdbg_cli.formats.dumps.store import DumpTensorStore
from tfdbg_cli.model.runs import Run
from tfdbg_cli.model.tensors import MemoryTensorStore


def in_memory(run: Run) -> Run:
    """`run` with its values in memory, where they lie in a dump that is deleted when the run is done with.

    The snapshot from before it, which would take as much memory again for every run, is let go.
    """
    run = replace(run, replayable=None, steppable=None)
    store = run.tensors
    if not isinstance(store, DumpTensorStore):
        return run
    rows = range(len(store))
    return replace(run, tensors=MemoryTensorStore([store[row] for row in rows], [store.value(row) for row in rows]))
