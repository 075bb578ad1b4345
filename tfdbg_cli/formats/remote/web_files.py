"""Files behind http:// and https://: a folder is a page with links, and a server may give files whole alone."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, BinaryIO
from urllib.parse import unquote

from tfdbg_cli.formats.remote.file_system import FileSystem

_PAGE = "text/html"
_AT_ONCE = 16  # questions that are on their way together


class WebFiles(FileSystem):
    """What a web server has; its `system` is fsspec's for HTTP."""

    def facts(self, path: str) -> dict[str, Any]:
        """As of any file system; a page that links to what is below it is the list of a folder."""
        facts = super().facts(path)
        if facts.get("mimetype") == _PAGE and self.beside(path):
            facts["type"] = "directory"
        return facts

    def beside(self, folder: str) -> list[dict[str, Any]]:
        """The facts of what `folder` links to, without the links by which such a page is sorted."""
        return [entry for entry in super().beside(folder) if "?" not in str(entry["name"])]

    def within(self, folder: str) -> list[dict[str, Any]]:
        """The facts of all files in `folder` and its folders."""
        found: list[dict[str, Any]] = []
        folders = [folder]
        with ThreadPoolExecutor(_AT_ONCE) as threads:
            while folders:
                entries = [entry for page in threads.map(self.beside, folders) for entry in page]
                found += [entry for entry in entries if entry["type"] != "directory"]
                folders = [str(entry["name"]) for entry in entries if entry["type"] == "directory"]
        return found

    def sized(self, entries: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
        """`entries` with their sizes, which no page tells: each is asked for."""
        with ThreadPoolExecutor(_AT_ONCE) as threads:
            return list(threads.map(lambda entry: super(WebFiles, self).facts(str(entry["name"])), entries))

    def gives_parts(self, path: str, size: int) -> bool:
        """Whether the server gives a part of a file where one is asked for; many simple ones do not."""
        try:
            with self._system.open(path, "rb", size=size, cache_type="none") as file:
                file.seek(size - 1)
                return len(file.read(1)) == 1
        except ValueError:  # fsspec's word for it, before any more is read
            return False

    def fetch(self, path: str, file: BinaryIO) -> None:
        """Write the whole file at `path` into `file`, as it comes."""
        self._system.get_file(path, file)

    def spoken(self, name: str) -> str:
        """A name as it was before it became part of an address: `%20` is a blank."""
        return unquote(name)
