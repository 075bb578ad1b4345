"""Python that has imported what a program will: it starts in milliseconds instead of a second, or five."""

from __future__ import annotations

import ctypes
import json
import os
import pty
import select
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, BinaryIO

import pexpect
import ptyprocess

# What TensorFlow, Keras, the interpreter and the libraries of C read once: a server for each choice of them.
_READ_ONCE = ("TF_", "KERAS_", "XLA_", "CUDA_", "PYTHON", "LC_", "LANG", "LD_", "OMP_", "MKL_", "OPENBLAS_")
_READ_LATER = {"PYTHONPATH", "TF_CONFIG", "CUDA_VISIBLE_DEVICES"}  # by the program, or when it has a first device
_SERVER = Path(__file__).with_name("warm_server.py")
_LIGHT = ("numpy", "ml_dtypes", "urwid")
_HEAVY = ("numpy", "ml_dtypes", "tensorflow", "keras")
_ADOPT = 36  # PR_SET_CHILD_SUBREAPER of Linux


def can_be_warm(words: Sequence[str]) -> bool:
    """Whether a fork is as good as a new process for `python WORDS`; TFDBG_COLD=1 asks for new ones always."""
    flagless = words[0] in ("-m", "-c") or not words[0].startswith("-")
    return flagless and sys.platform == "linux" and "TFDBG_COLD" not in os.environ


def run_warm(
    words: Sequence[str], folder: Path, environ: Mapping[str, str], given: str | None, timeout: float
) -> subprocess.CompletedProcess[str]:
    """What `python WORDS` does in `folder`, with `given` in a pipe as its input, or nothing.

    Raises:
        subprocess.TimeoutExpired: it has not ended after `timeout` seconds, and was killed.

    """
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err, _input(given) as source:
        program = WarmProgram(words, folder, environ, [source.fileno(), out.fileno(), err.fileno()])
        try:
            code = program.wait(timeout)
        except subprocess.TimeoutExpired:
            os.kill(program.pid, signal.SIGKILL)
            program.wait()
            raise subprocess.TimeoutExpired(list(words), timeout, _text(out), _text(err)) from None
        return subprocess.CompletedProcess([sys.executable, *words], code, _text(out), _text(err))


class WarmProgram:
    """`python WORDS` in `folder` as a child of this process, with three open `files` as its input, output and errors.

    It is a fork of a server that has imported TensorFlow, or what tfdbg needs without it.
    """

    def __init__(
        self,
        words: Sequence[str],
        folder: Path,
        environ: Mapping[str, str],
        files: Sequence[int],
        *,
        heavy: bool = True,
        terminal: bool = False,
    ) -> None:
        read_once = sorted(name for name in environ if name.startswith(_READ_ONCE) and name not in _READ_LATER)
        server = _server(_HEAVY if heavy else _LIGHT, tuple((name, environ[name]) for name in read_once))
        request = {"words": list(words), "folder": str(folder), "environ": dict(environ), "terminal": terminal}
        self._words = words
        self.returncode: int | None = None
        # Children of children that end become ours only while the program is begun: others' are not ours to wait for.
        _adopt(True)
        try:
            socket.send_fds(server, [json.dumps(request).encode()], files)
            answer = server.recv(64)
        finally:
            _adopt(False)
        assert answer, "the process that has everything imported has ended: see its message above"
        self.pid = int(answer)

    def poll(self) -> int | None:
        """The exit code, negative for a signal; None while the program goes on."""
        if self.returncode is None:
            ended, status = os.waitpid(self.pid, os.WNOHANG)
            self.returncode = os.waitstatus_to_exitcode(status) if ended else None
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        """Wait for the end, at most `timeout` seconds; the exit code.

        Raises:
            subprocess.TimeoutExpired: it has not ended by then, and goes on.

        """
        while (code := self.poll()) is None:
            ended = os.pidfd_open(self.pid)
            try:
                if not select.select([ended], [], [], timeout)[0]:
                    raise subprocess.TimeoutExpired(list(self._words), timeout or 0.0)
            finally:
                os.close(ended)
        return code


class PipedProgram(WarmProgram):
    """A `WarmProgram` that one talks with, as with a `subprocess.Popen` whose files are all pipes of text."""

    def __init__(self, words: Sequence[str], folder: Path, environ: Mapping[str, str]) -> None:
        given, stdin = os.pipe()
        stdout, out = os.pipe()
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115
        super().__init__(words, folder, environ, [given, out, self._errors.fileno()])
        os.close(given)
        os.close(out)
        self.stdin = open(stdin, "w", encoding="utf-8")  # noqa: SIM115
        self.stdout = open(stdout, encoding="utf-8")  # noqa: SIM115

    def communicate(self, timeout: float | None = None) -> tuple[str, str]:
        """End the input; what comes to the end, and all errors that were written.

        Raises:
            subprocess.TimeoutExpired: it has not ended `timeout` seconds after its output, and goes on.

        """
        self.stdin.close()
        with self.stdout, self._errors:
            said = self.stdout.read()
            self.wait(timeout)
            return said, _text(self._errors)


class WarmSpawn(pexpect.spawn):
    """A program in a pseudo terminal; `python WORDS` without TensorFlow is a fork of what has imported the rest."""

    heavy = False

    def _spawnpty(self, args: Sequence[str], **options: Any) -> ptyprocess.PtyProcess:
        command, *words = map(os.fsdecode, args)
        if command != sys.executable or not can_be_warm(words):
            return super()._spawnpty(args, **options)
        ours, theirs = pty.openpty()
        # The size is the program's from its first look on.
        ptyprocess.ptyprocess._setwinsize(theirs, *(options.get("dimensions") or (24, 80)))
        environ = os.environ if options.get("env") is None else options["env"]
        folder = Path(options.get("cwd") or Path.cwd())
        try:
            program = WarmProgram(words, folder, environ, [theirs] * 3, heavy=self.heavy, terminal=True)
        finally:
            os.close(theirs)
        return ptyprocess.PtyProcess(program.pid, ours)


class HeavySpawn(WarmSpawn):
    """The same for a program that needs TensorFlow."""

    heavy = True


def _adopt(children: bool) -> None:
    """Whether processes below this one whose parents end become its own children."""
    failed = ctypes.CDLL(None).prctl(_ADOPT, int(children), 0, 0, 0)
    assert not failed, "this system gives nobody the children of children"


def _input(given: str | None) -> BinaryIO:
    if given is None:
        return open(os.devnull, "rb")
    end, start = os.pipe()
    with open(start, "wb") as writer:  # what is longer than the pipe would wait for a reader
        assert len(given) < 1 << 15
        writer.write(given.encode())
    return open(end, "rb")


def _text(file: BinaryIO) -> str:
    file.seek(0)
    return file.read().decode().replace("\r\n", "\n")


@cache
def _server(packages: Sequence[str], read_once: tuple[tuple[str, str], ...]) -> socket.socket:
    """The way to the server that has `packages` and whose environment says `read_once`; it ends when we do."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    # The one thread of NumPy's algebra keeps the process free of others when it forks.
    environ = {
        "PATH": os.environ["PATH"],
        "HOME": tempfile.gettempdir(),
        "OPENBLAS_NUM_THREADS": "1",
        **dict(read_once),
    }
    with theirs:
        subprocess.Popen(
            [sys.executable, str(_SERVER), str(theirs.fileno()), *packages],
            env=environ, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, pass_fds=[theirs.fileno()],
        )  # fmt: skip
    return ours
