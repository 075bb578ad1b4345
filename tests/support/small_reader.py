"""A reader of recordings in a hundred lines, from docs/format.md alone: nothing of tfdbg is used."""

from __future__ import annotations

import json
import sqlite3
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np

QUANTIZED = {"qint8": "int8", "quint8": "uint8", "qint16": "int16", "quint16": "uint16", "qint32": "int32"}


class SmallReader:
    """The recording in `root`."""

    def __init__(self, root: Path) -> None:
        self.root = root
        manifest = json.loads((root / "recording.json").read_bytes())
        if manifest["format"] != "tfdbg recording" or manifest["version"] > 1:
            raise ValueError("not a recording of version 1")
        self.index = sqlite3.connect(root / "index.sqlite")
        self.index.text_factory = lambda content: content.decode("utf-8", "surrogatepass")
        self.texts: dict[int, str] = dict(self.index.execute("SELECT id, text FROM texts"))

    def runs(self) -> list[int]:
        """The ids of the runs, the oldest first."""
        return [number for (number,) in self.index.execute("SELECT id FROM runs ORDER BY id")]

    def description(self, run: int) -> dict[str, Any]:
        """What was called, and how it ended."""
        (text,) = self.index.execute("SELECT description FROM runs WHERE id = ?", (run,)).fetchone()
        return dict(json.loads(text))

    def tensors(self, run: int) -> Iterator[tuple[str, int, Any]]:
        """Name, execution and value of every tensor; a text in the place of a value says why there is none."""
        rows = self.index.execute(
            "SELECT node, slot, execution, dtype, shape, lack, file, offset, stored, encoding FROM tensors"
            " WHERE run = ? ORDER BY place", (run,)
        )  # fmt: skip
        for node, slot, execution, dtype, shape, lack, *place in rows:
            value = self.texts[lack] if lack is not None else self.value(dtype, shape, *place)
            yield f"{self.texts[node]}:{slot}", execution, value

    def feeds(self, run: int) -> dict[str, Any]:
        """What the run was fed, by name; None where that was not recorded."""
        rows = self.index.execute(
            "SELECT name, dtype, shape, file, offset, stored, encoding FROM feeds WHERE run = ? ORDER BY place",
            (run,),
        )
        return {self.texts[name]: None if file is None else self.value(dtype, shape, file, *place)
                for name, dtype, shape, file, *place in rows}  # fmt: skip

    def summaries(self, run: int) -> dict[int, dict[str, Any]]:
        """The statistics that stand for values, by place."""
        rows = self.index.execute("SELECT * FROM summaries WHERE run = ?", (run,))
        names = [column[0] for column in rows.description]
        return {row[1]: dict(zip(names[2:], row[2:], strict=True)) for row in rows}

    def value(self, dtype: int, shape: int, file: int, offset: int, stored: int, encoding: int) -> np.ndarray:
        """The elements that lie there."""
        with (self.root / "data" / f"{file:06d}.safetensors").open("rb") as data:
            data.seek(offset)
            content = data.read(stored)
        if encoding >= 2:
            content, encoding = zlib.decompress(content), encoding - 2
        lengths = tuple(int(length) for length in self.texts[shape].split(",") if length)
        if encoding == 0:
            return np.frombuffer(content, self.dtype(self.texts[dtype])).reshape(lengths)
        count = int(np.prod(lengths, dtype=np.int64))
        ends, body = np.frombuffer(content, "<u8", count).tolist(), content[8 * count :]
        words = np.empty(count, object)
        words[:] = [body[start:end] for start, end in zip([0, *ends], ends, strict=False)]
        return words.reshape(lengths)

    @staticmethod
    def dtype(name: str) -> np.dtype[Any]:
        """The NumPy type of TensorFlow's `name`."""
        name = QUANTIZED.get(name, name)
        return np.dtype(getattr(ml_dtypes, name)) if hasattr(ml_dtypes, name) else np.dtype(name)

    def content(self, number: int) -> bytes:
        """A larger thing: a graph, a source, the tracebacks."""
        (packed,) = self.index.execute("SELECT zlib FROM contents WHERE id = ?", (number,)).fetchone()
        return zlib.decompress(packed)

    def program(self, run: int) -> dict[str, Any]:
        """What runs of one program share."""
        (number,) = self.index.execute("SELECT program FROM runs WHERE id = ?", (run,)).fetchone()
        return dict(json.loads(self.content(number)))
