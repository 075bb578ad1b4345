"""Where a dump goes that is read back at once: into memory, where that has ample room, else among temporary files.

A dump is a file for each tensor and turn of a loop. Ten thousand and more of them take a disk four times as long.
"""

from __future__ import annotations

import os
from pathlib import Path
from weakref import WeakKeyDictionary

from tfdbg_cli.capture.budget import AMPLE, free_disk, room_for_later
from tfdbg_cli.capture.tf.types import RawSession
from tfdbg_cli.model.tensors import TensorStore
from tfdbg_cli.scratch_folder import MEMORY, ScratchFolder

_MOST = 512 << 20  # bytes that a dump may come to
_FILE = 5 << 10  # bytes that a file takes beside its values: its header, the rest of its page, its entry
_GROWTH = 4  # times what the dump before took: loops may turn more often


class DumpFolders:
    """Folders for the dumps of sessions, each chosen by what the last one of its session took."""

    def __init__(self, memory: Path = MEMORY) -> None:
        self._memory = memory
        self._taken: WeakKeyDictionary[RawSession, int] = WeakKeyDictionary()

    def new(self, session: RawSession) -> ScratchFolder:
        """A folder for the next dump of `session`; the first one is among the temporary files.

        Raises:
            OSError: it cannot be made.

        """
        most = _GROWTH * self._taken.get(session, _MOST)
        return ScratchFolder(self._memory if most <= _MOST and self._has_room(most) else None)

    def took(self, session: RawSession, dump: TensorStore) -> None:
        """Note how large the `dump` of `session` was."""
        self._taken[session] = sum((dump[row].nbytes or 0) + _FILE for row in range(len(dump)))

    def _has_room(self, nbytes: int) -> bool:
        """Whether so many bytes take neither the file system nor the memory of the machine to its end."""
        if not self._memory.is_dir() or not os.access(self._memory, os.W_OK | os.X_OK):
            return False
        return free_disk(self._memory) >= max(AMPLE, 2 * nbytes) and room_for_later() >= nbytes
