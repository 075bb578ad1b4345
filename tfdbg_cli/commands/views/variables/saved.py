"""What a user names to compare variables with: a checkpoint, or a file with graphs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from tfdbg_cli.analysis.known_variables import KnownVariables
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.formats.checkpoints.incomplete import COPY_AGAIN
from tfdbg_cli.formats.opening import open_path
from tfdbg_cli.model.calls import RunKind
from tfdbg_cli.model.restoring import SavedObject
from tfdbg_cli.model.runs import Opened, Run
from tfdbg_cli.model.units import count_text

_UNREADABLE = "cannot be read"  # what a note about a checkpoint says of a part that is damaged
_OF_KERAS = (".keras", ".h5", ".hdf5")


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

    @property
    def damages(self) -> Sequence[str]:
        """The notes of a checkpoint that tell of damage to what lists the variables, or tells how they are called."""
        run = self.variables.run
        is_checkpoint = run.call.kind is RunKind.CHECKPOINT
        return [note for note in run.notes if _UNREADABLE in note] if is_checkpoint else []

    @property
    def gaps(self) -> Sequence[str]:
        """Those about the index: the checkpoint may have more variables than are known."""
        index = Path(self.variables.run.origin_path).name
        return [note for note in self.damages if note.startswith(f"{index}:")]


def saved_checkpoint(path: str) -> VariableSide:
    """The checkpoint at `path`, of a folder with several the last one, of a SavedModel its variables.

    Raises:
        TfdbgError: there is no checkpoint, or none of its variables is known.

    """
    opened = _opened(path)
    if not opened.runs or opened.runs[-1].call.kind is not RunKind.CHECKPOINT:
        hint = f"`tfdbg doctor {path}` says what is there."
        raise TfdbgError(f"{path} is no checkpoint.", hint=hint)
    checkpoints = [run for run in opened.runs if run.call.kind is RunKind.CHECKPOINT]
    notes = [*opened.notes] if len(checkpoints) == len(opened.runs) else []
    if len(checkpoints) > 1:
        notes.append(f"The last of {count_text(len(checkpoints), 'checkpoint')} in {path}.")
    side = _side(checkpoints[-1], path, notes)
    if not side.variables.rows and side.gaps:
        raise TfdbgError(f"No variable of {path} is known: {side.gaps[0]}", hint=COPY_AGAIN)
    return side


def saved_variables(path: str) -> VariableSide:
    """The variables of what lies at `path`: of a checkpoint, of the graph in a file, of the last recorded run.

    Raises:
        TfdbgError: there is nothing that can be opened, or no run in it.

    """
    opened = _opened(path)
    if not opened.runs:
        raise TfdbgError(f"There is no run in {path}.", hint=f"`tfdbg doctor {path}` says what is there.")
    kinds = {run.call.kind for run in (opened.runs[0], opened.runs[-1])}
    if RunKind.CHECKPOINT in kinds:
        return saved_checkpoint(path)
    return _side(opened.runs[0 if RunKind.GRAPH in kinds else -1], path, ())


def put_together(side: VariableSide, checkpoint: VariableSide) -> VariableSide:
    """`side` with one variable for the parts of each that `checkpoint` holds whole, and a note that says so.

    The parts of a run are left as they are: they have values, of which that one would have none.
    """
    known = side.variables
    if known.run.call.kind is not RunKind.GRAPH:
        return side
    found = known.with_wholes(checkpoint.variables.rows)
    if found is known:
        return side
    single = {one.name for one in known.rows}
    wholes = [one.name for one in found.rows if one.name not in single]
    parts = count_text(len(known.rows) - len(found.rows) + len(wholes), "part")
    which = wholes[0] if len(wholes) == 1 else count_text(len(wholes), "partitioned variable")
    note = f"Put together, as the checkpoint holds them: {parts} of {which}."
    return replace(side, variables=found, notes=(*side.notes, note))


def objects_behind(side: VariableSide) -> Sequence[SavedObject]:
    """The objects that a checkpoint was written from; none where it was written by names.

    Raises:
        TfdbgError: they cannot be read.

    """
    from tfdbg_cli.formats.checkpoints.reader import saved_objects

    return saved_objects(Path(side.variables.run.origin_path))


def _opened(path: str) -> Opened:
    try:
        return open_path(path)
    except TfdbgError as error:
        if Path(path).is_file() and path.lower().endswith(_OF_KERAS):
            text = f"{path} is a file of Keras, which tfdbg does not read: its weights lie in HDF5."
            hint = "Load it, and write tf.train.Checkpoint(model=model).write('NAME'): that is read."
            raise TfdbgError(text, hint=hint) from error
        raise


def _side(run: Run, path: str, notes: Sequence[str]) -> VariableSide:
    own = run.notes if run.call.kind is RunKind.CHECKPOINT else ()
    return VariableSide(KnownVariables(run), path, (*notes, *own))
