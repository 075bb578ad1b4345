"""The health of tensors in lists on the screen: what is in sight is counted, a little at a time, and nothing else."""

from __future__ import annotations

import numpy as np
import pytest
from support import sample_run
from support.golden import check_golden
from support.looks import written
from support.made_run import made_run, op
from support.plain_text import plain
from support.screen import Driven
from support.slow_screen import Slow
from support.work import counted_memory

from tfdbg_cli.commands.service.prompt_service import PromptService
from tfdbg_cli.commands.standard import standard_registry
from tfdbg_cli.config.settings import Settings
from tfdbg_cli.document.document import Document
from tfdbg_cli.document.table import Table
from tfdbg_cli.model.graph import Graph
from tfdbg_cli.model.names import TensorName
from tfdbg_cli.model.runs import RunEnd
from tfdbg_cli.model.statistics import summarize
from tfdbg_cli.model.tensors import MemoryTensorStore, describe
from tfdbg_cli.tui.reading.late_cells import LateCells
from tfdbg_cli.tui.reading.viewport import Viewport

REGISTRY = standard_registry()
SIZES = [(40, 10), (80, 24), (120, 40), (200, 60)]


@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
@pytest.mark.parametrize(("name", "keys"), [("health", ""), ("worst", "w")])
def test_screens(name, keys, size) -> None:
    screen = Driven(sample_run.run_end(), keys, size=size, registry=REGISTRY)
    check_golden(f"screens/{name}-{size[0]}x{size[1]}", written(screen, 256))


class Noted(MemoryTensorStore):
    """Notes whose values are looked at."""

    def __init__(self, values) -> None:
        tensors = [
            describe(TensorName(f"t{i}", 0), value, device="", op_type="Op", dtype=value.dtype.name)
            for i, value in enumerate(values)
        ]
        super().__init__(tensors, values)
        self.read: list[int] = []

    def value(self, index):
        self.read.append(index)
        return super().value(index)


def _listed(store, *, later: bool = True) -> tuple[PromptService, Document]:
    event = RunEnd(sample_run.sample_run(tensors=store, graph=Graph()))
    service = PromptService(event, REGISTRY, later=later)
    document = service.execute("lt")
    assert isinstance(document, Document)
    return service, document


def test_only_what_is_in_sight_is_read_and_once() -> None:
    store = Noted([np.full(3, i, np.float32) for i in range(500)])
    _, document = _listed(store)
    view = Viewport(document)
    view.resize(200, 20)
    late = LateCells(view)
    assert store.read == [] and late.running
    assert "…" in view.line(5).text
    late.work(lambda: False)
    assert store.read == list(range(17)) and not late.running
    assert "…" not in view.line(5).text
    view.go(400)
    assert late.running
    late.work(lambda: False)
    assert sorted(store.read[17:]) == list(range(378, 398))
    view.begin()
    assert not late.running


def test_a_large_tensor_is_counted_in_slices() -> None:
    values = np.arange(4_000_000, dtype=np.float32).reshape(2000, 2000)
    values[3, 3] = np.nan
    service, document = _listed(Noted([values]))
    view = Viewport(document)
    view.resize(200, 20)
    late = LateCells(view)
    turns, largest = 0, 0
    while late.running:
        with counted_memory() as work:
            late.work(lambda: True)
        largest = max(largest, work.peak)
        turns += 1
    assert turns > 30
    assert largest < 2 * values.nbytes / 4, "a small part of what the whole takes, which is counted as float64"
    row = view.line(3).text
    assert " 1 " in row and "4e+06" in row and "████████" in row
    whole, counted = summarize(values), service.execute("lt --stats").blocks[1]
    assert isinstance(counted, Table)
    shown = plain([counted.lines(200)[1]])
    assert f"{whole.mean:.4g}" in shown and f"{whole.std:.4g}" in shown


def test_other_front_ends_and_files_have_the_columns_of_before(tmp_path) -> None:
    store = Noted([np.ones(3, np.float32)])
    _, document = _listed(store, later=False)
    assert "NaN" not in plain(document.lines(200))
    service, _ = _listed(store)
    service.execute(f"lt > {tmp_path}/list.txt")
    assert (tmp_path / "list.txt").read_text() == plain(document.lines(None)) + "\n"
    assert store.read == []


def test_w_puts_the_worst_on_top_and_back() -> None:
    worst = Driven(sample_run.run_end(), "jjjw", size=(200, 40), registry=REGISTRY)
    assert worst.state.page.command == "lt -s worst"
    assert "Enter: pt loss/Log:0" in worst.status and "NaN!" in worst.text
    assert len(worst.state.pages.all) == 1
    assert Driven(sample_run.run_end(), "ww", registry=REGISTRY).state.page.command == "lt"
    assert "no list of tensors" in Driven(sample_run.run_end(), "w", opening="run_info", registry=REGISTRY).text
    kept = Driven(sample_run.run_end(), "floss<enter>w", registry=REGISTRY)
    assert kept.state.page.command == "lt -q loss -s worst"
    assert "Enter: pt loss/Log:0" in kept.status


def test_sorting_by_a_column_that_is_left_out_shows_it_and_keeps_the_row() -> None:
    screen = Driven(sample_run.run_end(), "jjjjjjjss", registry=REGISTRY)
    assert screen.state.page.command == "lt -s dump_size -r"
    assert "Size▼" in screen.text
    assert "Enter: pt big:0" in screen.status


def test_from_origin_the_list_opens_on_the_offending_tensor() -> None:
    screen = Driven(sample_run.run_end(), "t", (80, 14), opening="origin", registry=REGISTRY)
    assert [page.command for page in screen.state.pages.all] == ["origin", "lt"]
    assert "Enter: pt loss/Log:0" in screen.status
    assert any(row.startswith("▸") or "▸" in row[:3] for row in screen.rows if "loss/Log:0" in row)
    filtered = Driven(sample_run.run_end(), ":lt -f has_nan<enter>", opening="origin", registry=REGISTRY)
    assert "Enter: pt spectrum:0" in filtered.status  # the offending one is infinite, and not among these
    later = Driven(sample_run.run_end(), "t<enter>t", opening="origin", registry=REGISTRY)
    assert "Enter: pt x:0" in later.status


def test_layers_show_what_is_bad_in_them() -> None:
    screen = Driven(sample_run.run_end(), "", (80, 24), opening="ll", registry=REGISTRY)
    counted = Driven(sample_run.run_end(), "", (80, 24), opening="ll --stats", registry=REGISTRY)

    def rows(one: Driven) -> list[list[str]]:
        return [row.replace("▸", " ").split() for row in one.rows[4:-3] if row.strip("▐ ")]

    assert rows(screen) == rows(counted)
    assert any("NaN," in row for row in rows(screen)) and any(row[-2:] == ["5", "loss"] for row in rows(screen))


def test_what_neighbours_hold_is_counted_beside_the_keys() -> None:
    screen = Slow("ni loss/mul")
    screen.press(":", *"li -r loss/mul", "enter")
    assert any("loss/Log  float32[4,2]  …" in row for row in screen.status.splitlines()), "nothing was read yet"
    screen.rest()
    rows = screen.status.splitlines()
    assert any("loss/Log  float32[4,2]  2 ±inf  |x| max 2.944" in row for row in rows)
    assert any("prob  float32[4,2]  |x| max 19" in row for row in rows)


def test_infinities_are_shown_before_roles_and_those_and_histograms_before_sizes() -> None:
    """A step of Keras has roles: a list of 80 columns showed those, and no infinity."""
    x = np.array([[1, np.inf], [3, 4]], np.float32)
    step = RunEnd(
        made_run(
            op("x", "Placeholder", value=x),
            op("a_rather_long_scope/log", "Log", "x", value=x),
            op("gradient_tape/a_rather_long_scope/Mul", "Mul", "x", value=x),
            op("update", "AssignAddVariableOp", "gradient_tape/a_rather_long_scope/Mul", value=x),
        )
    )

    def head(cols: int) -> list[str]:
        settings = Settings(preview="off")
        screen = Driven(step, size=(cols, 24), registry=standard_registry(), settings=settings)
        return next(row.split() for row in screen.rows if "Tensor name" in row)

    heads = [head(cols) for cols in range(60, 220, 4)]
    first = {
        name: next(n for n, one in enumerate(heads) if name in one) for name in ("±inf", "values", "Role", "Size")
    }
    assert first["±inf"] <= 5, "at 80 columns"
    assert first["±inf"] < first["Role"] < first["values"] < first["Size"]
    assert first["±inf"] <= next(n for n, one in enumerate(heads) if "dtype" in one)
    assert "NaN" in head(40), "of health the least that tells the story"
