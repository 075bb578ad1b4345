"""What a case says of the tensors of its dump: which files there were, and tensors whose names no file can have."""

from __future__ import annotations

import os
from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tfdbg_cli.formats.dumps import case_layout as layout
from tfdbg_cli.formats.dumps.device_names import device_of
from tfdbg_cli.formats.dumps.listing import DumpFile, parse_dump_name, readable
from tfdbg_cli.formats.recording.json_fields import items, text, whole
from tfdbg_cli.model.values import Lack, NoValue

_MOST_LISTED = 20_000  # files whose names are written down; of more, a list would take as long to read as the dump
MISSING = NoValue(Lack.DAMAGED, "The file of this tensor is missing.")


@dataclass(frozen=True)
class CaseTensors:
    """The files of a dump, as they were when it was written.

    `files` are those named after their tensors, by path in the dump; None where they were not written down. `others`
    are tensors whose names cannot be names of files: they lie in the case folder, by number.
    """

    files: frozenset[str] | None = None
    others: tuple[DumpFile, ...] = ()


NOTHING_SAID = CaseTensors()  # by an older version, or by TensorFlow, which wrote the tensors


def case_tensors_fields(files: Sequence[str], others: Sequence[DumpFile]) -> dict[str, Any]:
    """What case.json says of the tensors in `files`, paths in the dump, and of `others`, whose paths do not count."""
    return {"files": None if len(files) > _MOST_LISTED else list(files), "others": [list(one[:-1]) for one in others]}


def read_case_tensors(fields: dict[str, Any] | None, case: Path) -> CaseTensors:
    """What the `fields` in the folder `case` say. Raises what `WRONG_CONTENT` lists where they say something else."""
    if fields is None:
        return NOTHING_SAID
    files = fields["files"]
    others = (_other(row, case / layout.OTHERS / str(number)) for number, row in enumerate(items(fields["others"])))
    return CaseTensors(None if files is None else frozenset(map(text, items(files))), tuple(others))


def written_files(
    case: CaseTensors, there: Sequence[DumpFile], root: Path
) -> tuple[list[DumpFile], dict[str, NoValue]]:
    """All files that the dump in `root` had, of which `there` are there under their names; and what is missing.

    The latter is told by paths at which there is nothing, each with what to say of it.
    """
    files, missing = [*there, *case.others], [one for one in case.others if not os.path.lexists(one.path)]
    if case.files is not None:
        start = len(f"{root}{os.sep}")
        gone = _named(sorted(case.files - {file.path[start:].replace(os.sep, "/") for file in there}), root)
        missing += gone
        files += gone
    return files, {file.path: MISSING for file in missing}


def missing_note(files: Sequence[DumpFile], missing: Container[str]) -> str:
    """How many of `files` are `missing`."""
    gone = [f"{file.node}:{file.slot}" for file in files if file.path in missing]
    return f"{len(gone)} of {len(files)} tensor files {'is' if len(gone) == 1 else 'are'} missing (first {gone[0]})."


def _named(paths: Iterable[str], root: Path) -> list[DumpFile]:
    """What files with these paths in the dump held. The paths are data: nothing is looked for there."""
    found: list[DumpFile] = []
    for number, path in enumerate(paths):
        device, *scope = map(readable, path.split("/"))
        parts = parse_dump_name(scope.pop()) if scope else None
        if parts is not None:
            base, slot, debug_op, time_us, repeat = parts
            node = "/".join([*scope, base])
            nowhere = f"{root}{os.sep}{layout.CASE_DIRECTORY}{os.sep}missing{os.sep}{number}"
            found.append(DumpFile(time_us, repeat, node, slot, debug_op, device_of(device), nowhere))
    return found


def _other(row: Any, path: Path) -> DumpFile:
    time_us, repeat, node, slot, debug_op, device = items(row)
    return DumpFile(whole(time_us), whole(repeat), text(node), whole(slot), text(debug_op), text(device), str(path))
