"""Writing a bundle: the recording of a run, and what it takes to make the run again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.formats.bundles import layout
from tfdbg_cli.formats.bundles.environment import environment_now
from tfdbg_cli.formats.bundles.script import script_of
from tfdbg_cli.formats.bundles.values import digest, file_size, value_bytes, value_digest
from tfdbg_cli.formats.dumps.writer import fill_dump
from tfdbg_cli.formats.recording.json_fields import json_bytes
from tfdbg_cli.formats.recording.writing import refuse_existing, whole_directory
from tfdbg_cli.model.names import node_of
from tfdbg_cli.model.replay import ReplayInput, ReplaySpec
from tfdbg_cli.model.runs import Run
from tfdbg_cli.model.statistics import any_nonfinite
from tfdbg_cli.model.tensors import Shape, nbytes_of
from tfdbg_cli.model.values import NoValue
from tfdbg_cli.version import versions

# Tells the tensors of a run that are bad, by their rows, the one first that is to blame.
Blame: TypeAlias = Callable[[Run], Sequence[int]]

_PER_TENSOR = 512  # bytes of a file's head, and of its entry in the folder


def not_finite(run: Run) -> Sequence[int]:
    """The rows of the tensors of `run` that are not finite, in order, intended or not."""
    values = ((row, run.tensors.value(row)) for row in range(len(run.tensors)))
    return [row for row, value in values if not isinstance(value, NoValue) and any_nonfinite(value)]


def write_bundle(
    run: Run, replay_spec: ReplaySpec, directory: Path, *, blame: Blame | None = None, replace: bool = False
) -> tuple[str, ...]:
    """Write `run` and `replay_spec` as the bundle `directory`; sentences about what had to be left out are returned.

    With `replace` a bundle that is there already gives way, when the new one is complete; nothing else does. What
    `blame` names first the bundle says went wrong first; without it that is the first tensor that is not finite.

    Raises:
        TfdbgError: there is something at `directory` already, an input cannot be written, the disk is full, or the
            folder cannot be written to.

    """
    refuse_unless_free(directory, replace=replace)
    with whole_directory(directory) as place:
        notes = fill_dump(run, place, directory)
        write_replay(place / layout.REPETITION_DIRECTORY, replay_spec, run, blame)
    return notes


def refuse_unless_free(directory: Path, *, replace: bool = False) -> None:
    """Refuse to write a bundle where something is already, but for an empty folder and, to `replace`, a bundle.

    Raises:
        TfdbgError: there is something at `directory`, or nobody may look.

    """
    if not layout.is_bundle(directory):
        refuse_existing(directory)
    elif not replace:
        raise TfdbgError(
            f"There is a bundle at {directory} already.", hint="Choose another folder; --force replaces the bundle."
        )


def bundle_size(run: Run, replay_spec: ReplaySpec | None) -> int:
    """About how many bytes the bundle (without a repetition: the recording) of `run` takes."""
    tensors = (run.tensors[index].nbytes or 0 for index in range(len(run.tensors)))
    feeds = (value for value in run.call.feeds.values() if isinstance(value, np.ndarray))
    total = sum(size + _PER_TENSOR for size in tensors) + sum(map(nbytes_of, feeds))
    if replay_spec is None:
        return total
    return total + len(replay_spec.graph) + sum(file_size(item.value, item.dtype) for item in replay_spec.inputs)


def write_replay(place: Path, replay_spec: ReplaySpec, run: Run, blame: Blame | None) -> None:
    """Write the files of formats/bundles/layout.py into the new folder `place`.

    Raises:
        TfdbgError: an input has a type that cannot be written.
        OSError: a file cannot be written.

    """
    inputs = place / layout.INPUTS
    inputs.mkdir(parents=True)
    found = _first_bad(run, blame or not_finite)
    fields = {
        "format": layout.FORMAT,
        "kind": replay_spec.kind,
        "entry": replay_spec.entry,
        "fetches": list(replay_spec.fetches),
        "inputs": [_write_input(inputs / str(i), item) for i, item in enumerate(replay_spec.inputs)],
        "limits": list(replay_spec.limits),
        "details": dict(replay_spec.details),
        "graph": {"bytes": len(replay_spec.graph), "sha256": digest(replay_spec.graph)},
        "first_bad": found,
        "judged": blame is not None,
        "versions": versions(),
        "environment": environment_now(),
    }
    (place / layout.GRAPH).write_bytes(replay_spec.graph)
    (place / layout.REPETITION).write_bytes(json_bytes(fields))
    script = script_of(replay_spec, run, _fetchable(run, found))
    (place / layout.SCRIPT).write_text(script, encoding="utf-8", errors="backslashreplace")


def _write_input(path: Path, item: ReplayInput) -> dict[str, Any]:
    try:
        content = value_bytes(item.value, item.dtype)
    except ValueError as error:
        raise TfdbgError(f"The value of {item.name!r} cannot be written: {error}.", exit_code=2) from error
    path.write_bytes(content)
    shape: Shape = item.value.shape
    return {
        "name": item.name,
        "role": item.role,
        "dtype": item.dtype,
        "shape": list(shape),
        "node": item.node,
        "sha256": digest(content),
    }


def _first_bad(run: Run, blame: Blame) -> dict[str, Any] | None:
    """What went wrong first: a replay is compared with it, and the script of a session fetches it."""
    rows = blame(run)
    if not rows:
        return None
    tensor, value = run.tensors[rows[0]], run.tensors.value(rows[0])
    assert not isinstance(value, NoValue)
    return {
        "tensor": str(tensor.name),
        "execution": tensor.execution,
        "device": tensor.device,
        "op_type": tensor.op_type,
        "sha256": value_digest(value, ""),
    }


def _fetchable(run: Run, found: dict[str, Any] | None) -> str:
    """The tensor that went wrong first, if a session can be asked for it; else nothing."""
    if found is None or found["execution"]:
        return ""
    name = str(found["tensor"])
    return name if node_of(name) in run.graph and found["op_type"] != "UpdatedVariable" else ""
