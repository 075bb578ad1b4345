"""The text of a source file, and never that of the module in which code of a file that is not there runs."""

from __future__ import annotations

import importlib.util
import linecache
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

from tfdbg_cli.model.sources import LiveSources
from tfdbg_cli.process.source_text import text_line, text_lines

_TEXT = "# é\nexec(compile('def h():\\n    return 1', 'gone/config.py', 'exec'))\n# line 3\n"


@pytest.fixture
def module(tmp_path: Path) -> Iterator[ModuleType]:
    """A module that runs code of a file that is not there."""
    path = tmp_path / "whole_program.py"
    path.write_text(_TEXT, "utf-8")
    spec = importlib.util.spec_from_file_location("whole_program", path)
    assert spec is not None and spec.loader is not None
    made = sys.modules["whole_program"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    yield made
    del sys.modules["whole_program"]
    linecache.cache.pop("gone/config.py", None)


def test_the_text_of_the_module_is_not_that_of_a_file_that_is_not_there(module: ModuleType) -> None:
    """A blind test: lines of the program were shown as those of the file that the op was compiled under."""
    assert linecache.getlines("gone/config.py", module.__dict__) == _TEXT.splitlines(keepends=True), "as inspect asks"
    assert text_lines("gone/config.py") == () and text_line("gone/config.py", 2) == ""
    assert LiveSources().lines("gone/config.py") is None


def test_a_loader_that_nobody_has_asked_yet_is_not_believed_either(module: ModuleType) -> None:
    assert linecache.lazycache("gone/config.py", module.__dict__), "as Python's tracebacks note it"
    assert text_line("gone/config.py", 2) == ""


def test_the_module_itself_has_its_text(module: ModuleType) -> None:
    assert module.__file__ is not None
    assert text_line(module.__file__, 3) == "# line 3"
    assert text_line(module.__file__, 4) == text_line(module.__file__, 0) == ""


def test_what_was_said_to_linecache_itself_counts(module: ModuleType) -> None:
    """So a notebook tells of its cells, which are no files, and a library of what it generates."""
    linecache.cache["gone/config.py"] = (12, None, ["x = 1\n", "y = 2\n"], "gone/config.py")
    assert text_lines("gone/config.py") == ["x = 1\n", "y = 2\n"]


def test_a_module_of_an_archive_has_its_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with zipfile.ZipFile(tmp_path / "code.zip", "w") as archive:
        archive.writestr("zipped_program.py", _TEXT)
    monkeypatch.syspath_prepend(str(tmp_path / "code.zip"))
    made = __import__("zipped_program")
    linecache.lazycache(made.__file__, made.__dict__)
    assert text_line(made.__file__, 3) == "# line 3"
    linecache.getlines("gone/config.py", made.__dict__)
    assert text_lines("gone/config.py") == ()
    del sys.modules["zipped_program"]
    linecache.cache.pop("gone/config.py")
