"""`config`, `version`, `help`, `mouse`, `prev`, `next`, and the page of commands."""

from __future__ import annotations

import errno
import os
import re
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from support import sample_run
from support.golden import check_golden
from support.prompt import Prompt

from tfdbg_cli.commands import verbs as verbs_package
from tfdbg_cli.commands.manual import manual
from tfdbg_cli.commands.registry import UiAction
from tfdbg_cli.commands.standard import standard_registry
from tfdbg_cli.config.settings import Settings
from tfdbg_cli.config.settings_file import load_settings
from tfdbg_cli.model.runs import Stop
from tfdbg_cli.paths import config_file
from tfdbg_cli.version import tensorflow_version


@pytest.fixture
def prompt() -> Prompt:
    return Prompt(sample_run.run_end())


def test_config_show(prompt: Prompt) -> None:
    shown = prompt.show("config")
    assert "graph_recursion_depth  20" in shown and "mouse_mode             on" in shown
    assert "half of the free disk" in shown and str(config_file()) in prompt.show("cfg show", 300)
    assert prompt.data("config show graph")["settings"] == {"graph": "auto"}


def test_config_set_holds_at_once_and_later(prompt: Prompt) -> None:
    seen: list[Settings] = []
    prompt.context.on_setting = seen.append
    assert "default 20" in prompt.show("config set graph_recursion_depth 5")
    assert prompt.context.settings.graph_recursion_depth == seen[-1].graph_recursion_depth == 5
    assert load_settings()[0].graph_recursion_depth == 5
    prompt.run("config set disk_budget 4G")
    assert "4 GB" in prompt.show("config show disk_budget")


@pytest.mark.parametrize(
    "command",
    [
        "config set",
        "config set graph",
        "config set nope 1",
        "config set graph_recursion_depth many",
        "config show nope",
        "config show graph x",
        "config drop graph",
    ],
)
def test_config_mistakes(prompt: Prompt, command: str) -> None:
    assert prompt.error(command).message


def test_version(prompt: Prompt, monkeypatch: pytest.MonkeyPatch) -> None:
    assert prompt.data("version")["numpy"] == np.__version__
    assert prompt.data("ver")["tfdbg"]
    loaded = ModuleType("tensorflow")
    loaded.__version__ = "9.9"  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "tensorflow", loaded)
    assert tensorflow_version() == "9.9"


def test_version_does_not_load_tensorflow(prompt: Prompt, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "tensorflow", None)
    assert "tensorflow" in prompt.show("version")


def test_help(prompt: Prompt) -> None:
    check_golden("commands/help", prompt.show("help"))
    check_golden("commands/help_lt", prompt.show("help lt"))
    assert prompt.data("help lt")["name"] == "list_tensors"
    for link in prompt.links("help"):
        assert prompt.document(link).kind == "help"
    assert "list_tensors" in prompt.error("help list_tensor").hint


@pytest.mark.parametrize("stop", [sample_run.run_start(), sample_run.run_end(), sample_run.opened()])
def test_help_names_each_command_once_and_tells_of_what_it_names(stop: Stop) -> None:
    """`step` stood there twice, `cont` of the stepper led to `continue`."""
    prompt = Prompt(stop)
    links = prompt.links("help")
    assert len(links) == len(set(links))
    told = [prompt.show(link).split("\n")[0] for link in links]
    assert len(told) == len(set(told))


def test_help_fits_narrow_screens(prompt: Prompt) -> None:
    for width in (40, 60, 80, 200):
        for command in standard_registry():
            usage = prompt.show(f"help {command.name}", width).split("\n\n")[1]
            assert max(map(len, usage.split("\n"))) <= width, (command.name, width)


def test_what_only_a_front_end_can_do(prompt: Prompt) -> None:
    assert prompt.run("prev") is UiAction.BACK
    assert prompt.run("next") is UiAction.FORWARD
    assert prompt.run("mouse on") is UiAction.MOUSE_ON
    assert prompt.run("m off") is UiAction.MOUSE_OFF
    assert prompt.link("mouse", "mouse") == "mouse off"
    assert prompt.error("mouse maybe").message


def test_an_empty_line_is_no_error(prompt: Prompt) -> None:
    """TensorFlow's tfdbg: empty line error."""
    assert not prompt.show("") and not prompt.show("   ")


def test_redirection(prompt: Prompt, tmp_path: Path) -> None:
    path = tmp_path / "out.txt"
    shown = prompt.show(f"version > {path}", 300)
    assert str(path) in shown and path.read_text().startswith("tfdbg")
    assert "Cannot write" in prompt.error(f"version > {tmp_path}/no/such").message
    assert "exists" in prompt.error(f"version > {tmp_path}").message
    assert "Cannot write" in prompt.error(f"version >| {tmp_path}").message


def test_a_redirection_replaces_nothing_unasked(prompt: Prompt, tmp_path: Path) -> None:
    path = tmp_path / "train.py"
    path.write_text("mine")
    error = prompt.error(f"version > {path}")
    assert error.message == f"{path} exists."
    assert ">| FILE" in error.hint
    assert path.read_text() == "mine"
    prompt.run(f"version >| {path}")
    assert path.read_text().startswith("tfdbg")
    assert [found.name for found in tmp_path.iterdir()] == ["train.py"]


def test_a_full_disk_leaves_nothing_behind(prompt: Prompt, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "out.txt"
    path.write_text("mine")

    def full(*arguments: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(Path, "replace", full)
    assert "No space left" in prompt.error(f"version >| {path}").message
    assert path.read_text() == "mine"
    assert "No space left" in prompt.error(f"version > {tmp_path}/other.txt").message
    assert [found.name for found in tmp_path.iterdir()] == ["out.txt"]


def test_devices_and_pipes_are_written_to_and_stay(prompt: Prompt, tmp_path: Path) -> None:
    assert os.devnull in prompt.show(f"version > {os.devnull}", 300)
    assert Path(os.devnull).is_char_device()
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    prompt.run(f"version > {pipe}")
    assert os.read(reader, 5) == b"tfdbg"
    os.close(reader)
    assert pipe.is_fifo()


def test_a_pipe_that_nobody_reads_is_not_waited_for(prompt: Prompt, tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    assert prompt.error(f"version > {pipe}").message == f"Cannot write {pipe}: nobody reads this pipe."
    assert pipe.is_fifo()


def test_the_page_of_commands_is_current() -> None:
    page = Path(__file__).parents[2] / "docs" / "commands.md"
    expected = manual(standard_registry())
    assert page.read_text(encoding="utf-8") == expected, "run: python -m tfdbg_cli.commands.manual > docs/commands.md"


def test_every_kind_of_answer_is_on_the_page() -> None:
    """What JSON calls them stands in the code as the first argument of a document."""
    verbs = Path(verbs_package.__path__[0])
    code = "\n".join(path.read_text(encoding="utf-8") for path in verbs.glob("*.py"))
    kinds = set(re.findall(r"\b(?:text_document|Document)\(\s*\"(\w+)\"", code))
    told = set(re.findall(r"kinds? `(\w+)`", re.sub(r"\s+", " ", manual(standard_registry()))))
    assert len(kinds) > 40
    assert kinds - {"mouse"} <= told, "mouse is of the screen alone"
