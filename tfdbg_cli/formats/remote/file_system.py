"""What is asked of a file system of fsspec, and what its errors say."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, BinaryIO

from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.formats.recording.stand_in import Part

_MOST_FILES = 500_000


class FileSystem:
    """What is asked of `system`, a file system of fsspec. Each raises whatever its package does."""

    def __init__(self, system: Any) -> None:
        self._system = system

    def facts(self, path: str) -> dict[str, Any]:
        """What lies at `path`: its `name`, `type` (file or directory) and `size`."""
        return dict(self._system.info(path))

    def beside(self, folder: str) -> list[dict[str, Any]]:
        """The facts of what lies in `folder`."""
        return list(self._system.ls(folder, detail=True))

    def within(self, folder: str) -> list[dict[str, Any]]:
        """The facts of all files in `folder` and its folders."""
        return list(self._system.find(folder, detail=True).values())

    def contents(self, parts: Sequence[tuple[str, Part]]) -> list[bytes]:
        """Parts of files: of each its path, and from where to where."""
        paths, starts, ends = zip(*((path, start, end) for path, (start, end) in parts), strict=True)
        found = self._system.cat_ranges(list(paths), list(starts), list(ends))
        failed = next((content for content in found if isinstance(content, Exception)), None)
        if failed is not None:
            raise failed
        return list(found)

    def sized(self, entries: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
        """`entries`, which `beside` or `within` gave, with their sizes."""
        return list(entries)

    def described(self, path: str) -> dict[str, Any]:
        """The facts of the file at `path` as they are now, whatever was listed before."""
        self._system.invalidate_cache(self._system._parent(path))
        return dict(self._system.info(path))

    def gives_parts(self, path: str, size: int) -> bool:
        """Whether parts of the file at `path`, which has `size` bytes, can be had."""
        return True

    def fetch(self, path: str, file: BinaryIO) -> None:
        """Write the whole file at `path` into `file`, as it comes."""
        raise NotImplementedError("of which there are parts, nobody fetches the whole")

    def spoken(self, name: str) -> str:
        """A name that stands in an address as it is called."""
        return name


def require_usual_count(path: str, count: int) -> None:
    """Refuse `count` files at `path` where no recording has so many.

    Raises:
        TfdbgError: there are too many.

    """
    if count > _MOST_FILES:
        message = f"{path} holds {count:,} files, more than any recording has."
        raise TfdbgError(message, hint="Name one of its folders.")


def unreachable(address: str, error: Exception) -> TfdbgError:
    """What to say when `error` came while `address` was listed."""
    if isinstance(error, FileNotFoundError):
        return TfdbgError(f"There is no {address}.", hint="Check the address.")
    if isinstance(error, PermissionError):
        hint = "Log in as the tools of this store want it, or ask for the right to read."
        return TfdbgError(f"You may not read {address}: {first_line(error)}.", hint=hint)
    return TfdbgError(
        f"Cannot read {address}: {reason(error)}.",
        hint="Check the address, the network and your access; or copy it to this machine, and open the copy.",
    )


def reason(error: Exception) -> str:
    """`error` of a store or the network, in the part of a sentence."""
    kind = "it took too long" if isinstance(error, TimeoutError) else type(error).__name__
    said = first_line(error)
    return f"{kind}: {said}" if said else kind


def first_line(error: Exception) -> str:
    """What `error` says, as far as a line of it goes."""
    return (str(error).strip().splitlines() or [""])[0][:200].rstrip(".")
