"""What lies in the place of a file of a recording may be a pipe, a socket, or a file of holes that claims much."""

from __future__ import annotations

import os
import socket
import tracemalloc
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from support.ending import ends
from support.sample_run import TRACEBACKS, TRAIN_PY, sample_run
from support.saved_sources import SavedSources

from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.formats.bundles.reader import read_bundle
from tfdbg_cli.formats.bundles.writer import write_bundle
from tfdbg_cli.formats.opening import open_path
from tfdbg_cli.formats.recording.regular_file import opened, read_whole
from tfdbg_cli.model.calls import RunKind
from tfdbg_cli.model.profile import NodeTime, Profile
from tfdbg_cli.model.replay import InputRole, ReplayInput, ReplaySpec
from tfdbg_cli.model.sources import LiveSources
from tfdbg_cli.plain_files import UnfitFileError

_CLAIM = 16 << 30
_MOST_MEMORY = 64 << 20


def _pipe(path: Path) -> None:
    os.mkfifo(path)


def _socket(path: Path) -> None:
    here = Path.cwd()
    os.chdir(path.parent)  # the name of a socket is short
    try:
        with socket.socket(socket.AF_UNIX) as made:
            made.bind(path.name)
    finally:
        os.chdir(here)


def _folder(path: Path) -> None:
    path.mkdir()


def _holes(path: Path) -> None:
    with path.open("wb") as file:
        file.write(b"{" * 10)
        file.truncate(_CLAIM)


def _holes_behind_a_head(path: Path) -> None:
    """A file whose beginning is a tensor that claims to go on."""
    shape = b"\x12\x08\x12\x06\x08\x80\x80\x80\x80\x10"
    content = b"\x22\x80\x80\x80\x80\x10"
    tensor = b"\x08\x04" + shape + content
    length = (1 << 32) + len(tensor)

    def varint(number: int) -> bytes:
        return bytes([number & 0x7F | 0x80]) + varint(number >> 7) if number > 0x7F else bytes([number])

    value = b"\x42" + varint(length) + tensor
    summary = b"\x0a" + varint((1 << 32) + len(value)) + value
    with path.open("wb") as file:
        file.write(b"\x2a" + varint((1 << 32) + len(summary)) + summary)
        file.truncate(file.tell() + (1 << 32))


KINDS = (_pipe, _socket, _folder, _holes, _holes_behind_a_head)


def _bundle(path: Path) -> Path:
    inputs = (
        ReplayInput("x", InputRole.GIVEN, "float32", np.ones(3, np.float32), ""),
        ReplayInput("names", InputRole.GIVEN, "string", np.array([b"a"], object), ""),
    )
    run = replace(
        sample_run(),
        tracebacks=TRACEBACKS,
        sources=SavedSources({"/home/ada/train.py": TRAIN_PY}),
        profile=Profile((NodeTime("x", "Placeholder", "", 0.0, 1.0, 2.0),)),
        python_graph=sample_run().graph,
    )
    write_bundle(run, ReplaySpec(RunKind.FUNCTION, b"\x0a\x03abc", "step", (), inputs), path)
    return path


def _look_at_everything(bundle: Path) -> None:
    with suppress(TfdbgError):
        read_bundle(bundle)
    with suppress(TfdbgError):
        for run in open_path(bundle).runs:
            for index in range(len(run.tensors)):
                assert run.tensors[index].name
                run.tensors.value(index)
            assert all(name for name in run.call.feeds)
            assert [run.call.feeds[name] for name in run.call.feeds]
            run.sources.lines("/home/ada/train.py")


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_no_file_of_a_bundle_may_be_something_else(tmp_path: Path, kind: Callable[[Path], None]) -> None:
    bundle = _bundle(tmp_path / "bundle")
    _look_at_everything(bundle)
    files = [path for path in sorted(bundle.rglob("*")) if path.is_file()]
    assert {"case.json", "python_graph.pb", "graph.pb", "repetition.json", "profile.json"} <= {f.name for f in files}
    for path in files:
        kept = path.with_name(f"{path.name}.kept")
        path.rename(kept)
        kind(path)
        tracemalloc.start()
        with ends(f"{kind.__name__} as {path.relative_to(bundle)}"):
            _look_at_everything(bundle)
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert most < _MOST_MEMORY, f"{path.relative_to(bundle)} took {most:,} bytes"
        path.rmdir() if path.is_dir() else path.unlink()
        kept.rename(path)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_what_is_wrong_with_it_is_said(tmp_path: Path, kind: Callable[[Path], None]) -> None:
    kind(tmp_path / "it")
    with ends("opening it"), pytest.raises(OSError):
        read_whole(tmp_path / "it", 1 << 62)


def test_a_file_is_read_whole_or_refused_by_its_size(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"abc")
    assert read_whole(path, 3) == b"abc"
    with opened(path) as (file, size):
        assert (file.read(), size) == (b"abc", 3)
    with pytest.raises(UnfitFileError, match="3 bytes are more than such a file has"):
        read_whole(path, 2)
    with pytest.raises(FileNotFoundError):
        read_whole(tmp_path / "none", 2)


def test_sources_of_the_running_program_are_files_too(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.py")
    with ends("reading a pipe"):
        assert LiveSources().lines(str(tmp_path / "pipe.py")) is None
    _holes(tmp_path / "holes.py")
    assert LiveSources().lines(str(tmp_path / "holes.py")) is None
    assert LiveSources().lines("\ud800.py") is None
    assert LiveSources().lines(__file__)
