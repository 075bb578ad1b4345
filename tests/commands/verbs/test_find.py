"""`find`: the line form of Ctrl-P, with the same ranking."""

from __future__ import annotations

from dataclasses import replace

from support import sample_run
from support.golden import check_golden
from support.prompt import Prompt, follow_all, json_of, text_of

from tfdbg_cli.model.runs import Opened


def test_the_answers() -> None:
    prompt = Prompt(sample_run.run_end(), width=100)
    check_golden(
        "commands/find", "\n\n".join(prompt.show(f"find {text}", 100) for text in ("mm", "loss m", "lt -m 3", "zzq"))
    )


def test_of_a_long_name_the_end_stays_in_sight() -> None:
    """A blind test: a page of files was cut at the right, so that all rows were alike."""
    for width in (26, 40):
        prompt = Prompt(sample_run.run_end(), width=width)
        prompt.context.width = width
        rows = [row for row in prompt.show("find train.py", width).split("\n") if row.startswith("file")]
        assert rows and all(row.endswith("train.py") and len(row) <= width for row in rows), rows


def test_json() -> None:
    found = json_of("find log", sample_run.run_end())
    assert (found["kind"], found["text"], found["total"]) == ("found", "log", 2)
    assert found["hits"][0] == {
        "kind": "tensor", "name": "loss/Log:0", "command": "pt loss/Log:0", "places": [5, 6, 7], "op_type": "Log",
        "health": {"nan": 0, "inf": 2},
    }  # fmt: skip
    assert [hit["kind"] for hit in found["hits"]] == ["tensor", "file"], "an op with a tensor is not listed beside it"


def test_a_tensor_is_found_by_its_whole_name() -> None:
    """A blind test: every screen says loss/Log:0, and by that nothing was found."""
    by_node, by_tensor = (json_of(f"find {text}", sample_run.run_end())["hits"] for text in ("Log", "Log:0"))
    assert [hit["name"] for hit in by_tensor] == [hit["name"] for hit in by_node if hit["kind"] == "tensor"]
    assert by_tensor[0]["name"] == "loss/Log:0"


def test_every_kind_is_found_and_leads_somewhere() -> None:
    run = sample_run.run_end()
    kinds = {
        hit["kind"] for text in ("run", "dense", "py", "lt") for hit in json_of(f"find {text} -m 99", run)["hits"]
    }
    assert kinds == {"command", "run", "layer", "file", "tensor", "op"}
    assert follow_all("find loss/M", run) == 2


def test_before_a_run_and_in_a_recording() -> None:
    assert {hit["kind"] for hit in json_of("find log", sample_run.run_start())["hits"]} == {"op", "file"}
    opened = Opened("/there", (sample_run.sample_run(), sample_run.sample_run()))
    hits = json_of("find run 2", opened)["hits"]
    assert hits[0]["name"] == "run 2" and hits[0]["command"] == "runs 2"


def test_results_are_found_by_the_programs_names() -> None:
    """A blind test: the name stood in the list of runs, and `find` had twenty others with its letters."""
    end = sample_run.run_end()
    call = replace(
        end.run.call, fetches=("loss/Log:0", "prob:0", "y:0"), result_names=("out['a b']", "twice", "twice")
    )
    stop = replace(end, run=replace(end.run, call=call))
    hit = json_of("find a b", stop)["hits"][0]
    assert (hit["kind"], hit["name"], hit["op_type"], hit["health"]["inf"]) == ("result", "out['a b']", "Log", 2)
    assert "Tensor loss/Log:0" in Prompt(stop).show(hit["command"])
    assert not json_of("find twice", stop)["hits"], "what means two tensors leads nowhere"


def test_mistakes() -> None:
    prompt = Prompt(sample_run.run_end())
    assert "too few" in prompt.error("find log -m 0").message
    assert prompt.error("find").message
    assert "0 of" in text_of("find zzq", sample_run.run_end())
