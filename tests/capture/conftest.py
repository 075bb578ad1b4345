"""TensorFlow for the tests of capture, and sessions debugged by a script of decisions."""

from __future__ import annotations

import math
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from support.scripted import ScriptedFrontend

from tfdbg_cli.analysis.watch import watch_progress
from tfdbg_cli.config.settings import Settings
from tfdbg_cli.debugger.debugger import Debugger


@pytest.fixture(scope="session")
def tf(tmp_path_factory: pytest.TempPathFactory) -> Any:
    import tensorflow.compat.v1 as tf

    from tfdbg_cli.capture.sessions.dump_addresses import DumpAddress

    # A process has one folder of addresses for dumps, which stays to its end.
    with DumpAddress(tf.Session, tmp_path_factory.mktemp("dump")):
        pass
    return tf


@pytest.fixture(autouse=True)
def _no_sample_of_the_progress(monkeypatch: pytest.MonkeyPatch) -> None:
    """However long a busy machine takes for a run, no watch makes one again to tell how large its numbers are."""
    monkeypatch.setattr(watch_progress, "_BETWEEN_SAMPLES", math.inf)


@pytest.fixture
def undebugged() -> Iterator[None]:
    """What the test has debugged is debugged no more behind it, and the next one has a debugger of its own."""
    from tfdbg_cli.api.process import disable
    from tfdbg_cli.api.process_debugger import process_debugger

    yield
    disable()
    process_debugger.cache_clear()


@pytest.fixture
def graph(tf: Any) -> Iterator[Any]:
    """A new graph, which is the default one during the test."""
    with tf.Graph().as_default() as graph:
        yield graph


@pytest.fixture
def loops_of_v1(tf: Any) -> Iterator[None]:
    """Loops and branches as Switch and Merge, as TensorFlow 1 made them."""
    enabled = tf.control_flow_v2_enabled()
    tf.disable_control_flow_v2()
    yield
    if enabled:
        tf.enable_control_flow_v2()


@pytest.fixture
def flow_of_v2(tf: Any) -> Iterator[None]:
    """Branches and loops are calls of functions, as TensorFlow 2 makes them."""
    enabled = tf.control_flow_v2_enabled()
    tf.enable_control_flow_v2()
    yield
    if not enabled:
        tf.disable_control_flow_v2()


@pytest.fixture
def temporary_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of temporary files, empty; at the end of a test nothing of ours may be left there."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


@pytest.fixture
def debugged(tf: Any, temporary_files: Path) -> Iterator[Callable[..., tuple[Any, ScriptedFrontend]]]:
    """Wraps a session in a debugger that decides by a script: the wrapped session, and the front end."""
    from tfdbg_cli.capture.intercept.debugged_session import DebuggedSession

    def wrap(session: Any, *script: Any, settings: Settings | None = None, **arguments: Any) -> Any:
        front = ScriptedFrontend(*script, settings=settings)
        return DebuggedSession(session, Debugger(lambda: front, settings=settings, **arguments)), front

    yield wrap
    # TensorFlow compiles what its AutoGraph made there.
    left = [path for path in temporary_files.iterdir() if path.name != "__pycache__"]
    assert not left, "a dump was left behind"


@pytest.fixture
def watched() -> Callable[..., Any]:
    """A context in which the function calls of the process are debugged by a script of decisions: the front end."""
    from tfdbg_cli.capture.intercept.all_functions import intercept_all_functions

    @contextmanager
    def watch(*script: Any, settings: Settings | None = None, **arguments: Any) -> Iterator[ScriptedFrontend]:
        front = ScriptedFrontend(*script, settings=settings)
        undo = intercept_all_functions(Debugger(lambda: front, settings=settings, **arguments))
        try:
            yield front
        finally:
            undo()

    return watch


@pytest.fixture(scope="module")
def tf2() -> Any:
    """TensorFlow, eager execution and all."""
    import tensorflow

    return tensorflow
