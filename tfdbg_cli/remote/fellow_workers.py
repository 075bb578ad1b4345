"""The other workers of a job: they tell each other through a folder what their watches find (`--on-hit all`).

Each has a file there while it listens, and writes it anew at each hit. So they need nothing but a file system that
all of them see: no worker connects to another.
"""

from __future__ import annotations

import hashlib
import json
import os
import socket
import threading
import time
import uuid
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Protocol
from weakref import WeakSet

from tfdbg_cli.config.job import cluster_of
from tfdbg_cli.errors import WRONG_CONTENT, TfdbgError, reason_of
from tfdbg_cli.plain_files import opened_plain
from tfdbg_cli.plain_text import printable
from tfdbg_cli.process.program_end import at_the_end
from tfdbg_cli.process.streams import to_stderr
from tfdbg_cli.remote.meeting_place import own_folder
from tfdbg_cli.remote.threads import start_thread

FOLDER = "TFDBG_JOB"  # the variable that names the folder; without it, it is one of this user's, on this machine
_EVERY = 0.5  # seconds between two looks at the folder
_ENDING = ".worker"
_MOST_BYTES = 1 << 14
_LONGEST_NAME = 100
_NO_JOB = f"No other worker is told (--on-hit all): neither TF_CONFIG nor {FOLDER} says that there is one."


class FollowingDebugger(Protocol):
    """Somebody who is to stop where another worker has."""

    def called(self, worker: str, run: int, filter_name: str) -> None:
        """`worker` found in its `run` what passes the filter."""
        ...


@dataclass(frozen=True, slots=True)
class WorkerReport:
    """What the file of a worker says: its name, and its last hit, by a mark that no other has; at first none."""

    worker: str
    mark: str = ""
    run: int = 0
    filter_name: str = ""


@dataclass(frozen=True, slots=True)
class _Place:
    """Where this worker stands in its job: the folder, its own name, and those of the others as far as known."""

    folder: Path
    worker: str
    others: tuple[str, ...] = ()

    def file_of(self, worker: str) -> Path:
        """The file of `worker`, whose name may hold anything."""
        return self.folder / f"{hashlib.sha256(worker.encode(errors='surrogatepass')).hexdigest()[:24]}{_ENDING}"


class FellowWorkers:
    """Tells the other workers of this process's job of a hit, and calls who `hear` when one of them has one.

    The job is that of TF_CONFIG, which a program may set late, or all that are given the same folder in TFDBG_JOB.
    """

    def __init__(self, environment: Mapping[str, str] = os.environ) -> None:
        self._environment = environment
        self._hearing: WeakSet[FollowingDebugger] = WeakSet()
        self._place: _Place | None = None
        self._known: set[tuple[str, str]] = set()  # file and mark of what was heard
        self._process = os.getpid()
        self._listens = False
        self._changed = 0  # when the folder was changed last, as of the last look
        self._trouble = ""
        self._looking = threading.Lock()

    def hear(self, called: FollowingDebugger) -> None:
        """Have `called` know from now on, in a thread of ours, as long as it lives."""
        self._hearing.add(called)
        if not self._listens:
            self._listens = True
            at_the_end(self.leave)
            self._pass_on()
            start_thread(self._listen, "tfdbg-fellows")

    def tell(self, run: int, filter_name: str) -> str:
        """Tell the others that `run` passed the filter; a sentence on who hears of it."""
        try:
            self.look()  # what others have told by now is of no use after this stop
            place = self._place
            if place is None:
                return _NO_JOB
            _write(place.file_of(place.worker), WorkerReport(place.worker, uuid.uuid4().hex, run, filter_name))
            there = {word.worker for word in _words(place.folder).values()} - {place.worker}
        except (OSError, TfdbgError) as error:
            why = "why was said before." if reason_of(error) == self._trouble else reason_of(error)
            return f"The other workers are not told (--on-hit all): {why}"
        missing = [worker for worker in place.others if worker not in there]
        told = (
            f"Told of this (--on-hit all): {', '.join(sorted(there))}." if there else "No other worker hears of this."
        )
        if missing:
            told += f" Not in {place.folder}: {', '.join(missing)}."
        return printable(told)

    def look(self) -> list[WorkerReport]:
        """What others have told since the last look; nothing at the first, which only notes what lies there."""
        with self._looking:
            first = self._place is None
            place = self._joined()
            if place is None:
                return []
            self._changed = place.folder.stat().st_mtime_ns
            own, found = place.file_of(place.worker).name, []
            for name, word in _words(place.folder).items():
                if word.mark and name != own and (name, word.mark) not in self._known:
                    self._known.add((name, word.mark))
                    found.append(word)
            return [] if first else found

    def pass_on(self) -> None:
        """Call who hears for what others have told meanwhile, if the folder was changed."""
        try:
            place = self._place
            if place is not None and place.folder.stat().st_mtime_ns == self._changed:
                return
            self._pass_on()
        except OSError:
            return  # the thread of ours says what is wrong

    def leave(self) -> None:
        """Be a worker of the job no longer."""
        if self._place is not None and os.getpid() == self._process:
            with suppress(OSError):
                self._place.file_of(self._place.worker).unlink()

    def _listen(self) -> None:
        while True:
            time.sleep(_EVERY)
            self._pass_on()

    def _pass_on(self) -> None:
        try:
            for word in self.look():
                for called in list(self._hearing):
                    called.called(word.worker, word.run, word.filter_name)
        except (OSError, TfdbgError) as error:
            if reason_of(error) != self._trouble:
                self._trouble = reason_of(error)
                to_stderr(f"Other workers are not heard (--on-hit all): {self._trouble}")

    def _joined(self) -> _Place | None:
        """Where this worker stands, once that is known; it has its file there from then on."""
        if self._place is None:
            try:
                place = _place(self._environment)
                if place is not None:
                    _write(place.file_of(place.worker), WorkerReport(place.worker))
            except OSError as error:
                raise _refused(self._environment.get(FOLDER, ""), error) from error
            self._place = place
        return self._place


def _place(environment: Mapping[str, str]) -> _Place | None:
    """Where the worker of `environment` stands; None where it is of no job.

    Raises:
        TfdbgError: the folder of this user is open to others.
        OSError: there can be no such folder.

    """
    job, named = cluster_of(environment), environment.get(FOLDER, "")
    if named:
        folder = Path(named).expanduser().absolute()
    elif job is not None:
        folder = own_folder() / "jobs" / job.digest
    else:
        return None
    with suppress(FileExistsError):  # what is there and no folder is told when the file of this worker is written
        folder.mkdir(0o700, parents=True, exist_ok=True)
    if job is None:
        return _Place(folder, f"{socket.gethostname()}-{os.getpid()}")
    return _Place(folder, _shown(job.worker), tuple(_shown(worker) for worker in job.workers if worker != job.worker))


def _refused(named: str, error: OSError) -> Exception:
    """What `error` means to who `named` the folder; the error itself where nobody did."""
    if not named:
        return error
    path = Path(named).expanduser()
    if path.is_symlink() and not path.exists():
        why = "It is a link that leads nowhere."
    else:
        why = "It is no folder." if path.exists() and not path.is_dir() else f"{error.strerror}."
    hint = f"Name a folder there that all workers of the job see and may write into, or none: unset {FOLDER}."
    return TfdbgError(f"{FOLDER} names {printable(named)}. {why}", hint=hint)


def _shown(text: str) -> str:
    return printable(text[:_LONGEST_NAME])


def _write(path: Path, word: WorkerReport) -> None:
    """Replace the file at `path` by one that says `word`, whole at any moment."""
    new = path.with_name(f".{path.name}.{os.getpid()}")
    new.write_text(json.dumps(asdict(word)), encoding="ascii")
    new.replace(path)


def _words(folder: Path) -> dict[str, WorkerReport]:
    """What the files in `folder` say, by their names; those that say nothing we know are left out."""
    found = {}
    for path in sorted(folder.glob(f"*{_ENDING}")):
        with suppress(OSError, *WRONG_CONTENT), opened_plain(path, _MOST_BYTES) as (file, size):
            told = json.loads(file.read(size))
            name, passed = _shown(str(told["worker"])), _shown(str(told["filter_name"]))
            found[path.name] = WorkerReport(name, str(told["mark"]), int(told["run"]), passed)
    return found
