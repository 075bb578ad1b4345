"""Dumps of a hundred thousand files, and folders of as many runs: what is shown is read, and nothing else.

Files and calls are counted at a few hundred, where each of them still shows.
"""

from __future__ import annotations

import os
import shutil
from dataclasses import replace
from itertools import islice
from pathlib import Path

import pytest
from support.dump_maker import T0, dump_core_metadata, dump_graph, dump_tensor, small_dump
from support.plain_text import plain
from support.prompt import Prompt
from support.sample_run import sample_run
from support.work import counted_calls, counted_files

from tfdbg_cli.analysis.graph.nodes import roles
from tfdbg_cli.formats.dumps.writer import write_dump
from tfdbg_cli.formats.messages.graph_def import SavedGraph
from tfdbg_cli.formats.opening import open_path
from tfdbg_cli.model.calls import RunError
from tfdbg_cli.model.runs import TellsOutlines

_SCREEN = 30  # lines of a listing


def _tensors(folder: Path, count: int) -> Path:
    names = [f"layer_{i // 50}/op_{i}" for i in range(count)]
    dump_graph(folder, [(name, "Mul", [names[i - 1]] if i else []) for i, name in enumerate(names)])
    for i, name in enumerate(names):
        dump_tensor(folder, name, 10 + i, [1.0, 2.0])
    dump_core_metadata(folder, output_names=[f"{names[-1]}:0"])
    return folder


def _runs(folder: Path, count: int) -> Path:
    """Their files are the same ones, which takes less of a disk than copies do: none may be changed in its place."""
    one = small_dump(folder.parent / "one")
    for number in range(count):
        shutil.copytree(one, folder / f"run_{T0 + number}_{number}", copy_function=os.link)
    return folder


def _screen(path: Path, command: str) -> str:
    """The first screen of what `command` answers to the recording at `path`."""
    return plain(islice(Prompt(open_path(path)).document(command).lines(80), _SCREEN))


def _opened(folder: Path, command: str) -> list[str]:
    """The files of the recording in `folder` that the first screen takes."""
    with counted_files() as work:
        _screen(folder, command)
    inside = [path for path in work.listed if path != str(folder)]
    assert inside and len(inside) == len(set(inside)), "no folder of tensors is listed twice"
    return [path for path in work.opened if Path(path).is_relative_to(folder)]


def test_the_first_screen_makes_no_nodes_but_those_it_shows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(roles, "_MOST_FOLLOWED", 200)
    recording = open_path(_tensors(tmp_path, 1_000))
    assert "1000 dumped tensor(s)" in plain(islice(Prompt(recording).document("lt").lines(80), _SCREEN))
    (run,) = recording.runs
    assert isinstance(run.graph, SavedGraph) and not run.graph.has_all_nodes
    made = run.graph._parsed._made
    assert 0 < len(made) < 500
    assert run.notes == () and len(made) == 1_000, "whether times and graph agree is found out for those who ask"


_LISTS = (
    "lt",
    "lt -n op_222$",
    "lt -t Mul",
    "lt -l layer_3",
    "lt -s timestamp -r",
    "lt -s op_type",
    "lt -s tensor_name -r",
    "lt -s device",
    "ln",
)


@pytest.fixture(scope="module")
def thousand(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A dump of a thousand tensors, which is only read."""
    return _tensors(tmp_path_factory.mktemp("thousand") / "run", 1000)


@pytest.mark.parametrize("command", _LISTS)
def test_a_list_of_tensors_opens_few_files(thousand: Path, command: str) -> None:
    opened = _opened(thousand, command)
    assert len(opened) < 400, "some rows beyond the screen are asked for the widths of the columns"
    assert len(opened) == len(set(opened)), "no file is opened twice"


def test_what_one_more_tensor_costs_does_not_grow_with_their_number(tmp_path: Path) -> None:
    few, many = _tensors(tmp_path / "few", 500), _tensors(tmp_path / "many", 2000)
    _screen(few, "lt")
    spent = []
    for folder in (few, many):
        with counted_calls() as work:
            _screen(folder, "lt")
        spent.append(work.calls)
    assert spent[1] - spent[0] < 80 * 1500


def test_a_list_of_runs_reads_those_that_it_shows(tmp_path: Path) -> None:
    folder = _runs(tmp_path / "runs", 400)
    with counted_files() as work:
        shown = _screen(folder, "runs")
    assert "400 runs" in shown and "run #" in shown
    read = {Path(path).relative_to(folder).parts[0] for path in work.opened if Path(path).is_relative_to(folder)}
    assert len(read) < 300, "some rows beyond the screen are asked for the widths of the columns"
    assert work.listed.count(str(folder)) <= 2, "the names, and which of them are folders"


def test_a_query_for_the_number_of_tensors_reads_the_runs_that_are_shown(tmp_path: Path) -> None:
    folder = _runs(tmp_path / "runs", 300)
    larger = [number for number in range(300) if number % 3 == 0]
    for number in larger:
        dump_tensor(folder / f"run_{T0 + number}_{number}", "more", 99, [1.0])
    tensors = len(open_path(folder).runs[1].tensors)
    with counted_files() as work:
        shown = _screen(folder, f"runs -q tensors>{tensors}")
    assert "100 of 300 rows" in shown
    read = {int(Path(path).relative_to(folder).parts[0].rpartition("_")[2]) for path in work.opened if "run_" in path}
    assert read <= set(larger)
    assert _numbers(folder, f"tensors>{tensors}") == [number + 1 for number in larger]
    shutil.rmtree(folder / f"run_{T0}_0")
    prompt = Prompt(open_path(folder))
    shutil.rmtree(folder / f"run_{T0 + 3}_3")
    asked = [run["number"] for run in prompt.data(f"runs -q tensors>{tensors}")["runs"]]
    assert asked == [number for number in larger if number > 3], "what was deleted meanwhile is not admitted"


def _numbers(folder: Path, query: str) -> list[int]:
    return [run["number"] for run in Prompt(open_path(folder)).data(f"runs -q {query}")["runs"]]


@pytest.mark.parametrize("damage", ["", "foreign", "link", "graph", "empty"])
def test_as_many_tensors_are_counted_as_are_read(tmp_path: Path, damage: str) -> None:
    run = _tensors(tmp_path / "run", 20)
    (device,) = (path for path in run.iterdir() if "device" in path.name)
    match damage:
        case "foreign":
            (device / "notes.txt").write_text("no tensor")
        case "link":
            (device / f"outside_0_DebugIdentity_{T0}").symlink_to("/etc/hostname")
        case "graph":
            (device / f"_tfdbg_graph_0_DebugIdentity_{T0}").write_bytes(b"")
        case "empty":
            (device / f"nothing_0_DebugIdentity_{T0}").write_bytes(b"")
    runs = open_path(run).runs
    assert isinstance(runs, TellsOutlines)
    assert runs.tensor_count(0) == len(runs[0].tensors) == 20 + (damage == "empty")


def test_the_last_of_many_runs_is_looked_at_alone(tmp_path: Path) -> None:
    folder = _runs(tmp_path / "runs", 300)
    with counted_files() as work:
        assert "total:0" in _screen(folder, "runs 300")
    read = {Path(path).relative_to(folder).parts[0] for path in work.opened if Path(path).is_relative_to(folder)}
    assert read == {f"run_{T0 + 299}_299"}


def test_opening_a_folder_of_runs_makes_few_calls_for_each(tmp_path: Path) -> None:
    spent = []
    for count in (200, 800):
        folder = tmp_path / str(count)
        for number in range(count):
            (folder / f"run_{T0 + number}_{number}").mkdir(parents=True)
        with counted_calls() as work:
            assert len(open_path(folder).runs) == count
        spent.append(work.calls)
    assert spent[1] - spent[0] < 60 * 600


def test_what_a_list_tells_of_runs_takes_one_small_file_of_each(tmp_path: Path) -> None:
    failed = RunError("InvalidArgumentError", "a message", "loss/Log", "no inputs")
    whole = sample_run()
    for number in range(60):
        run = whole if number % 2 else replace(whole, error=failed)
        run = replace(run, call=replace(run.call, number=number + 1))
        write_dump(run, tmp_path / f"run_{T0 + number}_{number}")
    told, read = open_path(tmp_path).runs, open_path(tmp_path).runs
    assert isinstance(told, TellsOutlines)
    with counted_files() as work:
        outlines = [told.outline(place) for place in range(60)]
        numbers = [told.number(place) for place in range(60)]
    assert {Path(path).name for path in work.opened} == {"case.json"} and len(work.opened) == 60
    assert numbers == [run.call.number for run in read] == list(range(1, 61))
    assert [(outline.call.title, outline.error, outline.cut_off) for outline in outlines] == [
        (run.call.title, run.error, run.cut_off) for run in read
    ]
    with counted_files() as work:
        assert _numbers(tmp_path, "run<5") == [1, 2, 3, 4]
    assert {Path(path).relative_to(tmp_path).parts[0] for path in work.opened} == {
        f"run_{T0 + number}_{number}" for number in range(4)
    }


@pytest.mark.parametrize("damage", ["gone", "link", "broken", "text"])
def test_where_that_file_is_no_use_the_run_is_read(tmp_path: Path, damage: str) -> None:
    folder = tmp_path / f"run_{T0}_6"
    write_dump(sample_run(), folder)
    case = folder / "_tfdbg_cli" / "case.json"
    content = case.read_text()
    case.unlink()
    if damage == "link":
        (tmp_path / "case.json").write_text(content)
        case.symlink_to(tmp_path / "case.json")
    elif damage != "gone":
        case.write_text(content[:40] if damage == "broken" else content.replace('"number":', '"numbers":'))
    runs = open_path(tmp_path).runs
    assert isinstance(runs, TellsOutlines)
    outline = runs.outline(0)
    assert outline.call.title == runs[0].call.title
    assert outline.call.number == runs.number(0) == 7
    assert (outline.error, outline.cut_off) == (runs[0].error, runs[0].cut_off)
