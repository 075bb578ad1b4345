import os
import pty
import sys

import pytest

from tfdbg_cli.tui.terminal import spool as spool_module
from tfdbg_cli.tui.terminal.spool import Spool


@pytest.fixture
def terminal():
    """A descriptor that leads to a pseudo terminal, and what arrives there."""
    controller, terminal = pty.openpty()
    target = os.dup(terminal)
    yield target, controller
    for fd in (controller, terminal, target):
        os.close(fd)


def arrived(controller):
    os.set_blocking(controller, False)
    text = b""
    try:
        while chunk := os.read(controller, 65536):
            text += chunk
    except BlockingIOError:
        pass
    return text.replace(b"\r\n", b"\n")


def test_nothing_is_printed_until_the_end_and_then_everything_in_order(terminal):
    target, controller = terminal
    other = os.dup(target)
    spool = Spool((target, other))
    spool.start()
    os.write(target, b"one\n")
    os.write(other, b"two\n")
    os.write(target, b"three\n")
    assert arrived(controller) == b""
    spool.stop()
    assert arrived(controller) == b"one\ntwo\nthree\n"
    os.write(other, b"after\n")
    assert arrived(controller) == b"after\n"
    os.close(other)


def test_pipes_and_files_are_left_alone():
    reading, writing = os.pipe()
    spool = Spool((writing,))
    spool.start()
    os.write(writing, b"x")
    assert os.read(reading, 10) == b"x"
    spool.stop()
    os.close(reading)
    os.close(writing)


def test_the_disk_is_bounded_and_the_loss_is_told(terminal):
    target, controller = terminal
    spool = Spool((target,), limit=1000)
    spool.start()
    for i in range(10):
        os.write(target, bytes([65 + i]) * 600 + b"\n")
        spool.trim()
    spool.stop()
    text = arrived(controller)
    assert b"bytes printed meanwhile were dropped" in text
    assert b"JJJ" in text
    assert b"AAA" not in text
    assert len(text) < 4000


def test_without_room_for_a_file_everything_goes_on(terminal, monkeypatch):
    target, controller = terminal

    def full(**kwargs):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(spool_module.tempfile, "TemporaryFile", full)
    spool = Spool((target,))
    spool.start()
    os.write(target, b"shown\n")
    spool.stop()
    assert arrived(controller) == b"shown\n"


def test_closed_streams_of_the_program_do_no_harm(terminal, monkeypatch):
    class Closed:
        def flush(self):
            raise ValueError("I/O operation on closed file")

    monkeypatch.setattr(sys, "stdout", Closed())
    target, controller = terminal
    spool = Spool((target,))
    spool.start()
    os.write(target, b"kept\n")
    assert arrived(controller) == b""
    spool.stop()
    os.write(target, b"after\n")
    assert arrived(controller) == b"kept\nafter\n"
