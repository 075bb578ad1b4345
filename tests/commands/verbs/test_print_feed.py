"""`pf`: whatever a program feeds."""

from __future__ import annotations

from collections import namedtuple
from pathlib import Path

import numpy as np
import pytest
from support import sample_run
from support.golden import check_golden
from support.prompt import Prompt

from tfdbg_cli.model.calls import Call, CallArgument, RunKind
from tfdbg_cli.model.runs import RunEnd

Sparse = namedtuple("Sparse", ["indices", "values", "dense_shape"])
FEEDS = {
    "x:0": sample_run.X,
    "y:0": sample_run.Y.tolist(),
    "rate:0": 0.5,
    "words:0": ["cat", "dog"],
    "raw:0": b"bytes",
    "sparse:0": Sparse([[0, 1], [2, 3]], np.array([1.5, np.nan], np.float32), (4, 5)),
    "ragged:0": [[1], [2, 3]],
    "thing:0": {"a": "\x1b[2J"},
    "lost:0": None,
}


@pytest.fixture
def prompt() -> Prompt:
    call = Call(1, RunKind.SESSION, ("loss:0",), FEEDS)
    return Prompt(RunEnd(sample_run.sample_run(call=call)))


@pytest.mark.parametrize(
    ("name", "command"), [("pf", "pf x:0 -s -r [0,2]"), ("pf_sparse", "pf sparse"), ("pf_list", "pf y")]
)
def test_screens(prompt: Prompt, name: str, command: str) -> None:
    check_golden(f"commands/{name}", prompt.show(command))


def test_before_the_run_too() -> None:
    assert "[7. 8. 9.]" in Prompt(sample_run.run_start()).show("pf x:0")


def test_lists_and_scalars_are_arrays(prompt: Prompt) -> None:
    """TensorFlow's tfdbg: list feeds unformatted."""
    data = prompt.data("pf y:0")
    assert data["kind"] == "feed" and data["shape"] == [4, 2] and data["summary"]["size"] == 8
    assert prompt.data("pf rate")["value"] == 0.5
    assert prompt.data("pf words")["value"] == ["cat", "dog"] and prompt.data("pf words")["dtype"] == "string"
    assert prompt.data("pf 'y:0[0, -1]'")["value"] == 0
    assert "bytes" in prompt.show("pf raw")


def test_write(prompt: Prompt, tmp_path: Path) -> None:
    """TensorFlow's tfdbg: `pf -w` ignored."""
    assert "Saved value to" in prompt.show(f"pf y -w {tmp_path}/y.npy", 300)
    assert np.load(tmp_path / "y.npy").tolist() == FEEDS["y:0"]
    for feed, file in (("y", "j.npy"), ("sparse", "j.npz")):
        assert prompt.data(f"pf {feed} -w {tmp_path}/{file}")["written"] == f"{tmp_path}/{file}"
    assert "Saved value to" in prompt.show(f"pf sparse -w {tmp_path}/s.npz", 300)
    with np.load(tmp_path / "s.npz") as saved:
        assert saved["dense_shape"].tolist() == [4, 5] and saved["indices"].tolist() == [[0, 1], [2, 3]]
    for feed in ("ragged", "thing", "lost"):
        assert prompt.error(f"pf {feed} -w {tmp_path}/z.npy").message


def test_sparse(prompt: Prompt) -> None:
    data = prompt.data("pf sparse:0")
    assert (data["sparse"], data["shape"], data["indices"]) == (True, [4, 5], [[0, 1], [2, 3]])
    assert data["value"] == [1.5, "nan"]
    assert "cannot be sliced" in prompt.error("pf sparse[0]").message


def test_what_is_no_array_is_shown_as_it_is(prompt: Prompt) -> None:
    assert "[[1], [2, 3]]" in prompt.show("pf ragged")
    assert "\x1b" not in prompt.show("pf thing") and "dict, not an array" in prompt.show("pf thing")
    assert prompt.data("pf ragged")["value"] == "[[1], [2, 3]]"


def test_recordings_that_keep_names_only(prompt: Prompt) -> None:
    assert "keeps the names of the feeds, not their values" in prompt.show("pf lost")
    assert prompt.data("pf lost")["value"] is None


def test_mistakes(prompt: Prompt) -> None:
    assert "no feed 'nothing'" in prompt.error("pf nothing").message
    assert "words:0" in prompt.error("pf word").hint
    assert "one value" in prompt.error("pf x -n 3").message
    fed_nothing = RunEnd(sample_run.sample_run(call=Call(1, RunKind.SESSION, ())))
    assert "fed nothing" in Prompt(fed_nothing).error("pf x").message


def test_a_handle_that_a_recording_names_is_said_to_be_one() -> None:
    """It was told as a value that the recording had left out."""
    arguments = (CallArgument("iterator", "resource", ()), CallArgument("x", "float32", (3,)))
    call = Call(1, RunKind.FUNCTION, (), {"iterator": None, "x": None}, function="step", arguments=arguments)
    prompt = Prompt(RunEnd(sample_run.sample_run(call=call)))
    assert "This is a handle" in prompt.show("pf iterator")
    assert "keeps the names of the feeds" in prompt.show("pf x")
