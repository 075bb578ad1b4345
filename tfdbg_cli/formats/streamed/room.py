"""The bytes that everything may take which arrives and is held in memory."""

from __future__ import annotations

import threading


class Room:
    """Bytes for whoever asks first, from any thread; what is given back can be had again."""

    def __init__(self, size: int) -> None:
        self.size = size
        self._taken = 0
        self._lock = threading.Lock()

    def take(self, nbytes: int) -> bool:
        """Take so many bytes; False, and none of them, where fewer are left."""
        with self._lock:
            if self._taken + nbytes > self.size:
                return False
            self._taken += nbytes
            return True

    def give_back(self, nbytes: int) -> None:
        """Have so many bytes free again."""
        with self._lock:
            self._taken -= nbytes
