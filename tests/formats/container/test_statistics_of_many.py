"""Statistics that a recording has in the place of values: of very many tensors they are asked by the column."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from support.prompt import Prompt
from support.run_maker import RunMaker
from support.sample_run import sample_run

from tfdbg_cli.formats.container import numbers, run_rows
from tfdbg_cli.formats.container import store as store_module
from tfdbg_cli.formats.container.layout import INDEX
from tfdbg_cli.formats.container.store import RecordedTensors
from tfdbg_cli.formats.container.writer import RecordingWriter
from tfdbg_cli.formats.opening import open_path
from tfdbg_cli.model.calls import Call, RunKind
from tfdbg_cli.model.names import TensorName
from tfdbg_cli.model.runs import Run
from tfdbg_cli.model.statistic_columns import statistics_in_steps, statistics_of
from tfdbg_cli.model.statistics import Summary
from tfdbg_cli.model.tensors import MemoryTensorStore, Tensor, describe

_QUERIES = (
    "max>1", "min<0 or absmax>=2", "not std>0.5", "mean!=0", "nan=0", "bad>0", "inf>5% or neg>50%", "zero<=1 pos>0",
    "not (nan=0 max<3)", "absmax<1e300",
)  # fmt: skip


@pytest.fixture
def many(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """What has every run that is opened from now on count as one of very many tensors."""

    def patch() -> None:
        monkeypatch.setattr(store_module, "_AT_ONCE", 2)

    return patch


@pytest.fixture(autouse=True, params=["rows", "packed columns"])
def columns(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.param == "packed columns":
        monkeypatch.setattr(run_rows, "WORTH", 2)


def _nothing(tensor: Tensor) -> bool:
    return False


def _some(tensor: Tensor) -> bool:
    return len(tensor.node) % 2 == 0


def _recorded(path: Path, run: Run, chosen: Callable[[Tensor], bool]) -> None:
    writer = RecordingWriter(path, selection=lambda run: chosen)
    writer.write(run)
    writer.close()


def _hard() -> Run:
    """A run of what is easily sorted otherwise: nothing, zeros, as many NaN in more, an infinity, ends alike."""
    nan, inf = np.nan, np.inf
    values = [
        [], [0.0, -0.0], [nan, 1], [nan, 1, 2], [nan, nan, 7], [inf], [-inf, nan], [3, -4], [4, -3], [-4], [1e-300],
        [1e300, -1], [2, 2, 2], [nan], [5],
    ]  # fmt: skip
    arrays = [np.array(value, np.float64) for value in values]
    names = (TensorName(f"{'even' if i % 3 else 'odd'}{i}", 0) for i in range(len(arrays)))
    rows = [
        describe(name, array, device="", op_type="Add", dtype="float64")
        for name, array in zip(names, arrays, strict=True)
    ]
    return Run(Call(1, RunKind.SESSION, ()), MemoryTensorStore(rows, arrays))


def _runs() -> list[Run]:
    return [_hard(), sample_run(), *(RunMaker(seed).run() for seed in range(3))]


@pytest.mark.parametrize("chosen", [_nothing, _some])
def test_queries_and_the_worst_are_as_of_any_run(
    tmp_path: Path, chosen: Callable[[Tensor], bool], many: Callable[[], None]
) -> None:
    commands = [f"lt -q '{query}'" for query in _QUERIES]
    commands += ["lt -s worst", "lt -s worst -r", "lt -s worst -n e", "lt -s worst -q max>0"]
    paths = [tmp_path / str(number) for number in range(len(_runs()))]
    for path, run in zip(paths, _runs(), strict=True):
        _recorded(path, run, chosen)
    expected = [[Prompt(open_path(path)).data(command) for command in commands] for path in paths]
    many()
    found = [[Prompt(open_path(path)).data(command) for command in commands] for path in paths]
    assert found == expected
    assert any(one["tensors"] for one in found[0])


def test_none_is_looked_at_by_itself(
    tmp_path: Path, many: Callable[[], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    _recorded(tmp_path / "r", _hard(), _nothing)
    many()

    def refused(store: RecordedTensors, index: int) -> Summary | None:
        raise AssertionError(f"The statistics of tensor {index} were asked for.")

    monkeypatch.setattr(RecordedTensors, "summary", refused)
    prompt = Prompt(open_path(tmp_path / "r"))
    for query in _QUERIES:
        prompt.data(f"lt -q '{query}'")
    found = prompt.data("lt -s worst")["tensors"]
    assert [one["node"] for one in found[:3]] == ["odd6", "even4", "even5"]


def test_what_is_no_number_is_looked_at_by_itself(tmp_path: Path, many: Callable[[], None]) -> None:
    _recorded(tmp_path / "r", _hard(), _nothing)
    index = sqlite3.connect(tmp_path / "r" / INDEX)
    index.execute("UPDATE summaries SET max = 'much' WHERE place = 7")
    index.execute("UPDATE summaries SET nan = x'00' WHERE place = 3")
    index.commit()
    index.close()
    few = Prompt(open_path(tmp_path / "r"))
    expected = [few.data(command) for command in ("lt -q max>1", "lt -q nan>0", "lt -s worst")]
    many()
    large = Prompt(open_path(tmp_path / "r"))
    assert [large.data(command) for command in ("lt -q max>1", "lt -q nan>0", "lt -s worst")] == expected


def test_they_are_read_in_steps_and_once(
    tmp_path: Path, many: Callable[[], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A million are read for seconds: a key is answered, and the share that is done shown, in between."""
    run = _hard()
    _recorded(tmp_path / "r", run, _nothing)
    _recorded(tmp_path / "valued", run, lambda tensor: True)
    many()
    monkeypatch.setattr(numbers, "_IN_A_STEP", 4)
    store = open_path(tmp_path / "r").runs[0].tensors
    assert list(statistics_in_steps(store, ["size", "max"])) == [4 / 15, 8 / 15, 12 / 15, 1]
    assert list(statistics_in_steps(store, ["max", "size"])) == []
    assert len(list(statistics_in_steps(store, ["max", "min"]))) == 4
    told = statistics_of(store, ["min", "max"])
    assert told is not None and told.known.all() and told.numbers["max"][7] == 3
    valued = open_path(tmp_path / "valued").runs[0].tensors
    assert list(statistics_in_steps(valued, ["size"])) == []
    assert statistics_of(valued, ["size"]) is None
