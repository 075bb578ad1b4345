"""File systems of fsspec for tests: one that counts what is read of it, and one whose network fails."""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar
from urllib.parse import quote, unquote

import fsspec
from fsspec import AbstractFileSystem
from fsspec.implementations.memory import MemoryFileSystem


class CountedFiles(MemoryFileSystem):
    """Files in memory, `counted://`. `read` are the parts that were asked for: a path, where it begins and ends."""

    protocol = "counted"
    store: ClassVar[dict[str, Any]] = {}
    pseudo_dirs: ClassVar[list[str]] = [""]
    read: ClassVar[list[tuple[str, int, int]]] = []

    @classmethod
    def _strip_protocol(cls, path: Any) -> Any:
        return MemoryFileSystem._strip_protocol(str(path).replace("counted://", "memory://", 1))

    def cat_file(self, path: str, start: int | None = None, end: int | None = None, **options: Any) -> bytes:
        found = super().cat_file(path, start=start, end=end, **options)
        type(self).read.append((path, start or 0, (start or 0) + len(found)))
        return bytes(found)

    @classmethod
    def bytes_read(cls, ending: str = "") -> int:
        """How many bytes were read of files whose names end so."""
        return sum(end - start for path, start, end in cls.read if path.endswith(ending))


class BrokenFiles(CountedFiles):
    """The same files, `broken://`, whose content never comes."""

    protocol = "broken"
    error: Exception = ConnectionResetError("Connection reset by peer")

    @classmethod
    def _strip_protocol(cls, path: Any) -> Any:
        return CountedFiles._strip_protocol(str(path).replace("broken://", "memory://", 1))

    def cat_file(self, path: str, start: int | None = None, end: int | None = None, **options: Any) -> bytes:
        raise self.error


class SimpleWebServer(AbstractFileSystem):
    """What is counted, `web://`, as from a web server that gives files whole alone, and lists folders by pages."""

    protocol = ("web", "http")

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self._files = CountedFiles()

    def _there(self, path: str) -> str:
        return unquote(self._strip_protocol(path))

    def info(self, path: str, **options: Any) -> dict[str, Any]:
        found = self._files.info(self._there(path))
        page = {"mimetype": "text/html", "size": 99} if found["type"] == "directory" else {}
        return {**found, "name": path, "type": "file", **page}

    def ls(self, path: str, detail: bool = True, **options: Any) -> Any:
        there = self._there(path)
        if self._files.info(there)["type"] != "directory":
            return []
        rows = [(row["name"].rpartition("/")[2], row["type"]) for row in self._files.ls(there, detail=True)]
        found = [{"name": f"{path}/{quote(name)}", "size": None, "type": kind} for name, kind in rows]
        return [{"name": f"{path}/?C=N;O=D", "size": None, "type": "file"}, *found]

    def cat_file(self, path: str, start: int | None = None, end: int | None = None, **options: Any) -> bytes:
        return self._files.cat_file(self._there(path))

    def open(self, path: str, mode: str = "rb", **options: Any) -> Any:
        raise ValueError("The HTTP server doesn't appear to support range requests.")

    def get_file(self, path: str, file: Any, **options: Any) -> None:
        file.write(self.cat_file(path))


fsspec.register_implementation("web", SimpleWebServer, clobber=True)
fsspec.register_implementation("counted", CountedFiles, clobber=True)
fsspec.register_implementation("broken", BrokenFiles, clobber=True)


def put(folder: Path, protocol: str, name: str) -> str:
    """Copy a file or a folder to `name` in the file system of that protocol; its address."""
    system = fsspec.filesystem(protocol)
    for file in sorted(folder.rglob("*")) if folder.is_dir() else [folder]:
        if file.is_file():
            far = f"/{name}/{file.relative_to(folder).as_posix()}" if folder.is_dir() else f"/{name}"
            system.pipe_file(far, file.read_bytes())
    return f"{protocol}://{name}"
