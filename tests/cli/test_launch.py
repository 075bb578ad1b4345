"""`tfdbg run` runs a program as `python` does: output, errors and exit code compared with the interpreter's own."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import textwrap
import zipfile
from pathlib import Path

import pytest

PROGRAMS = {
    "arguments": (
        "import sys\nprint(sys.argv, __name__, __file__, sys.path[0])",
        ["--ui", "x", "-c", "lt", "--json", "--", "-m"],
    ),
    "main module": (
        """
        import __main__, pickle, sys
        class Point: pass
        print(pickle.loads(pickle.dumps(Point())).__class__, __main__.Point is Point, __main__.__file__)
        print(sorted(globals()), __spec__, __package__, __doc__)
        print(type(__loader__), type(__builtins__), __annotations__)
        """,
        [],
    ),
    "docstring and future": ('"""What I am."""\nx: int = 1\nprint(__doc__, __annotations__)', []),
    "exit with a number": ("import sys; print('out'); sys.exit(7)", []),
    "exit with None": ("raise SystemExit", []),
    "exit with a text": ("import sys; sys.exit('a message')", []),
    "exit with a big number": ("import sys; sys.exit(256 + 3)", []),
    "exception": ("def f():\n    return 1 / 0\n\nf()", []),
    "chained exceptions": (
        "try:\n    1 / 0\nexcept ZeroDivisionError as e:\n    raise ValueError('more') from e",
        [],
    ),
    "exception without a frame of its own": ("import json\njson.loads('{')", []),
    "exception group": ("raise ExceptionGroup('two', [ValueError(1), TypeError(2)])", []),
    "syntax error": ("def f(:\n    pass", []),
    "our own error type": ("from tfdbg_cli.errors import TfdbgError\nraise TfdbgError('theirs', hint='h')", []),
    "keyboard interrupt": ("raise KeyboardInterrupt", []),
    "killed by its own signal": ("import os, signal\nos.kill(os.getpid(), signal.SIGINT)\nprint('not here')", []),
    "excepthook of its own": (
        "import sys\nsys.excepthook = lambda k, v, t: print('hook', k, v, t.tb_lineno)\n1 / 0",
        [],
    ),
    "excepthook that fails": ("import sys\nsys.excepthook = lambda k, v, t: sys.exit(9)\n1 / 0", []),
    "atexit": ("import atexit, sys\natexit.register(print, 'bye')\nprint('first')\nsys.exit(3)", []),
    "atexit after an exception": ("import atexit\natexit.register(print, 'bye')\n1 / 0", []),
    "last exception": ("import atexit, sys\natexit.register(lambda: print(sys.last_value))\n1 / 0", []),
    "threads": ("import threading\nthreading.Timer(0.05, print, ['late']).start()\nprint('early')", []),
    "exception in a thread": ("import threading\nthreading.Thread(target=lambda: 1 / 0, name='t').start()", []),
    "standard input": ("print(input('name? '), input())", []),
    "os._exit": ("import os\nprint('x', flush=True)\nos._exit(4)", []),
    "neighbour": ("import neighbour\nprint(neighbour.__file__)", []),
    "multiprocessing": (
        """
        import multiprocessing
        def square(x): return x * x
        if __name__ == "__main__":
            with multiprocessing.get_context("spawn").Pool(1) as pool:
                print(pool.map(square, [1, 2, 3]))
        """,
        [],
    ),
    "inspect": ("import inspect, sys\ndef f(): pass\nprint(inspect.getsource(f), inspect.getmodule(f))", []),
    "warnings": ("import warnings\nwarnings.warn('old', DeprecationWarning)\nwarnings.warn('odd')", []),
    "latin-1": ("# -*- coding: latin-1 -*-\nprint('caf\xe9')", []),
    "signal handlers": (
        "import signal\nprint(signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGPIPE))",
        [],
    ),
    "heavy modules stay out": (
        "import sys\nprint({'numpy', 'tensorflow', 'urwid', 'readline'} & set(sys.modules))",
        [],
    ),
    "flags": ("import sys\nprint(sys.flags.safe_path, sys.flags.optimize, sys.getrecursionlimit())", []),
}


def _both(folder: Path, arguments: list[str], interpreter: tuple[str, ...] = ()):
    """The program run by python, and by `tfdbg run` in the same interpreter."""
    environ = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2]), "TFDBG_UI": "none"}
    results = []
    for start in ([], ["-m", "tfdbg_cli", "run"]):
        done = subprocess.run(
            [sys.executable, *interpreter, *start, *arguments],
            cwd=folder, env=environ, input="Ada\nLovelace\n", capture_output=True, text=True, timeout=240,
        )  # fmt: skip
        results.append((done.returncode, _stable(done.stdout), _stable(done.stderr)))
    return results


def _stable(text: str) -> str:
    return re.sub(r"0x[0-9a-f]+|Thread-\d+|thread \d+", "…", text)


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_script_runs_as_by_python(tmp_path, name) -> None:
    source, arguments = PROGRAMS[name]
    script = tmp_path / "program.py"
    script.write_text(textwrap.dedent(source).lstrip(), encoding="latin-1" if "latin-1" in source else "utf-8")
    (tmp_path / "neighbour.py").write_text("")
    plain, debugged = _both(tmp_path, ["program.py", *arguments])
    assert debugged == plain


@pytest.mark.parametrize(
    "source",
    [
        b"x = 1\nprint('caf\xe9')\n",
        b"# caf\xe9: a comment alone\nprint(1)\n",
        b"x = 1\nprint('a\0b')\n",
        b"# coding: nonsense\nprint(1)\n",
        b"# coding: ascii\nprint('caf\xc3\xa9')\n",
        b"\xef\xbb\xbf# coding: latin-1\nprint(1)\n",
        b"\xff\xfep\0r\0i\0n\0t\0",
    ],
)
@pytest.mark.skipif(sys.version_info >= (3, 13), reason="Python 3.13 says some of it when it shows the error alone")
def test_a_script_that_cannot_be_decoded_fails_as_by_python(tmp_path, source) -> None:
    """A blind test: `compile` takes the comment, and has other words for the rest."""
    (tmp_path / "program.py").write_bytes(source)
    plain, debugged = _both(tmp_path, ["program.py"])
    assert "SyntaxError" in plain[2]
    assert debugged == plain


def test_the_table_holds_programs_that_fail(tmp_path) -> None:
    (tmp_path / "program.py").write_text("raise KeyboardInterrupt")
    plain, _ = _both(tmp_path, ["program.py"])
    assert plain[0] == -signal.SIGINT


@pytest.mark.parametrize("place", ["folder/program.py", "link.py", "./folder/../folder/program.py"])
def test_paths_of_scripts(tmp_path, place) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "program.py").write_text("import sys\nprint(sys.argv, sys.path[0], __file__)\n1 / 0")
    (tmp_path / "link.py").symlink_to("folder/program.py")
    plain, debugged = _both(tmp_path, [place, "x"])
    assert debugged == plain


@pytest.mark.parametrize(
    "arguments",
    [
        ["-m", "package", "--json", "x"],
        ["-m", "package.part"],
        ["-m", "program", "-c", "lt"],
        ["-mprogram"],
        ["-m", "no_such_module"],
        ["-m", "package.no_such_part"],
        ["-m", "empty"],
        ["package"],
        ["package.zip", "a"],
    ],
)
def test_modules_folders_and_archives_run_as_by_python(tmp_path, arguments) -> None:
    tell = "import sys\nprint(sys.argv, __name__, __package__, __spec__ and __spec__.name, __file__, sys.path[0])\n"
    (tmp_path / "package").mkdir()
    (tmp_path / "package" / "__init__.py").write_text("")
    (tmp_path / "package" / "__main__.py").write_text(tell + "1 / 0")
    (tmp_path / "package" / "part.py").write_text(tell + "from . import __name__ as n\nprint(n)\nsys.exit(5)")
    (tmp_path / "empty").mkdir()
    (tmp_path / "empty" / "__init__.py").write_text("")
    (tmp_path / "program.py").write_text(tell)
    with zipfile.ZipFile(tmp_path / "package.zip", "w") as archive:
        archive.writestr("__main__.py", tell)
    plain, debugged = _both(tmp_path, arguments)
    assert debugged == plain


def test_a_script_is_not_put_on_the_path_of_a_safe_interpreter(tmp_path) -> None:
    (tmp_path / "program.py").write_text("import sys\nprint(sys.path)")
    plain, debugged = _both(tmp_path, ["program.py"], ("-P",))
    assert debugged == plain


def test_a_folder_is_put_on_the_path_of_a_safe_interpreter(tmp_path) -> None:
    (tmp_path / "package").mkdir()
    (tmp_path / "package" / "__main__.py").write_text("import sys\nprint(sys.path)")
    plain, debugged = _both(tmp_path, ["package"], ("-P",))
    assert debugged == plain
    assert plain[0] == 0


@pytest.mark.parametrize("program", ["{folder}/program.py", "{folder}/package", "-m program", "-m package"])
@pytest.mark.parametrize("flags", [(), ("-P",)], ids=["plain", "safe"])
def test_in_a_folder_that_was_removed_programs_run_as_by_python(tmp_path, program, flags) -> None:
    """A blind test: there was a traceback of our own, and no program."""
    tell = "import sys\nprint(sys.argv, __file__, sys.path)\nsys.exit(5)"
    (tmp_path / "package").mkdir()
    (tmp_path / "package" / "__main__.py").write_text(tell)
    (tmp_path / "program.py").write_text(tell)
    environ = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(tmp_path), str(Path(__file__).parents[2])]),
        "PYTHONDONTWRITEBYTECODE": "1",
        "TFDBG_UI": "none",
    }
    here, found = tmp_path / "removed", []
    for start in ([], ["-m", "tfdbg_cli", "run"]):
        here.mkdir()
        words = [sys.executable, *flags, *start, *program.format(folder=tmp_path).split()]
        done = subprocess.run(
            ["sh", "-c", 'rmdir "$PWD" && exec "$@"', "sh", *words],
            cwd=here, env=environ, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=240,
        )  # fmt: skip
        found.append((done.returncode, done.stdout, done.stderr))
    assert found[0][0] == 5
    assert found[1] == found[0]


FAKE_TENSORFLOW = """
import sys
print("tensorflow is imported", "numpy" in sys.modules)
"""


def test_of_many_commands_that_were_not_used_the_first_are_named(tmp_path) -> None:
    (tmp_path / "program.py").write_text("print('first')")
    commands = [part for _ in range(100) for part in ("-c", "ri", "-c", "run")]
    done = subprocess.run(
        [sys.executable, "-m", "tfdbg_cli", "run", *commands, "program.py"],
        cwd=tmp_path, capture_output=True, text=True, timeout=240, stdin=subprocess.DEVNULL,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
    )  # fmt: skip
    assert "before these commands were used: ri; run; ri; … 197 more." in done.stderr
    assert done.returncode == 0


def test_tensorflow_is_imported_by_the_program_and_by_nobody_else(tmp_path) -> None:
    (tmp_path / "tensorflow.py").write_text(FAKE_TENSORFLOW)
    (tmp_path / "program.py").write_text("print('first')\nimport tensorflow\nprint(tensorflow.__spec__.loader)")
    done = subprocess.run(
        [sys.executable, "-m", "tfdbg_cli", "run", "-c", "lt", "program.py"],
        cwd=tmp_path, capture_output=True, text=True, timeout=240, stdin=subprocess.DEVNULL,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
    )  # fmt: skip
    assert done.stdout.startswith("first\ntensorflow is imported False\n<_frozen_importlib_external.SourceFileLoader")
    # A TensorFlow that cannot be debugged costs a sentence, never the program.
    assert "tfdbg: could not debug the runs of this program" in done.stderr
    assert "before these commands were used: lt." in done.stderr
    assert done.returncode == 0
