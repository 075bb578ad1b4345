"""Whether the text of a program says that it reads standard input."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from types import ModuleType

import pytest

from tfdbg_cli.process.program_text import place_of_reader


def _place(monkeypatch: pytest.MonkeyPatch, folder: Path, text: str, *arguments: str) -> str:
    script = folder / "train.py"
    script.write_text(text)
    module = ModuleType("__main__")
    module.__file__ = str(script)
    monkeypatch.setattr(sys, "modules", {"sys": sys, "ast": sys.modules["ast"], "__main__": module})
    monkeypatch.setattr(sys, "argv", ["train.py", *arguments])
    return place_of_reader()


@pytest.mark.parametrize(
    "line",
    [
        "name = input()",
        "for row in sys.stdin: pass",
        "data = np.loadtxt(sys.stdin)",
        "from sys import stdin",
        "import fileinput",
        "breakpoint()",
        "open(0).read()",
        "os.read(0, 10)",
        "open('/dev/stdin')",
        "def later():\n    return [int(word) for word in input().split()]",
    ],
)
def test_a_line_that_reads_it(line: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    place = _place(monkeypatch, tmp_path, f"import sys\n\n{line}\n")
    assert place == ("train.py:4" if "\n" in line else "train.py:3")


@pytest.mark.parametrize(
    "text",
    [
        "def call(input): return input(1)",
        "x = tf.keras.Input(3); y = layer.input(2); z = model.input",
        "print('input()')",
        "process = subprocess.Popen([], stdin=subprocess.PIPE); process.stdin.write(b'')",
        "print(sys.stdin.isatty())",
        "sys.stdin = io.StringIO()",
        "batch.read(0); open(1)",
        "input( is no Python",
    ],
)
def test_a_text_that_does_not(text: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert _place(monkeypatch, tmp_path, text) == ""


@pytest.mark.parametrize("folder", ["site-packages", "dist-packages"])
def test_installed_packages_are_not_the_program_wherever_they_lie(
    folder: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A user's own packages and those of Debian do not lie where `sysconfig` says that Python's do."""
    (tmp_path / folder).mkdir()
    assert _place(monkeypatch, tmp_path / folder, "name = input()") == "train.py:1"  # started as `-m train`
    sys.modules["train"] = sys.modules.pop("__main__")
    sys.modules["train"].__name__ = "train"
    assert place_of_reader() == ""


def test_a_script_in_a_pipe_is_not_read_again(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    module = ModuleType("__main__")
    module.__file__ = str(tmp_path / "pipe")
    monkeypatch.setattr(sys, "modules", {"__main__": module})
    monkeypatch.setattr(sys, "argv", ["/dev/stdin"])
    assert place_of_reader() == ""


def test_an_argument_that_names_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert _place(monkeypatch, tmp_path, "", "--epochs", "-") == "its argument -"
    assert _place(monkeypatch, tmp_path, "", "/dev/stdin") == "its argument /dev/stdin"
    assert _place(monkeypatch, tmp_path, "", "-1") == ""
