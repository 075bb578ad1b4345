"""What a user names to compare variables with: a checkpoint, or a file with graphs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tfdbg_cli.analysis.known_variables import KnownVariables
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.formats.opening import open_path
from tfdbg_cli.model.calls import RunKind
from tfdbg_cli.model.runs import Opened, Run
from tfdbg_cli.model.units import count_text


@dataclass(frozen=True)
class VariableSide:
    """Some variables, what they are called on a page, and what is to be said of where they are from."""

    variables: KnownVariables
    name: str
    notes: Sequence[str] = ()

    @property
    def noun(self) -> str:
        """What holds them, in words."""
        kind = self.variables.run.call.kind
        return {RunKind.CHECKPOINT: "the checkpoint", RunKind.GRAPH: "the graph"}.get(kind, "the run")


def saved_checkpoint(path: str) -> tuple[Opened, VariableSide]:
    """The checkpoint at `path`, of a folder with several the last one, of a SavedModel its variables.

    Raises:
        TfdbgError: there is no checkpoint.

    """
    opened = open_path(path)
    if not opened.runs or opened.runs[-1].call.kind is not RunKind.CHECKPOINT:
        hint = f"`tfdbg doctor {path}` says what is there."
        raise TfdbgError(f"{path} is no checkpoint.", hint=hint)
    checkpoints = [run for run in opened.runs if run.call.kind is RunKind.CHECKPOINT]
    notes = [*opened.notes] if len(checkpoints) == len(opened.runs) else []
    if len(checkpoints) > 1:
        notes.append(f"The last of {count_text(len(checkpoints), 'checkpoint')} in {path}.")
    return opened, _side(checkpoints[-1], path, notes)


def saved_variables(path: str) -> VariableSide:
    """The variables of what lies at `path`: of a checkpoint, of the graph in a file, of the last recorded run.

    Raises:
        TfdbgError: there is nothing that can be opened, or no run in it.

    """
    opened = open_path(path)
    if not opened.runs:
        raise TfdbgError(f"There is no run in {path}.")
    first = opened.runs[0]
    if first.call.kind is RunKind.GRAPH:
        return _side(first, path, ())
    return _side(opened.runs[-1], path, ())


def _side(run: Run, path: str, notes: Sequence[str]) -> VariableSide:
    return VariableSide(
        KnownVariables(run), path, (*notes, *run.notes) if run.call.kind is RunKind.CHECKPOINT else notes
    )
