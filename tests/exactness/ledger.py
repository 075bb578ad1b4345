"""What came of programs that were tried, in a file of JSON lines outside of the tree, with which a sweep goes on."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from importlib import metadata
from pathlib import Path
from typing import Any, TypeAlias

_ROOT = Path(__file__).parent.parent.parent
# These will not come out otherwise a second time; what differed, or was said to, is tried again.
_SETTLED = {"same", "left out", "does not run"}
_Key: TypeAlias = tuple[str, str, str, int]


@dataclass(frozen=True)
class Settings:
    """With what programs are tried: what was settled with one library or oneDNN setting is open with another."""

    tensorflow: str
    keras: str
    tf_keras: str
    onednn: bool

    @classmethod
    def here(cls) -> Settings:
        """Those of this process."""
        return cls(
            *(_version(name) for name in ("tensorflow", "keras", "tf_keras")),
            onednn=os.environ.get("TF_ENABLE_ONEDNN_OPTS", "1") != "0",
        )


class Ledger:
    """Outcomes by group, program, way and steps, of these settings. Without a file it knows and keeps nothing.

    A line also says of which commit the code was ("+" behind it where files differed); one is settled of whichever
    commit it is, so that a sweep of another state of the code begins with another file.
    """

    def __init__(self, file: Path | None, settings: Settings) -> None:
        self._file = file
        self._stamp = {"code": _commit() if file else "", **asdict(settings)}
        self._settled: set[_Key] = set()
        if file is not None and file.exists():
            for line in file.read_text().splitlines():
                self._take(json.loads(line), asdict(settings))

    def settled(self, group: str, name: str, way: str, steps: int) -> bool:
        """Whether it was tried that way, and would give nothing new."""
        return not self._settled.isdisjoint({(group, name, way, steps), (group, name, "", steps)})

    def add(self, group: str, name: str, steps: int, outcome: Mapping[str, Any]) -> None:
        """Append what came of one way of a program, or, where it names no way, of all."""
        line = {"group": group, "name": name, "steps": steps, **outcome, **self._stamp}
        if self._file is not None:
            with self._file.open("a") as file:
                file.write(json.dumps(line) + "\n")

    def _take(self, line: Mapping[str, Any], settings: Mapping[str, Any]) -> None:
        if line["outcome"] in _SETTLED and all(line[key] == value for key, value in settings.items()):
            # A program that does not repeat itself has nothing to compare in any way.
            way = line.get("way", "") if line["outcome"] == "same" else ""
            self._settled.add((line["group"], line["name"], way, line["steps"]))


def _version(name: str) -> str:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return ""


def _commit() -> str:
    asked = ["git", "-C", str(_ROOT), "describe", "--always", "--dirty=+", "--abbrev=12"]
    return subprocess.run(asked, capture_output=True, text=True, check=False).stdout.strip() or "unknown"
