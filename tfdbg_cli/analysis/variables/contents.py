"""What a value holds, as a few bytes: to find values that are the same among many, each read once."""

from __future__ import annotations

from collections.abc import Callable
from hashlib import blake2b

import numpy as np

from tfdbg_cli.model.values import Array

_CHUNK = 1 << 20  # elements read at a time
_SIZE = 16  # bytes


def digest(value: Array, between: Callable[[], None] = lambda: None) -> bytes:
    """The same for values of one dtype and shape that are the same to the last bit, and for no others.

    A large value is read a part at a time, and `between` is called after each.
    """
    found = blake2b(digest_size=_SIZE)
    flat = value.reshape(-1) if value.flags.c_contiguous else value.flat
    for start in range(0, value.size, _CHUNK):
        part = np.ascontiguousarray(flat[start : start + _CHUNK])
        if not part.dtype.hasobject:
            found.update(part.view(np.uint8).data)
        else:
            for text in part:
                content = text if isinstance(text, bytes) else str(text).encode()
                found.update(len(content).to_bytes(8, "little"))
                found.update(content)
        if value.size > _CHUNK:
            between()
    return found.digest()
