"""Where programs of this user listen for `tfdbg attach PID`: Unix sockets in a folder that is theirs alone."""

from __future__ import annotations

import json
import os
import socket
import stat
import tempfile
import time
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from tfdbg_cli.errors import WRONG_CONTENT, TfdbgError

_SOCKET, _FACTS = ".socket", ".json"
_PATIENCE = 10.0  # seconds
_MOST_ALIKE = 100  # programs with one number: those of several containers that share the folder
_MOST_BYTES = 1 << 16


@dataclass(frozen=True, slots=True)
class Job:
    """A program that listens: its script or module, its process, when it was launched (seconds since 1970).

    `path` is the whole path of the script; empty for a module.
    """

    name: str
    pid: int
    since: float
    path: str = ""

    @property
    def words(self) -> str:
        """Script and time."""
        return f"{self.name} since {time.strftime('%Y-%m-%d %H:%M:%S', time.localtime(self.since))}"


@dataclass(frozen=True, slots=True)
class Meeting:
    """A socket in the folder: the number by which it is called, and whose it is."""

    path: Path
    job: Job

    @property
    def number(self) -> str:
        """Its process; where several have the same, with something behind it."""
        return self.path.name.removesuffix(_SOCKET)

    def is_called(self, name: str) -> bool:
        """Whether `name` is its number, the name of the program, with or without folders and `.py`, or its path."""
        last = self.job.name.rpartition("/")[2]
        if name in {self.number, self.job.name, last, last.removesuffix(".py")}:
            return True
        return bool(self.job.path) and "/" in name and os.path.realpath(name) == self.job.path

    def connect(self) -> socket.socket:
        """A connection to the program.

        Raises:
            TfdbgError: it takes none.

        """
        made = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        made.settimeout(_PATIENCE)
        try:
            made.connect(os.fspath(self.path))
        except OSError as error:
            made.close()
            raise TfdbgError(f"Cannot connect to {self.path}: {error.strerror or error}.", exit_code=2) from None
        return made

    def remove(self) -> None:
        """Remove what stands for it in the folder."""
        for path in (self.path, self.path.with_suffix(_FACTS)):
            with suppress(OSError):
                path.unlink()


def listen(job: Job) -> tuple[socket.socket, Meeting]:
    """A socket that listens in the folder, which is made if it is not there, and where it is.

    Raises:
        TfdbgError: there can be none.

    """
    try:
        folder = own_folder()
        meeting = Meeting(_free(folder, job), job)
        # It listens before it has its name: who finds it meanwhile would take it for that of a dead process.
        new = folder / f".{os.getpid()}"
        with suppress(FileNotFoundError):
            new.unlink()
        made = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            made.bind(os.fspath(new))
            made.listen()
            facts = meeting.path.with_suffix(_FACTS)
            facts.write_text(json.dumps(asdict(job)), encoding="ascii")
            new.rename(meeting.path)
        except BaseException:
            made.close()
            raise
    except OSError as error:
        why = error.strerror or str(error)
        hint = "XDG_RUNTIME_DIR may name a folder of yours with a shorter path." if "too long" in why else ""
        raise TfdbgError(f"Cannot listen in {_folders()[0]}: {why}.", hint=hint, exit_code=2) from None
    return made, meeting


def meetings() -> list[Meeting]:
    """The programs of this user that listen, by their numbers. What dead ones left is removed.

    Raises:
        TfdbgError: the folder is somebody else's.

    """
    found = []
    for folder in _folders():
        if not os.path.lexists(folder):
            continue
        _require_ours(folder)
        for path in folder.glob(f"*{_SOCKET}"):
            meeting = Meeting(path, _job(path))
            if _lives(path):
                found.append(meeting)
            else:
                meeting.remove()
    return sorted(found, key=lambda meeting: (meeting.job.pid, meeting.number))


def own_folder() -> Path:
    """The folder of this user alone, which is made if it is not there.

    Raises:
        TfdbgError: what is there is somebody else's, or open to others.
        OSError: it cannot be made.

    """
    folder = _folders()[0]
    with suppress(FileExistsError):
        folder.mkdir(mode=0o700)
    _require_ours(folder)
    return folder


def _folders() -> tuple[Path, ...]:
    """Where to listen, and where else others may: who attaches need not have the environment of the job."""
    own = Path(tempfile.gettempdir()) / f"tfdbg-{os.getuid()}"
    given = os.environ.get("XDG_RUNTIME_DIR", "")
    return (Path(given) / "tfdbg", own) if given and Path(given).is_dir() else (own,)


def _require_ours(folder: Path) -> None:
    """Raises TfdbgError if anybody else can have to do with `folder`."""
    facts = folder.lstat()
    if not stat.S_ISDIR(facts.st_mode):
        why = "is no folder"
    elif facts.st_uid != os.getuid():
        why = "belongs to another user"
    elif facts.st_mode & 0o077:
        why = "is open to other users"
    else:
        return
    raise TfdbgError(f"{folder} {why}: nothing is listened to there.", hint="Its mode has to be 0700.", exit_code=2)


def _free(folder: Path, job: Job) -> Path:
    """A path for the socket of `job` on which nobody listens."""
    numbers: Iterable[str] = (str(job.pid), *(f"{job.pid}-{more}" for more in range(2, _MOST_ALIKE)))
    for number in numbers:
        path = folder / f"{number}{_SOCKET}"
        if not os.path.lexists(path) or not _lives(path):
            return path
    raise TfdbgError(f"Too many programs with the number {job.pid} listen in {folder}.", exit_code=2)


def _lives(path: Path) -> bool:
    """Whether somebody listens at `path`."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as trial:
        trial.setblocking(False)
        try:
            trial.connect(os.fspath(path))
        except BlockingIOError:  # its queue is full
            return True
        except OSError:
            return False
    return True


def _job(path: Path) -> Job:
    """Whose socket `path` is, as far as the file beside it tells."""
    try:
        with path.with_suffix(_FACTS).open("rb") as file:
            facts = json.loads(file.read(_MOST_BYTES))
        return Job(str(facts["name"]), int(facts["pid"]), float(facts["since"]), str(facts["path"]))
    except (OSError, *WRONG_CONTENT):
        number = path.name.partition("-")[0].removesuffix(_SOCKET)
        return Job("a program", int(number) if number.isdecimal() else 0, 0.0)
