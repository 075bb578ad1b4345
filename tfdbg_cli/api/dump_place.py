"""Where the run of a wrapper of the program's own is dumped, by the addresses that the wrapper answers."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Any

from tfdbg_cli.capture.failures import report
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.formats.dumps.pile import add_to_pile
from tfdbg_cli.scratch_folder import ScratchFolder

_FILE = "file://"


class DumpPlace:
    """`folder` is the new folder into which a run is dumped; `deliver` has it in all that `urls` name.

    Of a first address that names nothing yet, or an empty folder, it is that folder. Else the run is dumped
    elsewhere, and delivered beside what lies there.
    """

    def __init__(self, urls: Any) -> None:
        """Find it.

        Raises:
            ValueError: there is no address, or one is no `file://` of a folder.
            OSError: a folder cannot be looked at or made.

        """
        first, *others = _folders(urls)
        self._scratch: ScratchFolder | None = None
        if first.exists() and any(first.iterdir()):
            self._scratch = ScratchFolder()
            self.folder = self._scratch.path / "dump"
            self._others = [first, *others]
            return
        if first.exists():
            first.rmdir()  # a dump appears as a whole
        self.folder, self._others = first, others

    def deliver(self) -> None:
        """Put what was dumped into each further folder; what fails is told, and the program goes on."""
        if not self.folder.exists():  # TensorFlow refused the run
            return
        for folder in self._others:
            try:
                add_to_pile(self.folder, folder)
            except TfdbgError as failure:
                report("dump a run", failure)

    def close(self) -> None:
        """Delete what was needed on the way only."""
        if self._scratch is not None:
            with suppress(OSError):
                self._scratch.delete()


def _folders(urls: Any) -> list[Path]:
    """The folders that the addresses name, each once.

    Raises:
        ValueError: there is none, or one is no `file://` of a folder.

    """
    given = [urls] if isinstance(urls, str) else list(urls or ())
    if not given or not all(str(url).startswith(_FILE) for url in given):
        raise ValueError(
            f"A run is dumped into one folder, or several: debug_urls are to be ['file://FOLDER'], not {urls!r}."
        )
    folders = [Path(str(url).removeprefix(_FILE)).expanduser() for url in given]
    for folder in folders:
        if folder.exists() and not folder.is_dir():
            raise ValueError(f"{folder} is no folder, and a dump is one.")
    return list(dict.fromkeys(folders))
