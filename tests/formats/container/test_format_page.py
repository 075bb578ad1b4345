"""docs/format.md says enough: a reader of a hundred lines that follows it reads what tfdbg wrote."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest
from support import small_reader
from support.package_source import PROJECT
from support.run_maker import RunMaker
from support.sample_run import TRACEBACKS, TRAIN_PY, sample_run
from support.small_reader import SmallReader

from tfdbg_cli.formats.container.layout import SCHEMA, VERSION
from tfdbg_cli.formats.container.writer import RecordingWriter
from tfdbg_cli.formats.messages.graph_def import graph_from_parts
from tfdbg_cli.model.graph import GraphKind
from tfdbg_cli.model.runs import Run
from tfdbg_cli.model.statistics import summarize
from tfdbg_cli.model.values import NoValue


def _written(path: Path, *runs: Run, **options: object) -> SmallReader:
    writer = RecordingWriter(path, **options)  # type: ignore[arg-type]
    for run in runs:
        writer.write(run)
    writer.close()
    return SmallReader(path)


def test_the_reader_has_a_hundred_lines_and_knows_nothing_of_tfdbg() -> None:
    text = Path(small_reader.__file__).read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 100
    assert "import tfdbg" not in text and "from tfdbg" not in text


@pytest.mark.parametrize("compressed", [False, True])
@pytest.mark.parametrize("seed", [None, 1, 2, 3])
def test_it_reads_every_value(tmp_path: Path, seed: int | None, compressed: bool) -> None:
    run = sample_run() if seed is None else RunMaker(seed).run()
    reader = _written(tmp_path / "r", run, run, compressed=compressed)
    assert reader.runs() == [1, 2]
    for number in reader.runs():
        found = list(reader.tensors(number))
        assert len(found) == len(run.tensors)
        for place, (name, execution, value) in enumerate(found):
            tensor, expected = run.tensors[place], run.tensors.value(place)
            assert (name, execution) == (str(tensor.name), tensor.execution)
            if isinstance(expected, NoValue):
                assert value == f"{expected.lack}: {expected.text}"
            else:
                assert value.dtype == expected.dtype and value.shape == expected.shape
                assert value.tolist() == expected.tolist() or value.tobytes() == expected.tobytes()
        feeds = reader.feeds(number)
        assert feeds.keys() == run.call.feeds.keys()
        for name, value in run.call.feeds.items():
            fed = np.asarray(value)
            assert fed.dtype == object or np.array_equal(feeds[name], fed, equal_nan=fed.dtype.kind in "fc")


def test_it_reads_what_is_known_of_a_run(tmp_path: Path) -> None:
    reader = _written(tmp_path / "r", sample_run())
    assert reader.description(1)["call"]["fetches"] == ["loss/Mean:0"]
    program = reader.program(1)
    parts = [(device, reader.content(number)) for device, number in program["graph"]["parts"]]
    assert list(graph_from_parts(parts, GraphKind.RUNTIME)) == list(sample_run().graph)
    assert reader.content(program["sources"]["/home/ada/train.py"]).decode() == TRAIN_PY.removesuffix("\n")
    table = json.loads(reader.content(program["tracebacks"]))
    file, line, *_ = table["frames"][table["stacks"][table["nodes"]["loss/Log"]][0]]
    assert (table["texts"][file], line) == ("/home/ada/train.py", TRACEBACKS["loss/Log"][0].line)


def test_it_reads_statistics(tmp_path: Path) -> None:
    run = sample_run()
    reader = _written(tmp_path / "r", run, selection=lambda _: lambda tensor: False)
    found = reader.summaries(1)
    place = next(iter(run.tensors.named("loss/Log")))
    expected = summarize(run.tensors.value(place))  # type: ignore[arg-type]
    assert {name: found[place][name] for name in ("size", "nan", "neg_inf", "min", "mean")} == {
        name: getattr(expected, name) for name in ("size", "nan", "neg_inf", "min", "mean")
    }


def test_the_page_names_every_table_and_column() -> None:
    page = (PROJECT / "docs" / "format.md").read_text(encoding="utf-8")
    assert f"Version {VERSION}." in page
    for table, columns in re.findall(r"CREATE TABLE (\w+) \((.*?)\)(?: WITHOUT ROWID)?;", SCHEMA, re.DOTALL):
        assert f"`{table}" in page, table
        for column in re.findall(r"(\w+) (?:INTEGER|TEXT|REAL|BLOB)", columns):
            assert re.search(rf"[`, (]{column}[`, )]", page), f"{table}.{column}"
