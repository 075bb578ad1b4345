"""Modules of the program's by the names of Python's own: tfdbg takes Python's, and the program its own."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from functools import cache
from pathlib import Path
from zipapp import create_archive as make_archive

import pytest
from support.launched import ROOT, python
from support.package_source import modules

from tfdbg_cli.cli.shadowed_modules import OTHERS, PYTHONS

_TOPS = {name.partition(".")[0] for name in (*PYTHONS, *OTHERS)}
_FILES = sys.stdlib_module_names - set(sys.builtin_module_names)  # what no file hides is left out
_WAYS = (("--watch",), ("--record", "recorded", "--trends", "--until", "has_nan"), ("--listen", "127.0.0.1:0"))


@cache
def _at_the_start(folder: Path) -> frozenset[str]:
    """The modules that are loaded when the program's first line is executed, in one way or another."""
    (folder / "tell.py").write_text("import sys\nprint(*sys.modules)\n")
    done = [python("-m", "tfdbg_cli", "run", *way, "tell.py", folder=folder, anew=True) for way in _WAYS]
    assert all(one.returncode == 0 for one in done), done
    return frozenset(name for one in done for name in one.stdout.split())


@pytest.fixture(scope="module")
def started(tmp_path_factory) -> frozenset[str]:
    return _at_the_start(tmp_path_factory.mktemp("start"))


@pytest.fixture(scope="module")
def bare() -> set[str]:
    """The modules that Python itself, and `tfdbg` without options, have when the program begins."""
    script = "import sys, tfdbg_cli.cli.main, tfdbg_cli.cli.verbs.run, runpy; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, cwd=ROOT)
    return set(done.stdout.split())


def test_no_module_of_pythons_that_tfdbg_imports_late_is_missing_in_the_table(bare) -> None:
    wanted = {
        one.target.partition(".")[0]: module.where
        for module in modules()
        if module.layer != "examples"
        for one in module.imports
        if not one.typing_only
    }
    late = {name: where for name, where in wanted.items() if name in _FILES and name not in bare}
    assert {name: where for name, where in late.items() if name not in _TOPS} == {}
    assert {name.partition(".")[0] for name in PYTHONS} <= sys.stdlib_module_names


def test_what_is_loaded_before_the_program_imports_none_of_them_within_a_function(started) -> None:
    """A blind test: such an import would be made by the rules of Python alone."""
    within = [
        f"{module.where}:{one.line} imports {one.target}"
        for module in modules()
        if module.name in started
        for one in module.imports
        if one.late and not one.typing_only and one.target.partition(".")[0] in _TOPS
    ]
    assert within == []
    assert "tfdbg_cli.cli.launch" in started


_ASKED = "import sqlite3, sys, tomllib\nprint(sqlite3.whose, tomllib.whose, {'html', 'mmap'} & {*sys.modules})\n"


@pytest.mark.parametrize("way", ["script", "module", "folder", "archive", "path"])
def test_the_program_imports_its_own(tmp_path, way) -> None:
    """Also those that lie in an archive, or on PYTHONPATH, and where tfdbg has one of Python's already."""
    folder = tmp_path / "program"
    (folder / "sqlite3").mkdir(parents=True)
    (folder / "sqlite3" / "__init__.py").write_text("whose = 'a package of mine'\n")
    (folder / "tomllib.py").write_text("whose = 'a module of mine'\n")
    (folder / "html").mkdir()  # is no package, and hides none
    (folder / "__main__.py").write_text(_ASKED)
    (tmp_path / "alone.py").write_text(_ASKED)
    make_archive(folder, tmp_path / "archive.pyz")
    words = {
        "script": ["program/__main__.py"], "module": ["-m", "program"], "folder": ["program"],
        "archive": ["archive.pyz"], "path": ["alone.py"],
    }[way]  # fmt: skip
    places = [str(ROOT), *([str(folder)] if way in ("path", "module") else [])]
    plain, debugged = (
        subprocess.run(
            [sys.executable, *start, *words],
            cwd=tmp_path, env={**os.environ, "PYTHONPATH": os.pathsep.join(places), "TFDBG_UI": "none"},
            capture_output=True, text=True, check=False,
        )
        for start in ([], ["-m", "tfdbg_cli", "run"])
    )  # fmt: skip
    assert plain.stdout == "a package of mine a module of mine set()\n"
    assert (debugged.stdout, debugged.stderr, debugged.returncode) == (plain.stdout, plain.stderr, plain.returncode)


_LOAD_ALL = """
import importlib, sys
import tfdbg_cli.cli.verbs.run
from tfdbg_cli.cli.shadowed_modules import keep_shadowed
started = set(sys.modules)
import google.protobuf.text_format, ml_dtypes, numpy.random, numpy.typing  # as the program would have them
for name in set(sys.modules) - started:
    if name.partition(".")[0] in sys.stdlib_module_names:
        del sys.modules[name]
siblings, others = sys.argv[1], sys.path[1:]
if {kept}:
    keep_shadowed([siblings], others)
sys.path[:] = [siblings, *others]
for name in sys.argv[2:]:
    importlib.import_module(name)
import resource, tfdbg_cli.process.free_memory as free_memory
print("own:", resource.__file__, free_memory.resource.RLIMIT_AS, {{*sys.modules}} & {tops})
"""
_LOADED = (
    "model",
    "ops",
    "config",
    "formats",
    "analysis",
    "document",
    "commands",
    "line",
    "remote",
    "tui",
    "process",
)


@pytest.fixture
def siblings(tmp_path: Path) -> Path:
    """A folder with a module by each name of the tables, which says that it was executed."""
    folder = tmp_path / "program"
    folder.mkdir()
    for name in _TOPS:
        (folder / f"{name}.py").write_text("import sys\nsys.stderr.write(f'executed {__name__}\\n')\n")
    return folder


def _loads(siblings: Path, *, kept: bool) -> subprocess.CompletedProcess[str]:
    names = [module.name for module in modules() if module.layer in _LOADED]
    script = _LOAD_ALL.format(kept=kept, tops=_TOPS)
    return subprocess.run(
        [sys.executable, "-c", script, siblings, *names], capture_output=True, text=True, check=False, cwd=ROOT
    )


def test_whatever_tfdbg_loads_later_executes_none_of_the_programs(siblings) -> None:
    done = _loads(siblings, kept=True)
    assert done.stderr == "executed resource\n", done.stderr
    assert done.stdout.startswith(f"own: {siblings / 'resource.py'} ")
    assert done.stdout.endswith(" {'resource'}\n")


def test_the_same_without_it_executes_them(siblings) -> None:
    """A blind test: that they are taken is what the other one guards against."""
    done = _loads(siblings, kept=False)
    assert "executed " in done.stderr
    assert done.returncode != 0


PROGRAM = """
import numpy as np, tensorflow as tf

weights = tf.Variable([[1.0], [2.0]])

@tf.function
def step(batch):
    weights.assign_sub(0.1 * tf.reduce_mean(tf.math.log(batch @ weights)) * weights)

for given in (1.0, 2.0, -1.0):
    step(tf.constant([[given, given]]))
import resource
print("the program's", resource.GPUS, np.isnan(weights.numpy()).sum())
"""
WITHOUT_TENSORFLOW = ("html", "mmap", "readline", "sqlite3", "symtable", "tomlkit", "tty", "urwid", "wcwidth")
COMMANDS = ("origin", "lt > log.csv", "lt > log.html", "eval `matmul:0` @ `matmul:0`", "frames")


@pytest.mark.tf
def test_a_program_with_modules_by_these_names_is_watched_and_recorded_all_the_same(tmp_path) -> None:
    for name in WITHOUT_TENSORFLOW:
        (tmp_path / f"{name}.py").write_text(f"print('executed {name}')\n")
    (tmp_path / "resource.py").write_text("GPUS = 4\nprint('executed resource')\n")
    (tmp_path / "main.py").write_text(textwrap.dedent(PROGRAM))
    words = [word for command in COMMANDS for word in ("-c", command)]
    way = ["--record", "recorded", "--until", "has_inf_or_nan", *words]
    (tmp_path / "elsewhere").mkdir()
    done = python("-m", "tfdbg_cli", "run", *way, "../main.py", folder=tmp_path / "elsewhere", anew=True)
    assert done.returncode == 0, done.stderr
    assert "Log of a negative number" in done.stdout
    assert "eval" in done.stdout and "[[4.94" in done.stdout
    assert done.stdout.count("executed") == 1
    assert done.stdout.endswith("executed resource\nthe program's 4 2\n")
    assert "could not" not in done.stderr
    assert "3 runs were recorded" in done.stderr
    assert {path.name for path in (tmp_path / "elsewhere").iterdir()} >= {"recorded", "log.csv", "log.html"}
