"""A program that listens, in a process of its own, and somebody who is attached to it and speaks the protocol."""

from __future__ import annotations

import os
import re
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from support.launched import begun
from tfdbg_cli.remote.address import Address
from tfdbg_cli.remote.channel import Channel
from tfdbg_cli.remote.messages import VERSION, Message

# Each run is one call; with the file `nan` there it gives NaN, and `seen` tells that such a call is over.
PROGRAM = """
import os, sys, time
import tensorflow as tf
total = tf.Variable(1.0)

@tf.function
def step(x):
    total.assign_add(0.5)
    return tf.math.log(x)

while not os.path.exists("end"):
    time.sleep(0.002)  # leaves the processor to those who watch
    bad = os.path.exists("nan")
    step(tf.constant(-1.0 if bad else 2.0))
    if bad:
        open("seen", "w").close()
        os.remove("nan")
print("ends", flush=True)
sys.exit(7)
"""
_PATIENCE = 240.0  # seconds, after which a test fails that would wait for ever


class Job:
    """`tfdbg run WORDS` of that program in `folder`, which is a short path of its own."""

    def __init__(self, folder: Path, *words: str, program: str = PROGRAM) -> None:
        self.folder = folder
        (folder / "job.py").write_text(program)
        self.environ = {
            **os.environ,
            "XDG_RUNTIME_DIR": str(folder),
            "TMPDIR": str(folder),
            "TFDBG_TOKEN": "a token for tests",
        }
        self._process = begun("-m", "tfdbg_cli", "run", *words, "job.py", folder=folder, environ=self.environ)
        self.pid = self._process.pid
        self.said = ""

    @property
    def errors(self) -> str:
        """What it has said on standard error so far."""
        return os.pread(self._process._errors.fileno(), 1 << 16, 0).decode()  # type: ignore[union-attr]

    @property
    def address(self) -> Address:
        """Where it listens, which it says first."""

        def told() -> re.Match[str] | None:
            return re.search(r"Listening on (\S+:\d+)\.", self.errors)

        wait_for(lambda: told() is not None)
        found = told()
        assert found is not None
        return Address.read(found[1])

    def touch(self, name: str) -> None:
        """Make one of the files that the program looks for."""
        (self.folder / name).touch()

    def is_seen(self) -> bool:
        """Whether a call that gave NaN is over."""
        return (self.folder / "seen").exists()

    def end(self) -> tuple[int | None, str, str]:
        """Have it end: its exit code, output and errors."""
        self.touch("end")
        out, err = self._process.communicate(timeout=_PATIENCE)
        return self._process.returncode, out, err

    def kill(self) -> None:
        """End it in any case."""
        if self._process.poll() is None:
            os.kill(self.pid, 9)
            self._process.wait()


class Guest:
    """Somebody attached, message by message."""

    def __init__(self, address: Address, token: str = "a token for tests", **wishes: object) -> None:
        self.channel = Channel(address.connect())
        self.channel.send("hello", version=VERSION, token=token, **wishes)
        self.text = ""

    @classmethod
    def when_free(cls, address: Address) -> Guest:
        """Somebody who tries until nobody else is attached."""
        while True:
            guest = cls(address)
            message = guest.channel.receive(_PATIENCE)
            assert message is not None
            if message["kind"] == "welcome":
                return guest
            guest.vanish()
            time.sleep(0.01)

    def until(self, kind: str) -> Message:
        """The next message of that kind; `text` grows by what comes before."""
        while True:
            message = self.channel.receive(_PATIENCE)
            assert message is not None, f"the connection ended before {kind!r} came: {self.text}"
            if message["kind"] == kind:
                return message
            self.text += message["text"] if message["kind"] == "text" else ""

    def say(self, command: str) -> None:
        """Answer a `read`."""
        self.channel.send("line", text=command)

    def vanish(self) -> None:
        """Be gone without a word, as a process that is killed."""
        self.channel.close()


@contextmanager
def job(*words: str, program: str = PROGRAM) -> Iterator[Job]:
    """A program that listens as `words` say; killed at the end if it still goes on."""
    with tempfile.TemporaryDirectory() as folder:
        made = Job(Path(folder), *words, program=program)
        try:
            yield made
        finally:
            made.kill()


def wait_for(is_so) -> None:
    """Wait until `is_so()`."""
    end = time.monotonic() + _PATIENCE
    while not is_so():
        assert time.monotonic() < end, "it never came"
        time.sleep(0.01)
