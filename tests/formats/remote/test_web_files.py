"""Recordings behind web servers, the simple ones among them that give files whole alone."""

from __future__ import annotations

import functools
import http.server
import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest
from support.checkpoint_maker import checkpoint
from support.dump_maker import small_dump
from support.ending import ends
from support.far_files import CountedFiles, put

from tfdbg_cli.api.recordings import open_recording
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.formats.examining import examined
from tfdbg_cli.formats.opening import open_path
from tfdbg_cli.formats.remote import file_system
from tfdbg_cli.formats.remote.web_files import WebFiles

_WEIGHTS = np.arange(9 << 20, dtype=np.float32)  # longer than what is asked for in one question


@pytest.fixture(autouse=True)
def nothing_far(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path_factory.mktemp("scratch")))
    CountedFiles.store.clear()
    CountedFiles.pseudo_dirs[:] = [""]
    CountedFiles.read.clear()


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """A folder with a dump directory, whose names have commas and blanks, and with a checkpoint."""
    (tmp_path / "a dump").mkdir()
    small_dump(tmp_path / "a dump")
    checkpoint(tmp_path / "ckpt" / "model", {"weights": _WEIGHTS})
    return tmp_path


def _opens(address: str, site: Path) -> None:
    """What a web server has of `site` at `address` is what lies there."""
    near = open_path(site / "a dump").runs[0].tensors
    for name in ("a dump", "a%20dump/"):
        far = open_path(f"{address}/{name}").runs[0].tensors
        assert [far[place] for place in range(len(far))] == [near[place] for place in range(len(near))]
    weights = open_recording(f"{address}/ckpt/model").tensors()["weights"]
    assert weights[70_000:70_003].tolist() == [70_000, 70_001, 70_002]
    assert np.array_equal(weights.value, _WEIGHTS)
    assert not examined(f"{address}/ckpt").troubles


def test_a_server_that_gives_files_whole_is_asked_for_each_once(site: Path) -> None:
    put(site, "counted", "site")
    tensor = open_recording("web://site/ckpt/model").tensors()["weights"]
    assert tensor[-3:].tolist() == _WEIGHTS[-3:].tolist()
    assert tensor[:3].tolist() == [0, 1, 2]
    assert CountedFiles.bytes_read("-of-00001") == _WEIGHTS.nbytes
    _opens("web://site", site)


def test_a_file_that_a_server_gives_longer_than_it_said_is_another_one(site: Path) -> None:
    put(site, "counted", "site")
    tensor = open_recording("web://site/ckpt/model").tensors()["weights"]
    name = next(name for name in CountedFiles.store if name.endswith("-of-00001"))
    CountedFiles().pipe_file(name, bytes(_WEIGHTS.nbytes + 9))
    with pytest.raises(TfdbgError, match="another one than when it was opened: it ends at byte 37,748,745"):
        tensor[-3:]


class _Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *words: object) -> None:
        pass


@pytest.fixture
def server(site: Path) -> Iterator[str]:
    pytest.importorskip("aiohttp")  # fsspec reads http:// by it
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(_Quiet, directory=str(site))) as served:
        threading.Thread(target=served.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{served.server_port}"
        served.shutdown()


def test_pythons_own_web_server(server: str, site: Path) -> None:
    _opens(server, site)
    with pytest.raises(TfdbgError, match="There is no http"):
        open_path(f"{server}/nothing")


class _Pages:
    """A file system that lists what `page` tells of a folder: names of files, and of folders with a slash behind."""

    def __init__(self, page: Callable[[str], Sequence[str]]) -> None:
        self._page = page

    def ls(self, folder: str, detail: bool) -> list[dict[str, object]]:
        names = (name if "://" in name else f"{folder.rstrip('/')}/{name}" for name in self._page(folder))
        return [{"name": name, "type": "directory" if name.endswith("/") else "file", "size": None} for name in names]


def _within(page: Callable[[str], Sequence[str]]) -> list[str]:
    with ends("listing a folder"):
        return [str(entry["name"]) for entry in WebFiles(_Pages(page)).within("http://h/run")]


@pytest.mark.parametrize("link", ["latest/", "http://h/run/"])
def test_a_folder_that_leads_to_itself_is_listed_once(link: str) -> None:
    """A blind test: it was asked for again and again, under a longer name each time."""
    assert _within(lambda folder: ["index.sqlite", link]) == ["http://h/run/index.sqlite"]


def test_folders_of_one_name_within_each_other_are_listed() -> None:
    found = _within(lambda folder: ["dense/"] if folder.count("dense") < 3 else ["kernel"])
    assert found == ["http://h/run/dense/dense/dense/kernel"]


def test_folders_without_an_end_are_refused() -> None:
    with pytest.raises(TfdbgError, match="http://h/run has folders within folders without an end"):
        _within(lambda folder: [f"{len(folder)}/"])


def test_more_folders_than_any_recording_has_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """A blind test: how many there are was asked once all were listed."""
    monkeypatch.setattr(file_system, "_MOST_FILES", 100)
    with pytest.raises(TfdbgError, match=r"http://h/run holds 1\d\d files, more than any recording has"):
        _within(lambda folder: ["a/", "b/"])
