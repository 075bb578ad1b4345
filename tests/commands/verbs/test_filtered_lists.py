"""`lp -q` and `ls -q`: the language of the other lists, and `f` on the screen."""

from __future__ import annotations

from support import sample_run
from support.prompt import Prompt
from support.screen import Driven

from tfdbg_cli.commands.standard import standard_registry
from tfdbg_cli.model.profile import NodeTime, Profile
from tfdbg_cli.model.runs import RunEnd

CPU = "/job:localhost/replica:0/task:0/device:CPU:0"


def _end() -> RunEnd:
    times = (
        NodeTime("dense/MatMul", "MatMul", CPU, 1.0, 5.0, 6.0),
        NodeTime("loss/Log", "Log", CPU, 7.0, 2.0, 3.0),
        NodeTime("loss/mul", "Mul", CPU, 9.0, 1.0, 2.0),
    )
    return RunEnd(sample_run.sample_run(profile=Profile(times)))


def _nodes(command: str) -> list[str]:
    found = Prompt(_end()).data(command)
    return [one["node"] for device in found["devices"] for one in device["executions"]]


def test_times_are_asked_by_node_op_type_and_device() -> None:
    assert _nodes("lp -q loss") == ["loss/Log", "loss/mul"]
    assert _nodes("lp -q 'op=MatMul'") == ["dense/MatMul"]
    assert _nodes("lp -q '!loss device=CPU:0'") == ["dense/MatMul"]
    assert "filter loss: 2 of 3 rows" in Prompt(_end()).show("lp -q loss")
    assert "an execution has no nan" in Prompt(_end()).error("lp -q 'nan>0'").message


def test_files_are_asked_by_path_and_by_their_tensors() -> None:
    found = Prompt(sample_run.run_end()).data("ls -q train")
    assert [file["path"] for file in found["files"]] == ["/home/ada/train.py"]
    assert Prompt(sample_run.run_end()).data("ls -q 'tensors>9999'")["files"] == []
    assert "show all" in Prompt(sample_run.run_end()).show("ls -q train")


def test_the_key_filters_as_one_types() -> None:
    registry = standard_registry()
    screen = Driven(_end(), "floss", opening="lp", registry=registry)
    assert screen.state.page.document.title == "profile[loss]: 2 of 3"
    kept = Driven(sample_run.run_end(), "ftrain<enter>", opening="ls", registry=registry)
    assert [page.command for page in kept.state.pages.all] == ["ls", "ls -q train"]
