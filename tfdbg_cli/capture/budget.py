"""How many bytes a capture may take, and the one message when it would take more."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path

from tfdbg_cli.config.settings import Settings
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.formats.recording import writing
from tfdbg_cli.model.runs import Estimate
from tfdbg_cli.model.units import bytes_text
from tfdbg_cli.process.free_memory import free_memory

ROOM_BESIDE_GRAPHS = 16 << 20  # bytes; the optimizer folds up to 10 MiB into one constant
_MOST_HALVINGS = 16  # so that even the last of many workers has some room
AMPLE = 1 << 30  # bytes; with that much free the size of the graph, which takes long to find, does not matter


def disk_budget(settings: Settings, directory: Path | None = None) -> int:
    """Bytes that dumps under `directory` (default: the folder of temporary files) may take.

    Without a setting, half of what is free there.
    """
    if settings.disk_budget:
        return settings.disk_budget
    return free_disk(directory) // 2


def share_of_disk(settings: Settings, path: Path, workers: int, recording: int) -> int:
    """Bytes that one worker of a job may record, so that the job takes no more than one program alone may.

    Where the number of `workers` is known, each gets the same share. Where it is not (0), the budget is halved once
    for each of the `recording` workers that write already, so that something is left for those to come. By
    default a budget is half of the free space, which shrinks by what they write.
    """
    whole = disk_budget(settings, path)
    return whole // workers if workers else whole >> min(recording, _MOST_HALVINGS)


def free_disk(directory: Path | None = None) -> int:
    """Bytes that are free where `directory` (default: the folder of temporary files) is or is going to be."""
    return writing.free_disk(directory or Path(tempfile.gettempdir()))


def require_room_for_graphs(directory: Path | None, graph_bytes: Callable[[], int]) -> None:
    """Refuse a dump in `directory` if there is no room for the graphs in it; `graph_bytes` is the size of one.

    TensorFlow ends the whole process when it cannot write a graph (debug_io_utils.cc, DumpEventProtoToFile).

    Raises:
        TfdbgError: there is no room.

    """
    free = free_disk(directory)
    if free >= AMPLE or free >= ROOM_BESIDE_GRAPHS + 2 * graph_bytes():
        return
    place = tempfile.gettempdir() if directory is None else directory.parent
    raise TfdbgError(
        f"Only {bytes_text(free)} are free in {place}: too little for a dump, so this run is not captured.",
        hint="Make room, or take the values into memory with `run --graph python`.",
        exit_code=2,
    )


def memory_budget(settings: Settings) -> int:
    """Bytes that values held in memory may take. Without a setting, half of the memory that is free."""
    return settings.memory_budget or free_memory() // 2


def room_for_later() -> int:
    """Bytes that what is kept prepared for later runs may take: an eighth of the memory that is free."""
    return free_memory() // 8


def refusal(estimate: Estimate) -> str | None:
    """Why a capture of that size is not made and what to do instead; None when it fits or nothing is known."""
    if estimate.nbytes is None or estimate.nbytes <= estimate.budget:
        return None
    setting = f"{estimate.medium}_budget"
    return (
        f"Capturing {estimate.tensors} tensors takes about {bytes_text(estimate.nbytes)}, more than the "
        f"{bytes_text(estimate.budget)} of {estimate.medium} that tfdbg may use. Take fewer with "
        f"`run --node_name_filter RE`, raise the budget with `config set {setting} {_next_size(estimate.nbytes)}` "
        f"(or `run --force` once), or run without capture with `run -n`."
    )


def _next_size(nbytes: int) -> str:
    return f"{(nbytes >> 30) + 1}G" if nbytes >= 1 << 30 else f"{(nbytes >> 20) + 1}M"
