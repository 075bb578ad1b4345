"""`ignore` and `ignored --withdraw`: what counts as fine by the person's word."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from support.golden import check_golden
from support.made_run import INF, NAN, made_run, op
from support.prompt import Prompt

from tfdbg_cli.formats.dumps.reader import read_dump
from tfdbg_cli.formats.dumps.writer import write_dump
from tfdbg_cli.model.decision import OnBenign, RunUntil
from tfdbg_cli.model.ignored import IgnoredBy
from tfdbg_cli.model.runs import Opened, Run, RunEnd, RunStart


def _run() -> Run:
    return made_run(
        op("x", "Placeholder", value=[1.0, 0.0]),
        op("attention/mask", "Log", "x", value=[0.0, -INF]),
        op("attention/scores", "Add", "attention/mask", "x", value=[1.0, -INF]),
        op("root", "Sqrt", "x", value=[1.0, NAN]),
        op("y", "Neg", "attention/scores", value=[-1.0, INF]),
    )


def _end(watch: RunUntil | None = None) -> RunEnd:
    return RunEnd(_run(), watch=watch)


def test_the_answers() -> None:
    prompt = Prompt(_end(RunUntil("bad_result")), width=100)
    shown = [prompt.show(text, 100) for text in ("ignore attention/mask", "ignore --cause", "ignored", "origin")]
    check_golden("commands/ignore", "\n\n".join(shown))


def test_a_node_a_layer_a_cause_and_the_origin() -> None:
    for command, by, name, named in (
        ("ignore mask", IgnoredBy.NODE, "attention/mask", ["attention/mask"]),
        ("ignore attention/mask:0", IgnoredBy.NODE, "attention/mask", ["attention/mask"]),
        ("ignore --layer attention", IgnoredBy.LAYER, "attention", ["attention/mask", "attention/scores"]),
        ("ignore --cause", IgnoredBy.CAUSE, "Log: log of 0", ["attention/mask"]),
        ("ignore", IgnoredBy.NODE, "attention/mask", ["attention/mask"]),
    ):
        found = Prompt(_end()).data(command)
        assert (found["kind"], found["by"], found["number"]) == ("ignore", by, 1), command
        assert found["name"].startswith(name) and found["named"] == named
        assert found["nodes"] == ["attention/mask", "attention/scores"], "y comes out"
        assert found["go_on"] == "run -f has_inf_or_nan"


def test_the_origin_is_looked_for_elsewhere_from_then_on() -> None:
    prompt = Prompt(_end())
    assert prompt.data("origin")["tensor"] == "attention/mask:0"
    prompt.run("ignore")
    found = prompt.data("origin")
    assert found["tensor"] == "root:0" and found["ignored"] == ["attention/mask", "attention/scores", "y"]
    prompt.run("ignore")
    assert prompt.data("origin")["tensor"] is None
    assert "4 nodes not finite count as fine: ignored" in prompt.show("origin")
    assert prompt.show("origin").startswith("No NaN or infinity in this run that is not ignored.\n")
    assert "4 nodes not finite count as fine: ignored" in prompt.show("origin --all")
    every = prompt.data("origin --all")
    assert (every["tensors"], every["ignored"]) == ([], ["attention/mask", "attention/scores", "root", "y"])
    for command in ("row", "input"):
        told = prompt.error(command).message
        assert told == "What is NaN or infinite here counts as fine (`ignored` lists it), so no row is bad."
    assert "Nothing here is NaN" in prompt.error("ignore").message
    taken = prompt.data("ignored --withdraw 1")
    assert [(one["number"], one["name"]) for one in taken["ignored"]] == [(2, "root")]
    assert prompt.data("origin")["tensor"] == "attention/mask:0"
    assert "no place 7" in prompt.error("ignored --withdraw 7").message


def test_all_that_counts_as_fine_in_the_run_is_told_of() -> None:
    """A blind test: 150 nodes were told of, and then `origin` said that 163 count as fine."""
    prompt = Prompt(_end())
    told = " ".join(prompt.show("ignore").split())
    assert "1 node, and 1 that is bad because of it alone: no watch looks at them" in told
    assert "1 more that comes out of this run or is written to variables: watches look there again." in told
    assert "3 nodes not finite count as fine" in prompt.show("origin")


def test_at_a_recording_nothing_is_said_of_watches() -> None:
    prompt = Prompt(Opened("case", (_run(),)))
    assert "run -f" not in prompt.show("ignored")
    told = " ".join(prompt.show("ignore").split())
    assert "1 node, and 1 that is bad because of it alone: no origin is found there." in told
    assert "or is written to variables: no origin is found in this run." in told and "watch" not in told
    assert "run -f" in Prompt(_end()).show("ignored")


def test_going_on_at_once_is_the_watch_before() -> None:
    last = RunUntil("has_inf_or_nan", "^skip", benign=OnBenign.STOP)
    prompt = Prompt(_end(last))
    assert prompt.run("ignore mask --go") == last
    assert [place.name for place in prompt.context.ignored] == ["attention/mask"]
    assert Prompt(_end()).run("ignore mask --go") == RunUntil("has_inf_or_nan")
    assert Prompt(_end(last)).link("ignore mask", "run -f") == "run -f has_inf_or_nan -fenn ^skip"


def test_a_watch_for_something_else_goes_on_as_it_is() -> None:
    assert Prompt(_end(RunUntil("all_zero"))).data("ignore mask")["go_on"] == "run -f all_zero"


def test_before_a_run_nodes_can_be_named() -> None:
    run = _run()
    prompt = Prompt(RunStart(run.call, run.graph))
    found = prompt.data("ignore --layer attention")
    assert found["nodes"] == ["attention/mask", "attention/scores"] and found["holds"] is None
    assert "exclude each other" in prompt.error("ignore mask --cause").message


def test_a_recording_keeps_what_was_ignored(tmp_path: Path) -> None:
    prompt = Prompt(_end())
    prompt.run("ignore")
    run = replace(_run(), ignored=prompt.context.ignored.places)
    write_dump(run, tmp_path / "dump")
    opened = Prompt(Opened(str(tmp_path), (read_dump(tmp_path / "dump"),)))
    assert opened.context.ignored.places == prompt.context.ignored.places
    assert opened.data("origin")["tensor"] == "root:0"
    opened.run("ignored --withdraw 1")
    assert opened.data("origin")["tensor"] == "attention/mask:0", "what was taken back stays so"
    assert "recording" in opened.error("ignore root --go").message
    assert "origin" in opened.links("ignore root")


def test_the_bundle_command_writes_what_is_ignored(tmp_path: Path) -> None:
    prompt = Prompt(_end())
    prompt.run("ignore")
    prompt.run(f"bundle --values '{tmp_path / 'kept'}'")
    assert [place.name for place in read_dump(tmp_path / "kept").ignored] == ["attention/mask"]


@pytest.mark.parametrize("damage", ['"by": "nobody"', '"nodes": 3', '"tensor": ":"'])
def test_a_damaged_place_is_a_note(tmp_path: Path, damage: str) -> None:
    prompt = Prompt(_end())
    prompt.run("ignore")
    write_dump(replace(_run(), ignored=prompt.context.ignored.places), tmp_path / "dump")
    (case,) = (tmp_path / "dump").rglob("case.json")
    text = case.read_text(encoding="utf-8")
    key = damage.partition(":")[0]
    start = text.index(key, text.index('"ignored"'))
    end = text.index("]" if key == '"nodes"' else ",", start) + (1 if key == '"nodes"' else 0)
    case.write_text(text[:start] + damage + text[end:], encoding="utf-8")
    run = read_dump(tmp_path / "dump")
    assert run.ignored == () and any("damaged" in note for note in run.notes)
