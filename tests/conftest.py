"""Shared by every test: the folder of sample data on the path, and a home of its own for each test."""

from __future__ import annotations

import gc
import itertools
import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

sys.path.insert(0, str(Path(__file__).parent))

from support.living_iterators import living_iterators

# TensorFlow takes kernels from oneDNN or not by what the CPU can do. One answer everywhere makes tests repeatable: op
# types and last digits differ. `TF_ENABLE_ONEDNN_OPTS=1 make test` tests with them; what a test then leaves out, and
# why, stands where it asks `one_dnn.ON`.
os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "0")

# The programs that tests start use the tfdbg beside these tests, whichever is installed.
_ROOT = str(Path(__file__).parent.parent)
os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [_ROOT, os.environ.get("PYTHONPATH")]))

# Without files of bytecode every worker would compile the tests, and every program that they start all of tfdbg: a
# second each, hundreds of times. `make clean` removes them.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

# Tests write some hundred thousand small files, and wait for the disk where others write, too: in memory nobody does.
_MEMORY = Path("/dev/shm")
_ENOUGH = 4 << 30  # bytes; a session leaves 250 MB, and those of the last three are kept
if _MEMORY.is_dir() and os.access(_MEMORY, os.W_OK) and shutil.disk_usage(_MEMORY).free > _ENOUGH:
    os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(_MEMORY))

# An iterator of tf.data that goes waits for its thread that tunes the pipeline. TensorFlow wakes it before its flag
# `is_cancelled_` is true: one that looks at once sleeps on, for as long as it slept last, up to a minute. With other
# processes on all CPUs every fourth iterator waited so. In a batch who is woken does not take the CPU from the waker.
if sys.platform == "linux":
    with suppress(OSError):  # a sandbox that forbids it
        os.sched_setscheduler(0, os.SCHED_BATCH, os.sched_param(0))

# No test fails because the machine was busy: how long an example takes, or to think of one, says nothing here.
settings.register_profile("tfdbg", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("tfdbg")

_MADE_BETWEEN_COLLECTIONS = 10_000  # objects
_WORTH_SETTING_ASIDE = 20_000  # objects
_LEFT: set[Path] = set()  # the files behind whose tests others came


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """Have the garbage collector pass over TensorFlow and the tests themselves, millions of objects that stay.

    While they were loaded a third of the time went into looking through them for what could be freed. Afterwards it
    looks less often than Python has it do: nearly all that TensorFlow makes while it traces lives on for a while.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.collect()
        gc.freeze()
        gc.set_threshold(_MADE_BETWEEN_COLLECTIONS)
        gc.enable()


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What takes seconds comes first: at the end short tests are left, of which all workers get the same share."""

    def takes_seconds(item: pytest.Item) -> bool:
        marked = any(item.get_closest_marker(name) for name in ("tf", "terminal"))
        return marked or item.path.parent.name == "fuzz"

    items.sort(key=takes_seconds, reverse=True)  # those alike stay in their order


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> Iterator[None]:
    """Have what a test left behind go while it is young, if iterators of tf.data are among it: see there."""
    if item.path in _LEFT:  # a worker comes back to it: what its tests have made is to be seen again
        _LEFT.discard(item.path)
        gc.unfreeze()
    before = living_iterators()
    try:
        return (yield)
    finally:
        if living_iterators() > before:
            gc.collect(1)
            if living_iterators() > before:
                gc.collect()
        if nextitem is not None and nextitem.path != item.path:
            _LEFT.add(item.path)
            _set_aside()


def _set_aside() -> None:
    """Have the collector pass over what the tests of a file leave alive for good, as over TensorFlow.

    TensorFlow keeps what it traced and Keras its names: some hundred thousand objects in the end. All of them were
    looked at in each whole collection, and whenever tfdbg looked for the variables of a function that it had not met,
    which took a tenth of the time of such tests. A file makes its variables itself, so none is looked for there.
    """
    if len(gc.get_objects()) > _WORTH_SETTING_ASIDE:
        gc.collect()
        gc.freeze()


@pytest.fixture(scope="session")
def _homes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A home for each test, where nothing is yet. A folder for each would take longer than most tests."""
    place = tmp_path_factory.mktemp("homes")
    return (place / str(number) for number in itertools.count())


@pytest.fixture(autouse=True)
def _own_home(_homes: Iterator[Path], monkeypatch: pytest.MonkeyPatch) -> None:
    """No test reads or writes the settings of the person who runs it."""
    monkeypatch.setenv("HOME", str(next(_homes)))
    for name in ("XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME", "NO_COLOR", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)
