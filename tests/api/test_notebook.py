"""`%load_ext tfdbg_cli`, with a shell that stands for IPython's."""

from __future__ import annotations

import asyncio
import sys
import types
from contextlib import nullcontext

import numpy as np
import pytest
from support import sample_run
from support.dump_maker import small_dump

import tfdbg_cli
from tfdbg_cli.api import process, process_debugger
from tfdbg_cli.api.notebook import Notebook, _awaits, _is_silenced
from tfdbg_cli.commands.registry import Registry
from tfdbg_cli.config.settings import Settings
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.line import frontend
from tfdbg_cli.line.frontend import LineFrontend
from tfdbg_cli.line.notebook_output import NotebookOutput, display
from tfdbg_cli.terminal_facts import TerminalFacts


class _Shell:
    """Runs cells as IPython does: in one space of names."""

    def __init__(self) -> None:
        self.names: dict[str, object] = {}
        self.magics: dict[str, object] = {}
        self.silent = False

    def register_magic_function(self, function, magic_kind, magic_name):
        self.magics[magic_name] = (magic_kind, function)

    def transform_cell(self, raw_cell):
        return raw_cell

    def run_cell(self, raw_cell, store_history, silent=False):
        assert not store_history
        self.silent = silent
        result = types.SimpleNamespace(error_before_exec=None, error_in_exec=None)
        try:
            compile(raw_cell, "cell", "exec")
        except SyntaxError as error:
            result.error_before_exec = error
            return result
        try:
            exec(raw_cell, self.names)
        except ArithmeticError as error:
            result.error_in_exec = error
        return result


class _Notebook:
    """A notebook and what its cells showed."""

    def __init__(self) -> None:
        self.shown: list[dict[str, str]] = []
        self.shell = _Shell()
        self.magic = Notebook(self.shell, NotebookOutput(self.shown.append)).magic

    @property
    def text(self):
        return "\n".join(one["text/plain"] for one in self.shown)


def test_ipython_finds_the_magic():
    shell = _Shell()
    tfdbg_cli.load_ipython_extension(shell)
    assert shell.magics["tfdbg"][0] == "line_cell"


def test_a_recording_is_looked_at_command_by_command(tmp_path):
    notebook = _Notebook()
    path = small_dump(tmp_path / "run")
    notebook.magic(f"open '{path}'")
    assert str(path) in notebook.text
    notebook.shown.clear()
    notebook.magic("lt")
    assert "dumped tensor(s)" in notebook.text
    assert "<pre" in notebook.shown[0]["text/html"]


@pytest.mark.parametrize(
    ("line", "cell", "words"),
    [
        ("", None, "%tfdbg open PATH"),
        ("lt", None, "Nothing is open"),
        ("open", None, "takes one path"),
        ("open /nowhere/at/all", None, "There is no /nowhere/at/all"),
        ("open '/tmp/x", None, "A closing quote is missing"),
        ("--untill x", "pass", "--untill"),
        ("--until 'x", "pass", "A closing quote is missing"),
        ("--until", "pass", "expected one argument"),
    ],
)
def test_what_goes_wrong_is_said_in_the_cell(line, cell, words):
    notebook = _Notebook()
    # A cell that is not run for its first line has failed, which IPython need not show again.
    with nullcontext() if cell is None else pytest.raises(TfdbgError):
        notebook.magic(line, cell)
    assert words in notebook.text


def test_a_cell_that_awaits_is_not_run_where_a_loop_runs_and_says_what_to_do() -> None:
    """A blind test: it raised an error of asyncio's, with a traceback of IPython's."""
    notebook = _Notebook()

    async def magic(cell: str) -> None:
        notebook.magic("", cell)

    with pytest.raises(TfdbgError):
        asyncio.run(magic("import asyncio\nawait asyncio.sleep(0)"))
    assert "cannot be run by a magic" in notebook.text and "with tfdbg_cli.debugging():" in notebook.text
    for cell in ("await = 1", "async def f():\n    await g()"):
        assert not _awaits(cell)


def test_a_command_of_a_running_program_has_no_meaning_there(tmp_path):
    notebook = _Notebook()
    notebook.magic(f"open {small_dump(tmp_path / 'run')}")
    notebook.magic("run")
    assert "needs a running program" in notebook.text


def test_the_kernel_of_ipython_has_the_magic(tmp_path, monkeypatch):
    shells = pytest.importorskip("IPython.core.interactiveshell", reason="IPython is not installed")
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path))
    shell = shells.InteractiveShell.instance()
    shown = []
    monkeypatch.setattr(shell.display_pub, "publish", lambda data, **named: shown.append(data))
    shell.run_cell("%load_ext tfdbg_cli").raise_error()
    shell.run_cell(f"%tfdbg open '{small_dump(tmp_path / 'run')}'").raise_error()
    shell.run_cell("%tfdbg lt").raise_error()
    assert "dumped tensor(s)" in shown[-1]["text/plain"] and "<pre" in shown[-1]["text/html"]


@pytest.mark.tf
def test_a_cell_runs_under_a_watch(monkeypatch):
    monkeypatch.setattr("builtins.input", lambda prompt="": (_ for _ in ()).throw(EOFError))
    notebook = _Notebook()
    cell = "import tensorflow as tf\nf = tf.function(lambda x: x + 1)\nout = f(tf.constant([1.0]))"
    notebook.magic("--watch", cell)
    np.testing.assert_array_equal(notebook.shell.names["out"], [2.0])
    assert "Nothing passed bad_result in 1 run" in notebook.text


@pytest.mark.tf
def test_a_semicolon_at_the_end_of_a_cell_silences_its_value():
    notebook = _Notebook()
    notebook.magic("--watch", "2; 3")
    assert not notebook.shell.silent
    notebook.magic("--watch", "2; 3;")
    assert notebook.shell.silent


@pytest.mark.parametrize("cell", ["f(x);\n", "a = 1\nf(x)  ;  # no value; none", "if x:\n    y;\n\n"])
def test_a_cell_that_ends_in_a_semicolon_is_told_by_its_tokens(cell):
    assert _is_silenced(cell)


@pytest.mark.parametrize("cell", ["", "f(x)", "f(x)  # ;", "';'", "x = (", "a; b", '"""\n;'])
def test_a_cell_that_ends_otherwise_is_shown(cell):
    assert not _is_silenced(cell)


def test_ipython_does_not_show_a_silenced_value(tmp_path, monkeypatch, capsys):
    shells = pytest.importorskip("IPython.core.interactiveshell", reason="IPython is not installed")
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path))
    notebook = Notebook(shells.InteractiveShell.instance())
    monkeypatch.setattr(process, "debugging", lambda ui: nullcontext())
    monkeypatch.setattr(process_debugger, "process_debugger", lambda: types.SimpleNamespace(program_ends=list))
    notebook.magic("", "40 + 1;")
    notebook.magic("", "40 + 2")
    shown = capsys.readouterr().out
    assert "41" not in shown and "42" in shown


@pytest.mark.tf
def test_the_ops_of_a_cell_are_counted_alone():
    """A blind test: under a cell that ran nothing stood how many ops the cells before it had run."""
    notebook = _Notebook()
    cell = "import tensorflow as tf\nx = tf.exp(tf.constant([1.0]))"
    notebook.magic("--watch", cell)
    assert "Nothing passed bad_result in" in notebook.text and "that ran eagerly" in notebook.text
    notebook.shown.clear()
    notebook.magic("--watch", "y = 5")
    assert "Nothing was watched for bad_result" in notebook.text


def test_the_prompt_in_a_notebook_answers_in_html(monkeypatch):
    facts = TerminalFacts(False, False, False, False, True, "", True, "")
    monkeypatch.setattr(frontend, "terminal_facts", lambda: facts)
    shown: list[dict[str, str]] = []
    module = types.ModuleType("IPython.display")
    module.display = lambda data, raw: shown.append(data)
    monkeypatch.setitem(sys.modules, "IPython", types.ModuleType("IPython"))
    monkeypatch.setitem(sys.modules, "IPython.display", module)
    monkeypatch.setattr("builtins.input", lambda prompt="": (_ for _ in ()).throw(EOFError))
    LineFrontend(Registry(), Settings()).stop(sample_run.run_end())
    assert any("run #3" in one["text/plain"] for one in shown)
    display({"text/plain": "x"})
    assert shown[-1] == {"text/plain": "x"}


@pytest.mark.tf
def test_what_a_debugged_cell_raises_is_raised_again_without_being_shown_again():
    """Whoever runs all cells went on behind a cell that had failed."""
    notebook = _Notebook()
    with pytest.raises(ZeroDivisionError) as raised:
        notebook.magic("--watch", "1 / 0")
    assert raised.value._render_traceback_() == []


@pytest.mark.tf
def test_a_cell_that_is_no_python_is_not_shown_again():
    """A blind test: IPython shows a SyntaxError without asking it, and there were frames of ours below."""
    notebook = _Notebook()
    with pytest.raises(Exception, match="was never closed") as raised:
        notebook.magic("--watch", "x = (")
    assert (raised.type.__name__, raised.value._render_traceback_()) == ("SyntaxError", [])
    assert not isinstance(raised.value, SyntaxError)
