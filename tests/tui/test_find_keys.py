"""Ctrl-P: whatever has a name is found by a few letters of it, and Enter goes there."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from support import sample_run
from support.golden import check_golden
from support.looks import written
from support.screen import Driven

from tfdbg_cli.commands.standard import standard_registry
from tfdbg_cli.model.calls import Call, RunKind
from tfdbg_cli.model.graph import Graph, Node
from tfdbg_cli.model.names import TensorName
from tfdbg_cli.model.runs import Run, RunEnd
from tfdbg_cli.model.tensors import MemoryTensorStore, Tensor
from tfdbg_cli.tui.actions.find_dialog import FindDialog
from tfdbg_cli.tui.keys.keymap import KeyContext

REGISTRY = standard_registry()


def driven(keys: str, size: tuple[int, int] = (80, 24), event: Any = None) -> Driven:
    return Driven(event or sample_run.run_end(), keys, size=size, registry=REGISTRY)


SCREENS = {"empty": "<ctrl p>", "typed": "<ctrl p>loss m", "second": "<ctrl p>mm<down>", "none": "<ctrl p>zqx"}


@pytest.mark.parametrize("size", [(40, 10), (80, 24), (120, 40), (200, 60)], ids=lambda size: f"{size[0]}x{size[1]}")
@pytest.mark.parametrize("name", SCREENS)
def test_screens(name: str, size: tuple[int, int]) -> None:
    screen = driven(SCREENS[name], size)
    check_golden(f"screens/find-{name}-{size[0]}x{size[1]}", written(screen, 256))


@pytest.mark.parametrize(
    ("typed", "command"),
    [
        ("loss/log", "pt loss/Log:0"),
        ("loss/Const", "ni -d -t loss/Const"),
        ("help", "help"),
        ("print_t", "help print_tensor"),
        ("train.py", "ps /home/ada/train.py"),
        ("dense", "lt -l dense"),
    ],
)
def test_enter_goes_there(typed: str, command: str) -> None:
    screen = driven(f"<ctrl p>{typed}<enter>")
    assert screen.state.dialog is None and screen.state.place is KeyContext.DOCUMENT
    assert screen.state.page.command == command


def test_esc_leaves_everything_as_it_was() -> None:
    screen = driven("jj<ctrl p>loss<esc>")
    assert screen.text == driven("jj").text


def test_letters_are_edited_and_keys_of_the_page_do_nothing_meanwhile() -> None:
    screen = driven("<ctrl p>logq<backspace>")
    assert isinstance(screen.state.dialog, FindDialog) and screen.state.dialog.editor.text == "log"
    assert "> log" in screen.text and "loss/Log" in screen.text
    assert driven("<ctrl p>zzz<enter>").state.dialog is not None, "nothing to go to"


def test_matched_letters_are_marked_without_colours() -> None:
    runs = driven("<ctrl p>log").looks(colors=1)
    marked = [text for row in runs for spec, text in row if "standout" in spec.foreground]
    assert marked.count("Log") == 1, "a name stands there once"


def test_keys_and_health_stand_beside() -> None:
    assert any("list_tensors" in row and " t " in row for row in driven("<ctrl p>list_t").rows)
    assert any("loss/mul" in row and "NaN×1" in row for row in driven("<ctrl p>loss/mul").rows)
    assert any("dense/MatMul" in row and "finite" in row for row in driven("<ctrl p>mm").rows)


def test_a_click_goes_there() -> None:
    rows = driven("<ctrl p>loss/mul").rows
    row = next(at for at, text in enumerate(rows) if "tensor" in text and "loss/mul" in text)
    col = rows[row].index("loss/mul")
    assert driven(f"<ctrl p>loss/mul<click {col} {row}>").state.page.command == "pt loss/mul:0"


class _Many(MemoryTensorStore):
    """Tensors by the hundred thousand."""

    def __init__(self, count: int) -> None:
        names = [TensorName(f"model/layer_{i % 999}/dense/MatMul_{i}", 0) for i in range(count)]
        tensors = [Tensor(name, "", "MatMul", "float32", (2,), 8, 0, None) for name in names[:1]] * count
        super().__init__(tensors, [np.float32(0.0)] * count)
        self._by_node = {name.node: [i] for i, name in enumerate(names)}


def test_very_many_names_keep_no_key_waiting() -> None:
    store = _Many(100_000)
    graph = Graph([Node("x", "Placeholder", "")])
    event = RunEnd(Run(Call(1, RunKind.SESSION, ("x:0",)), store, graph))
    screen = driven("", event=event)
    app = screen.app
    app.at_once = 0.0
    store.nodes()
    for key in ["ctrl p", *"mm99", "backspace", "7", "down", "up"]:
        app.key(key)
        app.view.render((200, 60))
        dialog = app.state.dialog
        assert isinstance(dialog, FindDialog)
    slices = 0
    while dialog.unfinished:  # the loop looks at the keyboard after each
        asked = iter([False])
        dialog.work(lambda asked=asked: next(asked, True))  # type: ignore[misc]
        slices += 1
    assert slices > 20, "names are asked some thousands at a time"
    dialog.work(lambda: False)
    assert "100,0" in dialog.count and "model/layer" in dialog.view.line(0).text
