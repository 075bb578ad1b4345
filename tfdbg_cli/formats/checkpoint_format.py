"""The format of checkpoints: one, by its index or by what TensorFlow calls it, or a folder of several."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.formats.recording.format import Examination, Format, NamedPath, RunsOnDisk
from tfdbg_cli.formats.recording.saved_runs import SavedRecording, SavedRuns
from tfdbg_cli.model.units import count_text

_NUMBERS = re.compile(r"\d+")


def _is_checkpoint(place: NamedPath) -> bool:
    return bool(_indices(place))


def _indices(place: NamedPath) -> list[Path]:
    """The indices of the checkpoints, by the numbers in their names."""
    from tfdbg_cli.formats.checkpoints.file_names import DATA, ENDING  # what reads a format is loaded for it only

    if place.is_file:
        return [place.path] if place.path.name.endswith(ENDING) else []
    with_data = {match["prefix"] for name in place.names if (match := DATA.match(name))}
    found = [name for name in place.names if name.endswith(ENDING) and name.removesuffix(ENDING) in with_data]
    return [place.path / name for name in sorted(found, key=_by_number)]


def _left_out(place: NamedPath) -> list[str]:
    """What to say of the checkpoints in a folder that have elements and no index, or an index and no elements."""
    from tfdbg_cli.formats.checkpoints.file_names import ENDING
    from tfdbg_cli.formats.checkpoints.incomplete import half_written

    if place.is_file:
        return []
    shown = {path.name for path in _indices(place)}
    lost = sorted({name for name in place.names if name.endswith(ENDING)} - shown)
    return [
        *(f"{name} is not listed: no file of its elements lies beside it." for name in lost),
        *(f"{name} is not listed: its index, {name}{ENDING}, is missing." for name in half_written(place.names)),
    ]


def _by_number(name: str) -> tuple[str, list[int]]:
    return _NUMBERS.sub("0", name), [int(number) for number in _NUMBERS.findall(name) if len(number) < 20]


def _open(place: NamedPath) -> RunsOnDisk:
    from tfdbg_cli.formats.checkpoints.reader import read_checkpoint

    numbered = list(enumerate(_indices(place), 1))
    return SavedRecording(SavedRuns(numbered, lambda key: read_checkpoint(*key)), _left_out(place))


def _is_part(place: NamedPath) -> TfdbgError | None:
    from tfdbg_cli.formats.checkpoints.file_names import DATA, ENDING, STATE
    from tfdbg_cli.formats.checkpoints.incomplete import last_named, old_checkpoint, without_index

    path = place.path
    if not place.is_file:
        named = last_named(path, place.names) if STATE in place.names else None
        return named or without_index(path, place.names)
    match = DATA.match(path.name)
    if match is None:
        return (last_named(path.parent, _beside(path)) if path.name == STATE else None) or old_checkpoint(path)
    index = path.with_name(match["prefix"] + ENDING)
    hint = f"Open {index.resolve()}." if index.is_file() else f"Its index, {index.name}, is missing: copy it, too."
    return TfdbgError(f"{path} holds the elements of a checkpoint.", hint=hint)


def lacking_checkpoint(path: Path) -> TfdbgError | None:
    """The error about what TensorFlow would call `path`, where nothing is, if files of such a checkpoint are."""
    from tfdbg_cli.formats.checkpoints.incomplete import old_checkpoint, without_index

    names = _beside(path)
    return without_index(path.parent, names, path.name) or (old_checkpoint(path, names) if names else None)


def _beside(path: Path) -> Sequence[str]:
    return NamedPath(path.parent).names


def _examine(place: NamedPath) -> Examination:
    from tfdbg_cli.formats.checkpoints.incomplete import COPY_AGAIN

    paths = _indices(place)
    found = [examined_checkpoint(number, path) for number, path in enumerate(paths, 1)]
    troubles = [(note, COPY_AGAIN) for note in _left_out(place)]
    what = "a checkpoint" if len(paths) == 1 else "a folder of checkpoints"
    return Examination(
        what,
        tuple(fact for facts, _ in found for fact in facts),
        (*troubles, *(one for _, wrong in found for one in wrong)),
    )


def examined_checkpoint(number: int, path: Path) -> tuple[Sequence[str], Sequence[tuple[str, str]]]:
    """What is in the checkpoint with the index `path`, and what is wrong with it: all checksums are compared."""
    from tfdbg_cli.formats.checkpoints.checkpoint_store import CheckpointStore
    from tfdbg_cli.formats.checkpoints.incomplete import COPY_AGAIN
    from tfdbg_cli.formats.checkpoints.reader import read_checkpoint

    try:
        run = read_checkpoint(number, path)
    except TfdbgError as error:
        return (), ((error.message, error.hint),)
    store = run.tensors
    assert isinstance(store, CheckpointStore)
    size = sum(store[at].nbytes or 0 for at in range(len(store)))
    variables = count_text(len(store), "variable")
    troubles = [(note, COPY_AGAIN) for note in run.notes if "cannot be read" in note]
    for at in range(len(store)):
        if damage := store.damage(at):
            troubles.append((f"{path.name}: {store[at].node}: {damage}", COPY_AGAIN))
    return (f"{run.call.title}: {variables}, {size:,} bytes.",), troubles


CHECKPOINTS = Format(
    "a checkpoint (NAME.index, or the folder it is in)", _is_checkpoint, _open, _is_part, _examine, noun="checkpoint"
)
