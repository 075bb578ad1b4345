"""The tensors of a batch that a user asks for by what Keras calls them: `x`, `y`, `sample_weight`."""

from __future__ import annotations

from dataclasses import replace

from tfdbg_cli.analysis.batch.batch_roles import BatchRole
from tfdbg_cli.analysis.batch.components import components
from tfdbg_cli.analysis.batch.given_batch import given_batch
from tfdbg_cli.commands.syntax import quoted
from tfdbg_cli.model.runs import Run

_CALLED = {"x": BatchRole.INPUTS, "y": BatchRole.TARGETS, "sample_weight": BatchRole.WEIGHTS}


def batch_part_hint(run: Run, text: str) -> str:
    """Which tensors of `run` the part of the batch is that Keras calls `text`, in a sentence; empty for none."""
    role = _CALLED.get(text)
    batch = None if role is None else given_batch(run)
    if role is None or batch is None:
        return ""
    parts = components(run, replace(batch, rows=(0,)))  # any row: what stands row for row with it is the same
    names = [quoted(part.name) for part in parts if part.role == role.value]
    return f"In the batch of this run {role.value} are {' and '.join(names)}." if names else ""
