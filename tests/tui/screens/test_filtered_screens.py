"""`f` in the lists other than that of tensors: what is typed narrows them all in the same way."""

from __future__ import annotations

from dataclasses import replace

import pytest
from support import sample_run
from support.golden import check_golden
from support.looks import written
from support.screen import Driven
from support.traced_functions import traced_stop
from support.trained_steps import trained_steps

from tfdbg_cli.commands.standard import standard_registry
from tfdbg_cli.model.ignored import Ignored, IgnoredPlace
from tfdbg_cli.model.names import TensorName
from tfdbg_cli.model.runs import Stop
from tfdbg_cli.tui.keys.keymap import KeyContext

REGISTRY = standard_registry()
# The list, what is typed, and a text with a mistake at its sixth column.
LISTS = {
    "inputs": ("li -r loss/Mean", "loss nan>0", "loss/mul"),
    "outputs": ("lo -r x", "loss not Log", "loss/mul"),
    "history": ("history x", "run=3 zero>10%", "#3"),
    "placement": ("placement", "CPU size>1kB", "CPU:0"),
    "frequencies": ("fq dtype", "loss nan>0", "float32"),
    "filters": ("filters", "name~gradient", "vanishing_gradient"),
    "runs": ("runs", "tensors>=0", "runs[tensors>=0]: 1 of 1"),
    "alerts": ("alerts", "op=Log or nan>1", "loss/Log"),
    "timeline": ("timeline", "run=3", "timeline[run=3]: 1 of 1"),
    "trends": ("trends", "dense max>20", "gradient"),
    "traces": ("traces", "step seconds>0.2", "step"),
    "ignored": ("ignored", "mask op=Const", "mask:0"),
    "queries": ("queries", "name~^m", "mean"),
    "found": ("find loss", "loss kind=tensor", "loss/Log"),
}
PLACES = (
    IgnoredPlace(3, "", TensorName("mask", 0), "Const", "-inf", "a mask of -inf", True, ("mask", "masked")),
    IgnoredPlace(3, "", TensorName("log", 1), "Log", "NaN", "no result is touched", False, ("log",)),
)


def driven(name: str, keys: str, size=(80, 24)) -> Driven:
    return Driven(_event(name), keys, size=size, opening=LISTS[name][0], registry=REGISTRY)


def _event(name: str) -> Stop:
    if name == "runs":
        return sample_run.opened()
    if name == "trends":
        return trained_steps()
    if name == "traces":
        return traced_stop()
    return replace(sample_run.run_end(), ignored=Ignored(PLACES))


@pytest.mark.parametrize("size", [(40, 10), (80, 24), (120, 40), (200, 60)], ids=lambda size: f"{size[0]}x{size[1]}")
@pytest.mark.parametrize("name", LISTS)
def test_a_list_that_was_filtered(name: str, size: tuple[int, int]) -> None:
    screen = driven(name, f"f{LISTS[name][1]}<enter>", size)
    check_golden(f"screens/filtered/{name}-{size[0]}x{size[1]}", written(screen, 256))


@pytest.mark.parametrize("name", LISTS)
def test_typed_kept_and_taken_back(name: str) -> None:
    _, query, left = LISTS[name]
    typed = driven(name, f"f{query}")
    assert typed.state.place is KeyContext.FILTER and left in typed.text
    kept = driven(name, f"f{query}<enter>")
    assert len(kept.state.pages.all) == 2
    assert " -q " in kept.state.page.command
    assert f"[{query}]: " in kept.state.page.document.title
    again = Driven(
        _event(name),
        opening=kept.state.page.command,
        registry=REGISTRY,
    )
    assert again.state.page.document.title == kept.state.page.document.title  # what a key does can be typed
    assert driven(name, f"f{query}<esc>").text == driven(name, "").text
    assert driven(name, f"f{query}<enter><ctrl o>").rows[2:] == driven(name, "").rows[2:]


@pytest.mark.parametrize("name", LISTS)
def test_a_mistake_shows_its_place(name: str) -> None:
    screen = driven(name, "floss nam>")
    assert "Column 6: there is no fact 'nam'." in screen.status
    prompt = next(row for row, text in enumerate(screen.rows) if text.startswith(" filter>"))
    assert screen.rows[prompt + 1].index("^") == screen.rows[prompt].index("nam")
