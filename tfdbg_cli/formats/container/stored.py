"""Finding the bytes of tensors in the data files of a recording, whoever wrote them."""

from __future__ import annotations

import mmap
from pathlib import Path

import numpy as np

from tfdbg_cli.formats.container.elements import plain_size, value_of
from tfdbg_cli.formats.container.layout import DATA, Encoding, data_file
from tfdbg_cli.formats.messages.event_header import MOST_DIMENSIONS, too_large
from tfdbg_cli.formats.messages.tensor_proto import damaged
from tfdbg_cli.formats.recording.regular_file import opened
from tfdbg_cli.model.tensors import Shape
from tfdbg_cli.model.values import Array, NoValue, Value

_SMALL = 1 << 24  # bytes that are read at once; of more only those are read that are looked at
_MOST_TEXT = 1 << 31
_SIZES = frozenset(range(MOST_DIMENSIONS + 1))


class StoredElements:
    """The data files of the recording in `root`."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def value(self, place: tuple[object, ...], dtype: str, shape: Shape | None) -> Value:
        """The value of `dtype` and `shape` at `place`: file, offset, bytes stored, encoding. Damage is a NoValue."""
        number, offset, stored, code = place
        if not (isinstance(number, int) and isinstance(offset, int) and isinstance(stored, int)):
            return damaged("The index does not say where the elements lie.")
        if not isinstance(code, int) or code not in set(Encoding) or min(number, offset, stored) < 0:
            return damaged("The index does not say how the elements lie.")
        encoding = Encoding(code)
        if shape is None or len(shape) not in _SIZES or too_large(shape):
            return damaged("The index does not say which shape the elements have.")
        expected = plain_size(dtype, shape) if encoding is Encoding.PLAIN else None
        if expected is not None and expected != stored:
            return damaged(f"The shape {list(shape)} of {dtype} takes {expected} bytes, {stored} are recorded.")
        if expected is None and stored > _MOST_TEXT:
            return damaged(f"{stored} bytes are more than texts, or compressed elements, have.")
        content = self._content(number, offset, stored)
        return content if isinstance(content, NoValue) else value_of(content, encoding, dtype, shape)

    def _content(self, number: int, offset: int, stored: int) -> Array | NoValue:
        path = data_file(self.root, number)
        shown = f"{DATA}/{path.name}"
        try:
            with opened(path) as (file, size):
                if offset + stored > size:
                    where = f"at bytes {offset} to {offset + stored}"
                    return damaged(f"The file {shown} ends at byte {size}; this tensor lies {where}.")
                if stored > _SMALL:
                    start = offset - offset % mmap.ALLOCATIONGRANULARITY
                    mapped = mmap.mmap(file.fileno(), offset + stored - start, access=mmap.ACCESS_READ, offset=start)
                    return np.frombuffer(mapped, np.uint8, stored, offset - start)
                file.seek(offset)
                content = np.fromfile(file, np.uint8, stored)
        except OSError as error:
            return damaged(f"The file {shown} cannot be read: {error.strerror or error}.")
        if content.size != stored:
            return damaged(f"The file {shown} ends within this tensor, at byte {offset + content.size}.")
        return content
