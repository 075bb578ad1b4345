"""What is to be said of a place that belongs to a checkpoint which does not open there: half of it, gone, or old."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path

from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.formats.checkpoints.file_names import DATA, ENDING, STATE
from tfdbg_cli.formats.checkpoints.sorted_table import MAGIC, DamagedTableError, number_at
from tfdbg_cli.formats.recording.regular_file import opened, read_whole

COPY_AGAIN = "Copy the checkpoint again, all of its files."
_NAMED = "model_checkpoint_path"
_LARGEST_STATE = 1 << 24  # bytes of the file that names the checkpoints of a folder
_OLD_PART = re.compile(r"^(?P<prefix>.+)-\d{5}-of-\d{5}$")
_ALL_PARTS = re.compile(r"-\?{5}-of-\d{5}$")  # how TensorFlow names all files of such a one
_HEAD = 16  # bytes in which the first value of a table begins
_SLICES = b"\x0a"  # what the first value begins with in the old format; in an index it is a header


def without_index(folder: Path, names: Sequence[str], prefix: str = "") -> TfdbgError | None:
    """The error where elements of a checkpoint are among the `names` in `folder`, and its index is not.

    It is about the checkpoint called `prefix`, else about the last one.
    """
    lone = [name for name in half_written(names) if prefix in ("", name)]
    if not lone:
        return None
    hint = "Copy it, too. TensorFlow writes it last: a checkpoint whose writing was cut off has none."
    text = f"The checkpoint {folder / lone[-1]} has no index: {lone[-1]}{ENDING} is missing beside its elements."
    return TfdbgError(text, hint=hint)


def half_written(names: Sequence[str]) -> Sequence[str]:
    """What the checkpoints are called whose elements are among the `names` in a folder, without an index."""
    known = set(names)
    prefixes = {match["prefix"] for name in names if (match := DATA.match(name))}
    return sorted(prefix for prefix in prefixes if prefix + ENDING not in known)


def old_checkpoint(path: Path, names: Sequence[str] = ()) -> TfdbgError | None:
    """The error where `path` is a checkpoint of the first format, or some of the `names` beside it are its parts."""
    parts = [name for name in names if (match := _OLD_PART.match(name)) and match["prefix"] == path.name]
    if not any(_is_old(path.with_name(name)) for name in parts or [path.name]):
        return None
    text = f"{path} is a checkpoint of TensorFlow's first format (V1), which tfdbg does not read."
    hint = (
        "Restore it with tf.compat.v1.train.Saver, and save it with one that has no write_version=V1: that writes the"
        " second format."
    )
    return TfdbgError(text, hint=hint)


def last_named(folder: Path, names: Sequence[str]) -> TfdbgError | None:
    """The error about the last checkpoint, as the file `checkpoint` in `folder` names it; None if it names none."""
    path = folder / STATE
    named = _named_in(path)
    if not named:
        return None
    last = folder / named  # which may be absolute
    if _is_file(last.with_name(last.name + ENDING)):
        hint = f"Open {last}{ENDING}."
        return TfdbgError(f"{path} is no checkpoint: it names the last one, {named}.", hint=hint)
    beside = names if last.parent == folder else ()
    broken = old_checkpoint(last, beside) or without_index(folder, names, last.name)
    if broken is not None:
        return broken
    hint = f"Copy its files there, {last.name}{ENDING} and {last.name}.data-…, or name another checkpoint."
    return TfdbgError(f"{path} names the checkpoint {named}, and there is none.", hint=hint)


def _named_in(path: Path) -> str:
    """The name of the last checkpoint in the file at `path`; empty where it has none, or cannot be read."""
    from tfdbg_cli.formats.messages.text_blocks import (  # graphs need it, no others
        TextBlock,
        TextBlocks,
        TextDamageError,
    )

    try:
        content = read_whole(path, _LARGEST_STATE)
        fields = TextBlocks(content).texts(TextBlock("", 0, len(content)))
        named = next((value for name, value in fields if name == _NAMED), "")
    except (OSError, TextDamageError):
        return ""
    named = _ALL_PARTS.sub("", named)
    return "" if "\0" in named or not Path(named).name else named


def _is_old(path: Path) -> bool:
    try:
        with opened(path) as (file, size):
            head = file.read(_HEAD)
            file.seek(max(size - len(MAGIC), 0))
            if file.read(len(MAGIC)) != MAGIC or head[:2] != b"\0\0":  # the first key is empty
                return False
        _, at = number_at(head, 2)
    except (OSError, DamagedTableError):
        return False
    return head[at : at + 1] == _SLICES


def _is_file(path: Path) -> bool:
    return os.path.isfile(path)  # noqa: PTH113 - pathlib fails on names that are too long
