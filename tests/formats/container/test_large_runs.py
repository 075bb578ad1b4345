"""A run of very many tensors is read by the page and by the column, and answers as any other."""

from __future__ import annotations

import random
import sqlite3
from pathlib import Path

import pytest
from support.prompt import Prompt
from support.run_maker import RunMaker
from support.sample_run import sample_run

from tfdbg_cli.analysis.choosing.tensor_query import SortKey, TensorQuery, ordered
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.formats.container import run_rows
from tfdbg_cli.formats.container import store as store_module
from tfdbg_cli.formats.container.writer import RecordingWriter
from tfdbg_cli.formats.opening import open_path
from tfdbg_cli.model.runs import Opened, Run
from tfdbg_cli.model.tensors import MemoryTensorStore, TellsOrder


@pytest.fixture(autouse=True, params=["rows", "packed columns"])
def every_run_is_large(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.param == "packed columns":
        monkeypatch.setattr(run_rows, "WORTH", 2)
    monkeypatch.setattr(store_module, "_AT_ONCE", 2)
    monkeypatch.setattr(store_module, "_PAGE", 3)
    monkeypatch.setattr(store_module, "_PAGES", 2)


def _recorded(path: Path, run: Run) -> Run:
    writer = RecordingWriter(path)
    writer.write(run)
    writer.close()
    return open_path(path).runs[0]


@pytest.mark.parametrize("seed", [None, *range(6)])
def test_it_is_as_it_was(tmp_path: Path, seed: int | None) -> None:
    run = sample_run() if seed is None else RunMaker(seed).run()
    large = _recorded(tmp_path / "r", run).tensors
    small = run.tensors
    assert [str(large[i].name) for i in range(len(large))] == [str(small[i].name) for i in range(len(small))]
    assert list(large.nodes()) == list(small.nodes())
    assert large.nodes()[1:3] == list(small.nodes())[1:3]
    for name in small.nodes():
        assert list(large.named(name)) == list(small.named(name))
        assert list(large.named(name, 0)) == list(small.named(name, 0))
    assert list(large.named("nobody")) == []


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("key", [key for key in SortKey if key is not SortKey.WORST])
def test_its_order_is_that_of_its_rows(tmp_path: Path, key: SortKey, reverse: bool) -> None:
    for seed in range(4):
        run = RunMaker(seed).run() if seed else sample_run()
        large, query = _recorded(tmp_path / str(seed), run).tensors, TensorQuery(sort_by=key, reverse=reverse)
        assert isinstance(large, TellsOrder)
        rows = [large[i] for i in range(len(large))]
        small = MemoryTensorStore(rows, [large.value(i) for i in range(len(large))])
        expected = ordered(small, range(len(small)), query, lambda index: None)
        assert list(ordered(large, range(len(large)), query, lambda index: None)) == list(expected)


@pytest.mark.parametrize(
    "command", ["lt", "lt -s op_type -r", "lt -s tensor_name", "lt -n loss --stats", "lt --dtype int", "origin",
                "pt loss/Log:0", "ll", "lt -q 'size>1KB or nan>0'", "history step/while/Add:0", "pt Log",
                "lt -t 'Add|Mul' -s shape", "lt --shape '*,2'", "lt --device CPU -s op_type -r",
                "lt -n . -fenn Add -f has_inf_or_nan", "lt --role grad -t .", "lt -n nobody",
                "lt -q 'op=Log or (size<10 not dtype=float32)'", "lt -q 'exec>0 rank=0'",
                "lt -q 'while shape=[] or nan>0 op=Log'", "lt -q 'not role=forward op~a'",
                "lt -q 'not (device=CPU:0 nan=0)'", "lt -q bad>0", "lt -q 'inf>5% or nan=0'", "lt -q 'not inf=0'",
                "lt --role update", "lt -l loss", "lt -l step/while -n .",
                "lt -q 'role=update or layer=loss'", "lt -q 'name~:1 or layer~loss'"]
)  # fmt: skip
def test_commands_answer_as_of_any_run(tmp_path: Path, command: str) -> None:
    large = Prompt(Opened("", [_recorded(tmp_path / "r", sample_run())]))
    small = Prompt(Opened("", [sample_run()]))
    assert large.show(command) == small.show(command)
    assert large.data(command) == small.data(command)


def test_whatever_stands_in_its_columns_no_command_fails(tmp_path: Path) -> None:
    _recorded(tmp_path / "r", sample_run())
    index = tmp_path / "r" / "index.sqlite"
    whole, chance = index.read_bytes(), random.Random(5)
    for _ in range(60):
        index.write_bytes(whole)
        database = sqlite3.connect(index)
        column = chance.choice(["node", "slot", "dtype", "op_type", "shape", "bytes", "device", "lack"])
        wrong = chance.choice([-1, 2**62, "x", 0.5, b"\xff", 99999])
        database.execute(f"UPDATE tensors SET {column} = ? WHERE random() % 3 = 0", (wrong,))
        database.commit()
        database.close()
        prompt = Prompt(open_path(tmp_path / "r"))
        for command in (
            "lt",
            "lt -s op_type",
            "lt -s shape",
            "lt -s tensor_name",
            "origin",
            "pt loss/Log:0",
            "ll",
            "lt -t Log --dtype f --shape '*' -n o",
            "lt -q 'size>1 loss'",
        ):
            try:
                prompt.show(command)
            except TfdbgError as error:
                assert error.message
