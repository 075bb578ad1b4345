"""Python that has TensorFlow imported already: a program starts in milliseconds instead of seconds."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import BinaryIO

# What TensorFlow, Keras, the interpreter and the libraries of C read once: a server for each choice of them.
_READ_ONCE = ("TF_", "KERAS_", "XLA_", "CUDA_", "PYTHON", "LC_", "LANG", "LD_", "OMP_", "MKL_", "OPENBLAS_")
_SERVER = Path(__file__).with_name("warm_server.py")


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
    read_once = sorted(name for name in environ if name.startswith(_READ_ONCE) and name != "PYTHONPATH")
    server = _server(tuple((name, environ[name]) for name in read_once))
    request = {"words": list(words), "folder": str(folder), "environ": dict(environ)}
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err, _input(given) as source:
        socket.send_fds(server, [json.dumps(request).encode()], [source.fileno(), out.fileno(), err.fileno()])
        child = int(_answer(server))
        server.settimeout(timeout)
        try:
            code = int(_answer(server))
        except TimeoutError:
            os.kill(child, signal.SIGKILL)
            server.settimeout(None)
            _answer(server)
            raise subprocess.TimeoutExpired(list(words), timeout, _text(out), _text(err)) from None
        finally:
            server.settimeout(None)
        return subprocess.CompletedProcess([sys.executable, *words], code, _text(out), _text(err))


def _answer(server: socket.socket) -> bytes:
    answer = server.recv(64)
    assert answer, "the process that has TensorFlow imported has ended: see its message above"
    return answer


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
def _server(read_once: tuple[tuple[str, str], ...]) -> socket.socket:
    """The way to the server whose environment says `read_once`; it ends when this process does."""
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
            [sys.executable, str(_SERVER), str(theirs.fileno())],
            env=environ, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, pass_fds=[theirs.fileno()],
        )  # fmt: skip
    return ours
