"""Dumps go to few addresses, since a session keeps what it prepares for each as long as it lives."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import numpy as np
import pytest
from support.scripted import ScriptedFrontend

import tfdbg_cli as tf_debug
from tfdbg_cli.capture.sessions.dump_addresses import DumpAddress
from tfdbg_cli.debugger.debugger import Debugger
from tfdbg_cli.formats.dumps.reader import read_dump
from tfdbg_cli.model.decision import CaptureRequest, DebugRun, GraphChoice
from tfdbg_cli.model.graph import GraphKind

pytestmark = pytest.mark.tf


def _folder(place: Path, name: str) -> Path:
    (place / name).mkdir()
    return place / name


class _Session:
    """Of a session no more is asked here than attributes."""


def _linked(address: DumpAddress) -> Path:
    return Path(address.address.removeprefix("file://"))


def test_an_address_is_used_again_and_leads_where_it_is_to(tmp_path: Path) -> None:
    met = []
    for name in "abc":
        address = DumpAddress(_Session(), _folder(tmp_path, name))
        with address:
            (_linked(address) / "file").write_text(name)
        met.append(address.address)
        assert (tmp_path / name / "file").read_text() == name
    assert len(set(met)) == 1


def test_two_dumps_at_a_time_have_an_address_each(tmp_path: Path) -> None:
    one, two = (DumpAddress(_Session(), _folder(tmp_path, name)) for name in ("one", "two"))
    assert one.address != two.address
    assert _linked(one).resolve() == tmp_path / "one"
    assert _linked(two).resolve() == tmp_path / "two"
    with one, two:
        pass


def test_after_an_error_an_address_is_not_used_again(tmp_path: Path) -> None:
    """Ops that had not ended may write to it yet."""
    folder = _folder(tmp_path, "folder")
    failed = DumpAddress(_Session(), folder)
    with pytest.raises(RuntimeError), failed:
        raise RuntimeError("an op failed")
    address = DumpAddress(_Session(), folder)
    assert address.address != failed.address
    with address:
        pass


def test_a_process_that_was_forked_off_has_addresses_of_its_own(tmp_path: Path) -> None:
    folder = _folder(tmp_path, "folder")
    ours = DumpAddress(_Session(), folder)
    with ours:
        pass
    child = os.fork()
    if not child:
        theirs = DumpAddress(_Session(), folder)
        own = theirs.address != ours.address and _linked(theirs).exists()
        shutil.rmtree(_linked(theirs).parent)  # such a process runs nothing at its exit
        os._exit(0 if own else 1)
    assert os.waitpid(child, 0)[1] == 0
    assert DumpAddress(_Session(), folder).address == ours.address


@pytest.fixture
def addresses(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Those of the dumps that sessions make."""
    import tensorflow as tf
    from tensorflow.python.client import pywrap_tf_session
    from tensorflow.python.client.session import BaseSession

    met: list[str] = []
    original = BaseSession._run

    def run(self, handle, fetches, feed_dict, options, run_metadata):
        if options is not None:
            given = tf.compat.v1.RunOptions.FromString(pywrap_tf_session.TF_GetBuffer(options))
            watches = given.debug_options.debug_tensor_watch_opts
            met.extend({url for watch in watches for url in watch.debug_urls})
        return original(self, handle, fetches, feed_dict, options, run_metadata)

    monkeypatch.setattr(BaseSession, "_run", run)
    return met


def test_every_run_of_a_session_that_is_dumped_goes_to_one_address(tmp_path: Path, addresses: list[str]) -> None:
    import tensorflow.compat.v1 as tf

    with tf.Graph().as_default(), tf.Session() as raw:
        y = tf.square(x := tf.placeholder(tf.float32, [2], name="x"), name="y")
        session = tf_debug.DumpingDebugWrapperSession(raw, str(tmp_path / "root"))
        for number in range(5):
            session.run(y, {x: [number, 1.0]})
    assert len(addresses) == 5
    assert len(set(addresses)) == 1
    folders = sorted((tmp_path / "root").iterdir(), key=lambda path: int(path.name.rpartition("_")[2]))
    for number, folder in enumerate(folders):
        found = read_dump(folder)
        row = next(row for row in range(len(found.tensors)) if str(found.tensors[row].name) == "y:0")
        np.testing.assert_array_equal(found.tensors.value(row), [number**2, 1.0])
        assert found.graph.kind is GraphKind.RUNTIME
        assert found.graph.find("y").op_type == "Square"


def test_each_kind_of_run_has_its_own_graph(tmp_path: Path) -> None:
    """TensorFlow writes the graph when it prepares it, which it does once."""
    import tensorflow.compat.v1 as tf

    with tf.Graph().as_default(), tf.Session() as raw:
        x = tf.placeholder(tf.float32, [2], name="x")
        one, two = tf.square(x, name="one"), tf.exp(x, name="two")
        session = tf_debug.DumpingDebugWrapperSession(raw, str(tmp_path / "root"))
        for fetched in (one, two, one, [one, two], two, one, [two, one]):
            session.run(fetched, {x: [1.0, 2.0]})
        with pytest.raises(tf.errors.InvalidArgumentError):
            session.run(two)
    folders = sorted((tmp_path / "root").iterdir(), key=lambda path: int(path.name.rpartition("_")[2]))
    ops = [{node.name for node in read_dump(folder).graph} & {"one", "two"} for folder in folders]
    assert ops == [{"one"}, {"two"}, {"one"}, {"one", "two"}, {"two"}, {"one"}, {"one", "two"}, {"two"}]


@pytest.mark.parametrize("kept", [False, True])
def test_captured_runs_and_those_made_again_go_to_one_address(
    tmp_path: Path, addresses: list[str], kept: bool
) -> None:
    import tensorflow.compat.v1 as tf

    from tfdbg_cli.capture.intercept.debugged_session import DebuggedSession

    runtime = DebugRun(capture=CaptureRequest(graph=GraphChoice.RUNTIME))
    front = ScriptedFrontend(*[runtime] * 6)
    debugger = Debugger(lambda: front, dump_root=tmp_path / "root" if kept else None)
    with tf.Graph().as_default(), tf.Session() as raw:
        x = tf.placeholder(tf.float32, [2], name="x")
        y = tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, a * x), [0, x], back_prop=False)[1]
        session = DebuggedSession(raw, debugger)
        for number in range(5):
            session.run(y, {x: [number, 1.0]})
    assert len(front.ends) == 5
    assert len(addresses) >= 5
    assert len(set(addresses)) <= 2
    for end in front.ends:
        assert end.run.graph.kind is GraphKind.RUNTIME
        assert len(end.run.graph) == len(front.ends[0].run.graph) > 3


def test_what_is_dumped_is_nobody_elses_while_it_is_dumped(tmp_path: Path) -> None:
    """Whoever kills the process leaves the folder as it is then."""
    import tensorflow.compat.v1 as tf

    modes: list[int] = []

    def looks(value: np.ndarray) -> np.ndarray:
        modes.extend(folder.stat().st_mode & 0o777 for folder in (tmp_path / "root").iterdir())
        return value

    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.constant([1.0, 2.0]) * 3
        seen = tf.py_func(looks, [x], tf.float32)
        tf_debug.DumpingDebugWrapperSession(session, str(tmp_path / "root")).run(seen)
    assert modes and set(modes) == {0o700}
