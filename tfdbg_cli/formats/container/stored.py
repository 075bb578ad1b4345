"""Finding the bytes of tensors in the data files of a recording, whoever wrote them."""

from __future__ import annotations

import mmap
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from tfdbg_cli.formats.container.data_headers import OwnFiles
from tfdbg_cli.formats.container.layout import DATA, Encoding, data_file
from tfdbg_cli.formats.messages.event_header import MOST_DIMENSIONS, too_large
from tfdbg_cli.formats.messages.tensor_proto import damaged
from tfdbg_cli.formats.recording.regular_file import opened
from tfdbg_cli.formats.recording.stand_in import Part, descriptor_of, provide
from tfdbg_cli.model.tensors import Shape
from tfdbg_cli.model.values import Array, NoValue, Value

_SMALL = 1 << 24  # bytes that are read at once; of more only those are read that are looked at
_LEAST_PART = 1 << 16  # bytes of which parts are read
_MOST_TEXT = 1 << 31
_SIZES = frozenset(range(MOST_DIMENSIONS + 1))
_ENCODINGS = frozenset(Encoding)  # made once: a run may have very many small tensors


class StoredElements:
    """The data files of the recording in `root`; `own_files` tells those that are of another one."""

    def __init__(self, root: Path, own_files: OwnFiles) -> None:
        self.root = root
        self.own_files = own_files

    def value(self, place: tuple[object, ...], dtype: str, shape: Shape | None) -> Value:
        """The value of `dtype` and `shape` at `place`: file, offset, bytes stored, encoding. Damage is a NoValue."""
        from tfdbg_cli.formats.container.elements import value_of  # a list of tensors needs no values

        found = _sound(place, dtype, shape)
        if isinstance(found, NoValue):
            return found
        number, offset, stored, encoding, lengths = found
        content = self._content(number, offset, stored)
        return content if isinstance(content, NoValue) else value_of(content, encoding, dtype, lengths)

    def part(self, place: tuple[object, ...], dtype: str, shape: Shape | None, index: Any) -> Any:
        """What `value(…)[index]` gives, of a large value no more read than that. Damage is a NoValue.

        Raises:
            IndexError: there is no such part.

        """
        from tfdbg_cli.formats.container.elements import value_of  # a list of tensors needs no values

        found = _sound(place, dtype, shape)
        if isinstance(found, NoValue):
            return found
        number, offset, stored, encoding, lengths = found
        if encoding is not Encoding.PLAIN or stored <= _LEAST_PART:
            value = self.value(place, dtype, shape)
            return value if isinstance(value, NoValue) else value[index]
        content = self._content(number, offset, stored, mapped=True)
        whole = content if isinstance(content, NoValue) else value_of(content, encoding, dtype, lengths)
        if isinstance(content, NoValue) or isinstance(whole, NoValue):
            return whole
        path = data_file(self.root, number)
        try:
            if not np.may_share_memory(whole, content):
                provide(path, (offset, offset + stored))
                return value_of(content, encoding, dtype, lengths)[index]  # type: ignore[index]
            from tfdbg_cli.formats.recording.mapped_parts import looked_at  # nobody needs it to open a recording

            return looked_at(whole, content, index, partial(_bring, path, offset))
        except OSError as error:
            return _unreadable(path, error)

    def _content(self, number: int, offset: int, stored: int, *, mapped: bool = False) -> Array | NoValue:
        """Bytes of a data file; of large ones, and where they are to be `mapped`, those alone that are looked at.

        In a file that stands for another one they are there, unless they are to be `mapped`.
        """
        path = data_file(self.root, number)
        shown = f"{DATA}/{path.name}"
        if self.own_files.is_foreign(number):
            from tfdbg_cli.formats.container.file_troubles import of_another  # of most recordings nobody needs it

            return damaged(f"{of_another(shown)}.")
        try:
            with opened(path) as (file, size):
                if offset + stored > size:
                    where = f"at bytes {offset} to {offset + stored}"
                    return damaged(f"The file {shown} ends at byte {size}; this tensor lies {where}.")
                if stored > _SMALL or mapped:
                    if not mapped:
                        provide(path, (offset, offset + stored))
                    start = offset - offset % mmap.ALLOCATIONGRANULARITY
                    length, descriptor = offset + stored - start, descriptor_of(file)
                    held = mmap.mmap(descriptor, length, access=mmap.ACCESS_READ, offset=start)
                    return np.frombuffer(held, np.uint8, stored, offset - start)
                file.seek(offset)
                content: Array = np.empty(stored, np.uint8)
                got = file.readinto(content.data)  # type: ignore[attr-defined]
        except OSError as error:
            return _unreadable(path, error)
        if got != stored:
            return damaged(f"The file {shown} ends within this tensor, at byte {offset + got}.")
        return content


_Sound = tuple[int, int, int, Encoding, Shape]


def _sound(place: tuple[object, ...], dtype: str, shape: Shape | None) -> _Sound | NoValue:
    """The file, the offset, the bytes stored, the encoding and the shape, where they make sense."""
    from tfdbg_cli.formats.container.elements import plain_size

    number, offset, stored, code = place
    if not (isinstance(number, int) and isinstance(offset, int) and isinstance(stored, int)):
        return damaged("The index does not say where the elements lie.")
    if not isinstance(code, int) or code not in _ENCODINGS or min(number, offset, stored) < 0:
        return damaged("The index does not say how the elements lie.")
    encoding = Encoding(code)
    if shape is None or len(shape) not in _SIZES or too_large(shape):
        return damaged("The index does not say which shape the elements have.")
    expected = plain_size(dtype, shape) if encoding is Encoding.PLAIN else None
    if expected is not None and expected != stored:
        return damaged(f"The shape {list(shape)} of {dtype} takes {expected} bytes, {stored} are recorded.")
    if expected is None and stored > _MOST_TEXT:
        return damaged(f"{stored} bytes are more than texts, or compressed elements, have.")
    return number, offset, stored, encoding, shape


def _bring(path: Path, offset: int, parts: Sequence[Part]) -> None:
    provide(path, *((offset + start, offset + end) for start, end in parts))


def _unreadable(path: Path, error: OSError) -> NoValue:
    return damaged(f"The file {DATA}/{path.name} cannot be read: {error.strerror or error}.")
