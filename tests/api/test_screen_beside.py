"""The full screen is loaded beside the program where a person is going to see it, and nowhere else."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from tfdbg_cli.api import attendance, screen_beside
from tfdbg_cli.api.launch_options import LaunchOptions, set_launch_options
from tfdbg_cli.line.script import Script
from tfdbg_cli.terminal_facts import TerminalFacts

TERMINAL = TerminalFacts(
    stdin_tty=True, stdout_tty=True, controlling=True, foreground=True, termios=True, term="xterm",
    notebook=False, ide="",
)  # fmt: skip
# Draws the first screen of a stop at `command`, and prints what it loaded beyond what is loaded ahead.
FIRST_SCREEN = """
import sys
import numpy, urwid.testing
from support import sample_run
from tfdbg_cli.analysis.watch.filters import BUILT_IN_FILTERS
from tfdbg_cli.commands.standard import standard_registry
from tfdbg_cli.commands.typed_commands import History
from tfdbg_cli.config.settings import Settings
from tfdbg_cli.tui.app import App
from tfdbg_cli.tui.frontend import load_first_screen
load_first_screen()
before = set(sys.modules)
event = sample_run.run_failed() if "{command}" == "error_info" else sample_run.run_end()
app = App(event, standard_registry(), Settings(), BUILT_IN_FILTERS, History(()), "{command}")
screen = urwid.testing.ScriptedScreen(size=(200, 60))
app.run(screen)
assert any("loss/Mean" in row for row in screen.last_text)
print("later:", *sorted(name for name in set(sys.modules) - before if name.split(".")[0] in {packages}))
"""


@pytest.fixture
def loaded(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the threads in which the screen was loaded."""
    found: list[str] = []
    monkeypatch.delenv("TFDBG_UI", raising=False)
    loading = screen_beside._Loading(lambda: found.append(threading.current_thread().name))
    monkeypatch.setattr(screen_beside, "_loading", lambda: loading)
    return found


def _load(monkeypatch: pytest.MonkeyPatch, facts: TerminalFacts, ui: str | None, options: LaunchOptions) -> None:
    monkeypatch.setattr(attendance, "terminal_facts", lambda: facts)
    before = set_launch_options(options)
    try:
        screen_beside.load_beside(ui)
        screen_beside.load_beside(ui)
    finally:
        set_launch_options(before)
    screen_beside._loading().wait()


def test_it_is_loaded_once_in_a_thread_of_its_own(loaded: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    _load(monkeypatch, TERMINAL, None, LaunchOptions())
    assert loaded == ["tfdbg-screen"]


@pytest.mark.parametrize(
    ("facts", "ui", "options"),
    [
        (TERMINAL, "line", LaunchOptions()),
        (TERMINAL, "none", LaunchOptions()),
        (TERMINAL, None, LaunchOptions(script=Script(("lt",)))),
        (TERMINAL, None, LaunchOptions(json=True)),
        (TerminalFacts(False, False, False, False, True, "xterm", False, ""), None, LaunchOptions()),
    ],
    ids=["line", "none", "script", "json", "no terminal"],
)
def test_nothing_is_loaded_where_no_screen_comes(
    loaded: list[str], monkeypatch: pytest.MonkeyPatch, facts: TerminalFacts, ui: str | None, options: LaunchOptions
) -> None:
    _load(monkeypatch, facts, ui, options)
    assert loaded == []


def test_a_fork_waits_until_all_is_loaded() -> None:
    goes_on = threading.Event()
    done: list[bool] = []

    def slow() -> None:
        goes_on.wait()
        done.append(True)

    screen_beside._Loading(slow).start()
    threading.Timer(0.1, goes_on.set).start()
    child = os.fork()
    if not child:
        os._exit(0 if done else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


# Ctrl-C amid an import leaves Python's import lock taken: from then on only the interrupted thread can import.
INTERRUPTED = """
import _imp
from tfdbg_cli.api import screen_beside
def load():
    import colorsys
    print("loaded", flush=True)
_imp.acquire_lock()
screen_beside._Loading(load).start()
"""


def test_a_program_that_was_interrupted_amid_an_import_ends() -> None:
    """A blind test: it waited for ever for the thread that loads the screen, which waited for the lock."""
    done = subprocess.run(
        [sys.executable, "-c", INTERRUPTED], capture_output=True, text=True, check=False, timeout=60
    )
    assert (done.returncode, done.stdout) == (0, "loaded\n"), done.stderr


@pytest.mark.parametrize("command", ["lt", "origin", "error_info", "run_info"])
def test_the_first_screen_loads_nothing_that_was_not_loaded_ahead(command: str) -> None:
    script = FIRST_SCREEN.format(command=command, packages={"tfdbg_cli", "urwid", "pygments", "wcwidth", "asyncio"})
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(Path(__file__).parents[1]), *sys.path])}
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False, env=environment
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "later:"
