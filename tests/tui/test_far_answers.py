"""What lies far away is fetched beside the screen: keys are answered meanwhile, and nobody has to wait for it."""

from __future__ import annotations

import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.checkpoint_maker import checkpoint
from support.far_files import CountedFiles, put
from support.golden import check_golden
from support.looks import frame_with_looks
from support.sample_run import sample_run
from support.slow_screen import Slow

from tfdbg_cli.formats.container.writer import RecordingWriter
from tfdbg_cli.formats.opening import open_path
from tfdbg_cli.formats.recording import fetching
from tfdbg_cli.formats.remote import far_folder
from tfdbg_cli.process.own_threads import all_threads

_FETCHING = {"tfdbg-fetching"}  # threads
_LONG = 60.0  # seconds, of which none passes where all is well
_WEIGHTS = np.arange(9 << 20, dtype=np.float32)
_WEIGHTS[77] = np.nan


class _Server:
    """Answers while it is let."""

    def __init__(self) -> None:
        self.answers = threading.Event()
        self.answers.set()
        self.asked = threading.Event()
        self.waited: set[str] = set()  # the threads that asked it
        self.error: Exception | None = None


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> Iterator[_Server]:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path_factory.mktemp("scratch")))
    CountedFiles.store.clear()
    CountedFiles.pseudo_dirs[:] = [""]
    CountedFiles.read.clear()
    made = _Server()
    plain = CountedFiles.cat_file

    def waiting(files: CountedFiles, path: str, *words: Any, **named: Any) -> bytes:
        made.asked.set()
        made.waited.add(threading.current_thread().name)
        assert made.answers.wait(_LONG)
        if made.error is not None:
            raise made.error
        return plain(files, path, *words, **named)

    monkeypatch.setattr(CountedFiles, "cat_file", waiting)
    yield made
    made.answers.set()
    for thread in all_threads():
        if thread.name in _FETCHING:
            thread.join(_LONG)  # what nobody waits for any more must not count for the next test


@pytest.fixture(scope="module")
def weights(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a checkpoint, from which each test puts a copy far away."""
    folder = tmp_path_factory.mktemp("weights")
    checkpoint(folder / "model", {"weights": _WEIGHTS, "bias": _WEIGHTS[:4]})
    return folder


def _opened(server: _Server, weights: Path, size: tuple[int, int]) -> Slow:
    stop = open_path(put(weights, "counted", "bucket/ckpt"))
    made = Slow("run_info", stop, size)
    server.waited.clear()
    return made


@pytest.fixture
def screen(server: _Server, weights: Path) -> Slow:
    return _opened(server, weights, (200, 60))


def _asked(screen: Slow, server: _Server, command: str) -> None:
    """Ask for `command`, and wait until the far files were asked for what it takes."""
    server.asked.clear()
    server.answers.clear()
    screen.press(":", *command, "enter")
    screen.step()
    assert server.asked.wait(_LONG)


def test_a_value_comes_beside_the_screen(screen: Slow, server: _Server) -> None:
    _asked(screen, server, "pt weights -s")
    screen.press("k")
    assert screen.state.page.command == "run_info", "keys are answered meanwhile"
    assert "pt weights -s: working, 0%. Esc stops it." in screen.status
    server.answers.set()
    screen.finish()
    assert screen.state.page.command == "pt weights -s"
    assert "nan" in screen.status.lower()


@pytest.mark.parametrize("key", ["esc", "ctrl c"])
def test_a_server_that_does_not_answer_is_left(screen: Slow, server: _Server, key: str) -> None:
    _asked(screen, server, "pt weights -s")
    screen.press(key)
    assert screen.state.pending is None
    assert screen.state.page.command == "run_info"
    screen.press(":", *"lt", "enter")
    screen.finish()
    assert screen.state.page.command == "lt", "what is there is shown"


def test_a_list_goes_on_with_what_has_come(screen: Slow, server: _Server) -> None:
    _asked(screen, server, "lt -f has_inf_or_nan")
    assert screen.state.pending is not None
    server.answers.set()
    screen.finish()
    assert screen.state.page.document.data()["tensors"][0]["name"] == "weights:0"
    assert CountedFiles.bytes_read("-of-00001") <= _WEIGHTS.nbytes + (2 << 16)


def test_what_cannot_be_fetched_is_said(screen: Slow, server: _Server) -> None:
    _asked(screen, server, "pt weights -s")
    server.error = ConnectionResetError("Connection reset by peer")
    server.answers.set()
    while screen.state.pending is not None:
        screen.app._guarded("looking", screen.step)
    message = screen.state.message
    assert message is not None and message.error
    assert "could not be fetched (ConnectionResetError: Connection reset by peer)" in message.text
    assert screen.state.page.command == "run_info"
    server.error = None
    screen.press(":", *"pt weights -s", "enter")
    screen.finish()
    assert screen.state.page.command == "pt weights -s"


def test_what_rows_in_sight_hold_comes_beside_the_screen(screen: Slow, server: _Server) -> None:
    _asked(screen, server, "lt")
    assert screen.state.pending is None and screen.state.page.command == "lt", "the list itself is there"
    screen.press("j")
    assert "weights:0" in screen.status
    server.answers.set()
    screen.rest()
    (row,) = (row for row in screen.status.splitlines() if " weights:0" in row and "float32" in row)
    assert " 1 " in row, "the NaN is counted"
    assert server.waited == _FETCHING


def test_rows_that_cannot_be_counted_are_tried_again_when_others_are_in_sight(screen: Slow, server: _Server) -> None:
    server.error = ConnectionResetError("Connection reset by peer")
    screen.press(":", *"lt", "enter")
    screen.rest()
    message = screen.state.message
    assert message is not None and "Connection reset by peer" in message.text
    assert next(screen.app._between_keys._tasks(), None) is None, "nobody asks a server on and on that is away"
    server.asked.clear()
    server.error = None
    screen.press(":", *"lt", "enter")
    screen.rest()
    assert server.asked.is_set() and server.waited == _FETCHING


def test_a_preview_comes_beside_the_screen(screen: Slow, server: _Server) -> None:
    _asked(screen, server, "lt")
    screen.press("down")
    assert not any("…" in row.partition("│")[2] for row in screen.status.splitlines()), "the preview is not asked yet"
    server.answers.set()
    screen.rest()
    assert "preview" in screen.status and "█" in screen.status, "the histogram is drawn"
    assert server.waited == _FETCHING


def test_a_preview_that_cannot_be_had_says_so(screen: Slow, server: _Server) -> None:
    server.error = ConnectionResetError("Connection reset by peer")
    screen.press(":", *"lt", "enter")
    screen.rest()
    assert "made a mistake" not in screen.status
    assert "could not be fetched" in screen.status.partition("preview")[2]


@pytest.mark.parametrize("keys", [("]", "b"), ("w",), ("f", *"nan>0", "enter"), ("v",)])
def test_whatever_asks_for_values_is_answered_beside_the_screen(
    screen: Slow, server: _Server, keys: tuple[str, ...]
) -> None:
    screen.press(":", *"lt", "enter", "G", *keys)
    screen.rest()
    assert server.waited == _FETCHING
    if keys == ("v",):
        assert screen.state.viewed is not None
    assert screen.state.report is None or not screen.state.report


def test_the_finder_counts_beside_the_screen(screen: Slow, server: _Server) -> None:
    server.error = ConnectionResetError("Connection reset by peer")
    screen.press("ctrl p", *"weights")
    screen.rest()
    assert screen.state.message is not None and "Connection reset" in screen.state.message.text
    server.error = None
    screen.press("backspace")
    screen.rest()
    assert server.waited == _FETCHING


def test_a_recording_is_scanned_beside_the_screen(
    server: _Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    writer = RecordingWriter(tmp_path / "rec")
    writer.write(sample_run())
    writer.close()
    monkeypatch.setattr(far_folder, "_SMALL", 0)
    monkeypatch.setattr(far_folder, "_BLOCK", 1)  # more of it than the first frame asks for
    monkeypatch.setattr(fetching, "_AHEAD", 0)
    screen = Slow("run_info", open_path(put(tmp_path / "rec", "counted", "bucket/rec")), (200, 60))
    server.waited.clear()
    screen.press(":", *"lt -f has_inf_or_nan", "enter")
    screen.rest()
    assert screen.state.page.document.kind == "tensors"
    assert server.waited == _FETCHING, "the threads that scan wait no more than the screen"


def test_a_preview_does_not_wait_for_all_rows_in_sight(screen: Slow, server: _Server) -> None:
    _asked(screen, server, "lt")
    screen.press("j")
    for _ in range(20):
        screen.step()
    assert "Nothing is chosen" not in screen.status, "the preview of the chosen tensor is there"
    server.answers.set()
    screen.rest()


@pytest.mark.parametrize("size", [(40, 10), (80, 24), (120, 40), (200, 60)], ids=lambda size: f"{size[0]}x{size[1]}")
def test_far_pages_as_a_person_saw_them_and_agreed(server: _Server, weights: Path, size: tuple[int, int]) -> None:
    screen = _opened(server, weights, size)

    def check(name: str) -> None:
        check_golden(f"screens/far/{name}-{size[0]}x{size[1]}", frame_with_looks(screen.driven, size, 256))

    _asked(screen, server, "pt weights -s")
    check("fetching")
    server.error = ConnectionResetError("Connection reset by peer")
    server.answers.set()
    while screen.state.pending is not None:
        screen.app._guarded("looking", screen.step)
    check("failed")
    server.error = None
    screen.press(":", *"pt weights -s", "enter")
    screen.finish()
    screen.rest()
    check("fetched")
