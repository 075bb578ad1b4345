"""Files behind http:// and https://: a folder is a page with links, and a server may give files whole alone."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures.thread import ThreadPoolExecutor
from typing import Any, BinaryIO
from urllib.parse import unquote

from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.formats.remote.file_system import FileSystem, require_usual_count

_PAGE = "text/html"
_AT_ONCE = 16  # questions that are on their way together
_DEEPEST = 200  # folders within folders; scopes of programs have a few dozen


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
        """The facts of all files in `folder` and its folders, but for folders that lead back to the one they are in.

        Raises:
            TfdbgError: folders are nested too deep, or hold more than any recording does.

        """
        found: list[dict[str, Any]] = []
        level = [(folder, frozenset[str]())]  # with what the page lists on which a folder was found
        met = {folder.rstrip("/")}
        with ThreadPoolExecutor(_AT_ONCE) as threads:
            for _ in range(_DEEPEST):
                pages = threads.map(self.beside, (path for path, _ in level))
                further = []
                for (path, above), page in zip(level, pages, strict=True):
                    listed = frozenset(str(entry["name"]).removeprefix(path).strip("/") for entry in page)
                    folders = [str(entry["name"]) for entry in page if entry["type"] == "directory"]
                    if listed == above and len(folders) < len(page):
                        continue  # the same files, and the folder itself among them: a link to where it stands
                    found += [entry for entry in page if entry["type"] != "directory"]
                    new = [name for name in folders if name.rstrip("/") not in met]
                    met.update(name.rstrip("/") for name in new)
                    further += [(name, listed) for name in new]
                require_usual_count(folder, max(len(found), len(met)))
                if not further:
                    return found
                level = further
        raise TfdbgError(f"{folder} has folders within folders without an end.", hint="Name one of its folders.")

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
