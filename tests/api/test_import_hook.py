"""Acting after an import that is not ours to make."""

from __future__ import annotations

import importlib
import importlib.util
import sys
import threading
import time
from collections.abc import Iterator
from types import CodeType, SimpleNamespace

import pytest

from tfdbg_cli.api.import_hook import after_import


@pytest.fixture
def package(tmp_path, monkeypatch):
    (tmp_path / "some_library").mkdir()
    (tmp_path / "some_library" / "__init__.py").write_text("state = ['loaded']\n")
    (tmp_path / "some_library" / "part.py").write_text("")
    (tmp_path / "broken_library.py").write_text("1 / 0\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    finders = list(sys.meta_path)
    yield
    for name in list(sys.modules):
        if name.partition(".")[0] in {"some_library", "broken_library", "ours"}:
            sys.modules.pop(name, None)
    sys.meta_path[:] = finders


def test_the_action_comes_after_the_module_has_run_and_only_once(package) -> None:
    calls = []
    finders = list(sys.meta_path)
    after_import("some_library", lambda: calls.append(list(sys.modules["some_library"].state)))
    assert importlib.util.find_spec("json") is not None
    assert calls == []
    import some_library.part  # a part of it loads the whole first

    assert calls == [["loaded"]]
    importlib.reload(some_library)
    assert len(calls) == 1
    assert sys.meta_path == finders


def test_the_module_names_its_own_loader(package) -> None:
    after_import("some_library", lambda: None)
    import some_library

    assert type(some_library.__loader__).__name__ == "SourceFileLoader"
    assert some_library.__spec__.loader is some_library.__loader__


def test_a_module_that_is_there_already_acts_at_once() -> None:
    calls = []
    after_import("sys", lambda: calls.append(1))
    assert calls == [1]


def test_an_import_that_fails_fails_as_ever_and_may_succeed_later(package, tmp_path) -> None:
    calls = []
    after_import("broken_library", lambda: calls.append(1))
    with pytest.raises(ZeroDivisionError):
        import broken_library
    with pytest.raises(ModuleNotFoundError):
        import no_such_library  # noqa: F401
    assert calls == []
    (tmp_path / "broken_library.py").write_text("fine = True\n")
    importlib.invalidate_caches()
    import broken_library

    assert broken_library.fine
    assert calls == [1]


def test_looking_for_the_module_without_importing_it_does_nothing(package) -> None:
    calls = []
    after_import("some_library", lambda: calls.append(1))
    assert importlib.util.find_spec("some_library") is not None
    assert calls == []


@pytest.fixture
def ours(package, tmp_path):
    """A package whose outer module reads the inner one, which imports the library."""
    (tmp_path / "ours").mkdir()
    (tmp_path / "ours" / "__init__.py").write_text("")
    (tmp_path / "ours" / "inner.py").write_text("import some_library\n\ndone = True\n")
    (tmp_path / "ours" / "outer.py").write_text("from ours.inner import done\n\nfinished = True\n")
    (tmp_path / "ours" / "failing.py").write_text("from ours.inner import done\n\n1 / 0\n")


def test_an_import_by_our_own_module_acts_when_that_and_those_that_import_it_are_complete(ours) -> None:
    finders = list(sys.meta_path)
    calls = []
    for number in range(2):

        def act(number: int = number) -> None:
            from ours.outer import finished

            calls.append((number, finished, sys.modules["ours.inner"].done))

        after_import("some_library", act, package="ours")
    import ours.outer

    assert calls == [(0, True, True), (1, True, True)]
    assert sys.meta_path == finders
    assert type(ours.outer.__loader__).__name__ == "SourceFileLoader"
    assert ours.outer.__spec__.loader is ours.outer.__loader__


def test_it_acts_also_where_our_own_module_cannot_be_loaded(ours) -> None:
    calls = []
    after_import("some_library", lambda: calls.append("ours.failing" in sys.modules), package="ours")
    with pytest.raises(ZeroDivisionError):
        import ours.failing
    assert len(calls) == 1
    import ours.outer  # noqa: F401

    assert len(calls) == 1


def test_it_waits_for_our_own_modules_that_another_thread_imports(ours, tmp_path, monkeypatch) -> None:
    """That thread waits for the library meanwhile, so that this one cannot wait for what that one imports."""
    calls = []

    def act() -> None:
        from ours.outer import finished

        calls.append((threading.current_thread() is other, finished))

    def begin() -> None:
        """Until the other thread waits for the library to be complete."""
        other.start()
        while "_ModuleLock.acquire" not in {code.co_qualname for code in _running(other)}:
            time.sleep(0)

    other = threading.Thread(target=importlib.import_module, args=("ours.outer",))
    monkeypatch.setitem(sys.modules, "beside", SimpleNamespace(begin=begin))
    (tmp_path / "some_library" / "__init__.py").write_text("import beside\nbeside.begin()\n")
    after_import("some_library", act, package="ours")
    importlib.import_module("some_library")
    other.join()
    assert calls == [(True, True)]


def _running(thread: threading.Thread) -> Iterator[CodeType]:
    frame = sys._current_frames().get(thread.ident or 0)
    while frame is not None:
        yield frame.f_code
        frame = frame.f_back
