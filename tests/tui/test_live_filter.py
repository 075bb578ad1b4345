"""`f`: the rows of a list vanish as one types, Enter keeps what is left, Esc shows the list as it was."""

from __future__ import annotations

import pytest
from support import sample_run
from support.golden import check_golden
from support.looks import written
from support.screen import Driven
from support.work import after

from tfdbg_cli.commands.service.prompt_service import PromptService
from tfdbg_cli.commands.standard import standard_registry
from tfdbg_cli.model.graph import Graph
from tfdbg_cli.model.names import TensorName
from tfdbg_cli.model.runs import RunEnd
from tfdbg_cli.model.tensors import MemoryTensorStore, Tensor
from tfdbg_cli.tui.keys.keymap import KeyContext

REGISTRY = standard_registry()


def driven(keys: str, size=(80, 24), opening="lt", event=None) -> Driven:
    return Driven(event or sample_run.run_end(), keys, size=size, opening=opening, registry=REGISTRY)


SCREENS = {"typed": "jjfloss", "kept": "jjfloss nan>0<enter>", "wrong": "floss nam>", "empty": "f"}


@pytest.mark.parametrize("size", [(40, 10), (80, 24), (120, 40), (200, 60)], ids=lambda size: f"{size[0]}x{size[1]}")
@pytest.mark.parametrize("name", SCREENS)
def test_screens(name, size) -> None:
    screen = driven(SCREENS[name], size)
    check_golden(f"screens/filter-{name}-{size[0]}x{size[1]}", written(screen, 256))


COUNTS = [10, 3, 3, 3, 3, 2]  # l, lo, los …


def test_rows_vanish_with_each_letter() -> None:
    found = [driven("f" + "loss/m"[:n]).state.page.document.title for n in range(1, 7)]
    assert found == [f"tensors[{'loss/m'[:n]}]: {count} of 20" for n, count in enumerate(COUNTS, 1)]
    assert driven("floss/M<backspace>mu").state.page.document.title == "tensors[loss/mu]: 1 of 20"


def test_enter_keeps_them_on_a_page_of_their_own() -> None:
    screen = driven("jjfloss nan>0<enter>")
    assert [page.command for page in screen.state.pages.all] == ["lt", "lt -q 'loss nan>0'"]
    assert screen.state.place is KeyContext.DOCUMENT
    assert "lt › lt -q 'loss nan>0'" in screen.rows[1]
    assert "filter loss and nan>0: 2 of 20 rows" in screen.text
    assert "Enter: pt loss/mul:0" in screen.status  # the first row is chosen, not the way back
    back = driven("jjfloss nan>0<enter><ctrl o>")
    assert back.text.split("\n")[2:] == driven("jj").text.split("\n")[2:]


def test_a_kept_filter_is_narrowed_further_or_taken_away() -> None:
    assert driven("floss<enter>f nan>0<enter>").state.page.command == "lt -q 'loss nan>0'"
    assert driven("floss<enter>f<ctrl u><enter>").state.page.command == "lt"
    assert len(driven("floss<enter>f<enter>").state.pages.all) == 2


def test_esc_shows_exactly_the_view_before() -> None:
    keys = "jjjjGkk<right>jk"  # the last two take the message away
    before, after = driven(keys, (80, 12)), driven(keys + "floss<down><esc>", (80, 12))
    assert after.text == before.text
    assert after.state.page.view.top == before.state.page.view.top
    assert len(after.state.pages.all) == 1
    ahead = driven("<enter><ctrl o>fx<esc>")
    assert [page.command for page in ahead.state.pages.all] == ["lt", "pt x:0"]  # forward still leads there


def test_other_flags_and_the_order_stay() -> None:
    screen = driven("floss<enter>", opening="lt -s tensor_name -r --stats")
    assert screen.state.page.command == "lt -q loss -s tensor_name -r --stats"
    names = [row.split()[-1] for row in screen.rows if row.endswith(":0") and row[8:].strip() and "tfdbg" not in row]
    assert names[:3] == ["loss/mul:0", "loss/Mean:0", "loss/Log:0"]


def test_an_error_shows_its_place_and_the_rows_stay() -> None:
    screen = driven("floss nam>")
    assert "Column 6: there is no fact 'nam'." in screen.status
    prompt = next(row for row, text in enumerate(screen.rows) if text.startswith(" filter>"))
    assert screen.rows[prompt + 1].index("^") == screen.rows[prompt].index("nam")
    assert screen.looks()[prompt + 1][-1][0].foreground == screen.looks()[prompt - 1][0][0].foreground
    held = driven("floss nam><enter>")
    assert held.state.place is KeyContext.FILTER  # it can be mended
    mended = driven("floss nam><enter><backspace><backspace>n>0<enter>")
    assert mended.state.page.command == "lt -q 'loss nan>0'"


def test_a_page_that_is_no_list_says_so() -> None:
    screen = driven("f", opening="run_info")
    assert (
        "This is no list that filters. `lt`, `layers`, `runs` and other lists are; /\n searches here." in screen.text
    )
    assert screen.state.place is KeyContext.DOCUMENT


def test_layers_and_runs_filter_with_the_same_language() -> None:
    assert driven("floss<enter>", opening="ll").state.page.command == "ll -q loss"
    assert driven("ftensors>=0<enter>", opening="runs", event=sample_run.opened()).state.page.command == (
        "runs -q 'tensors>=0'"
    )


def test_ctrl_c_a_click_and_a_breadcrumb_end_it() -> None:
    assert driven("floss<ctrl c>").state.page.command == "lt"
    clicked = driven("floss<click 3 6>")
    assert clicked.state.place is KeyContext.DOCUMENT and clicked.state.filter is None
    assert clicked.state.page.command == "lt -q loss"
    crumb = driven("<enter><ctrl o>floss<click 2 1>")
    assert crumb.state.filter is None and crumb.state.page.command == "lt"


def test_quotes_and_a_paste_are_typed_as_they_are() -> None:
    keys = ["f", "begin paste", *'name~"loss/(mul|Log)"', "end paste", "enter"]
    screen = Driven(sample_run.run_end(), keys, registry=REGISTRY)
    assert screen.state.page.document.title == 'tensors[name~"loss/(mul|Log)"]: 2 of 20'
    again = driven("", opening=screen.state.page.command)
    assert "2 of 20 rows" in again.text


class Long(MemoryTensorStore):
    """Two hundred thousand tensors that hold nothing."""

    def __init__(self) -> None:
        tensors = [
            Tensor(TensorName(f"layer_{i % 97}/op_{i}", 0), "/device:CPU:0", 0, "float32", (2,), 8, i, "Op")
            for i in range(200_000)
        ]
        super().__init__(tensors, [])  # type: ignore[arg-type]


def test_a_long_list_is_narrowed_in_slices_and_the_last_text_wins(monkeypatch) -> None:
    monkeypatch.setattr(MemoryTensorStore, "__init__", _without_values)
    event = RunEnd(sample_run.sample_run(tensors=Long(), graph=Graph()))
    service = PromptService(event, REGISTRY)
    document = service.execute("lt -s tensor_name")
    service.show("lt -s tensor_name", document)
    narrowing = service.narrow()
    narrowing.ask("op")
    turns = 0

    for text in ("op_", "op_1", "layer_13/"):
        for _ in range(3):  # the person types faster than the rows are looked at
            narrowing.work(after(3))
            assert narrowing.running
        narrowing.ask(text)
    while narrowing.running:
        narrowing.work(after(3))
        turns += 1
    assert turns > 3
    assert service.pages.current.document.title == "tensors[layer_13/]: 2,062 of 200,000"
    assert service.pages.current.command == "lt -q layer_13/ -s tensor_name"
    narrowing.take_back()
    assert service.pages.current.document is document


def _without_values(self, tensors, values) -> None:
    super(MemoryTensorStore, self).__init__(tensor.name for tensor in tensors)
    self._tensors = tensors


def test_a_filter_with_a_name_is_typed_like_any_other(tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    kept = driven(":queries sick 'nan>0 or inf>0'<enter>")
    assert "@sick" in kept.text
    assert driven("f@sick loss<enter>").state.page.command == "lt -q '@sick loss'"
    assert "3 of 20 rows" in driven("f@sick loss<enter>").text
    assert "Column 1: there is no query called 'sic'. Did you mean sick?" in driven("f@sic").status
