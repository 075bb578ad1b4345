"""Commands for code that runs eagerly, at a program that stands behind an op."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest
from support.golden import check_golden
from support.paused_program import Behind, paused
from support.prompt import Prompt
from support.sample_run import opened, run_end, run_start

from tfdbg_cli.commands.asked import stopping_line
from tfdbg_cli.commands.titles import stop_title
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.formats.opening import open_path
from tfdbg_cli.model.calls import RunKind
from tfdbg_cli.model.decision import RunTo, StepOn
from tfdbg_cli.model.pausing import Pace, Place
from tfdbg_cli.model.runs import Hit, RunEnd, RunStart
from tfdbg_cli.model.sources import LiveSources


def _prompt(**arguments: Any) -> tuple[Prompt, Behind]:
    stop, behind = paused()
    return Prompt(stop, **arguments), behind


def test_where_the_program_stands_opens_the_prompt() -> None:
    prompt, _ = _prompt()
    shown = prompt.show("here")
    check_golden("commands/here", shown)
    data = prompt.data("here")
    assert (data["node"], data["line"], data["why"]) == ("loss/Log", 12, "breakpoint 1 (Log)")
    assert data["outputs"][0]["name"] == "loss/Log:0"


@pytest.mark.parametrize(
    ("command", "decision"),
    [
        ("step", StepOn(Pace.OP)),
        ("s", StepOn(Pace.OP)),
        ("over", StepOn(Pace.LINE)),
        ("n", StepOn(Pace.LINE)),
        ("finish", StepOn(Pace.OUT)),
        ("until Log", RunTo(Place("Log"))),
        ("until 40", RunTo(Place(file="/home/me/train.py", line=40))),
        ("until dense_1 when nan > 0", RunTo(Place("dense_1", condition="nan > 0"))),
    ],
)
def test_ways_to_go_on(command, decision) -> None:
    prompt, _ = _prompt()
    assert prompt.run(command) == decision


def _tensor(value) -> SimpleNamespace:
    array = np.asarray(value)
    return SimpleNamespace(dtype=array.dtype, shape=array.shape, numpy=lambda: array)


def test_a_ragged_tensor_is_told_by_its_values() -> None:
    """A blind test: it was called a string, for NumPy has its rows as objects."""
    rows = np.empty(2, np.dtype(object))
    rows[:] = [np.int64([1, 2]), np.int64([])]
    ragged = _tensor(rows)
    ragged.shape, ragged.row_splits, ragged.flat_values = (2, None), _tensor([0, 2, 2]), _tensor(np.int64([1, 2]))
    symbolic = SimpleNamespace(row_splits=None, flat_values=SimpleNamespace(), shape=(None,))
    names = {"ids": ragged, "values": ragged.flat_values, "symbolic": symbolic}
    stop, _ = paused()
    prompt = Prompt(replace(stop, run=replace(stop.run, frames=(replace(stop.run.frames[0], names=names),))))
    told = {name: found["value"] for name, found in prompt.data("locals")["locals"].items()}
    assert told["ids"] == "ragged [2,?]: int64[2] n=2 x∈[1, 2] μ=1.5 σ=0.5"
    assert told["values"] == "int64[2] n=2 x∈[1, 2] μ=1.5 σ=0.5"
    assert told["symbolic"].startswith("namespace(")


def test_breakpoints_are_set_listed_and_dropped() -> None:
    prompt, _ = _prompt()
    assert "No breakpoint" in prompt.show("break")
    prompt.show("break Log when input.min <= 0")
    shown = prompt.show("b 41")
    assert "1  Log when input.min <= 0" in shown
    assert "2  /home/me/train.py:41" in shown
    assert prompt.data("delete 1")["breakpoints"] == [{"number": 2, "place": "/home/me/train.py:41"}]
    with pytest.raises(TfdbgError, match="no breakpoint 1"):
        prompt.show("delete 1")
    assert "1 breakpoint dropped." in prompt.show("delete")
    assert "No breakpoint" in prompt.show("delete")


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("break train.py:x", "names no line"),
        ("until train.py", "names no line"),
        ("break Log when min", "compares nothing"),
        ("break Log when input.absmax", "compares nothing"),
    ],
)
def test_what_is_no_place_is_refused(command: str, said: str) -> None:
    prompt, _ = _prompt()
    assert said in prompt.error(command).message
    prompt.show("break Log when nan")  # a count says something alone


class _ThirtyLines:
    """Source files of which each has thirty lines."""

    def lines(self, path: str) -> list[str]:
        return ["pass"] * 30


def test_a_line_that_the_source_does_not_have_is_no_place() -> None:
    stop, _ = paused()
    prompt = Prompt(replace(stop, run=replace(stop.run, sources=_ThirtyLines())))
    for command in ("break train.py:{}", "until me/train.py:{}", "until {}"):
        error = prompt.error(command.format(31))
        assert str(error) == error.message + " There is no line 31." and " has 30 lines." in error.message
        prompt.run(command.format(29))
    prompt.run("break other.py:31")


def test_a_module_that_is_loaded_has_the_lines_that_it_has(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A blind test: a line behind the end of a module that has computed nothing yet was waited for."""
    for at, folder in enumerate(("one", "other")):
        file = tmp_path / folder / "nets.py"
        file.parent.mkdir()
        file.write_text("pass\n" * (at + 2))
        module = ModuleType(f"nets_{at}")
        module.__file__ = str(file)
        monkeypatch.setitem(sys.modules, module.__name__, module)
    stop, _ = paused()
    prompt = Prompt(replace(stop, run=replace(stop.run, sources=LiveSources())))
    for name, length in (("one/nets.py", 2), ("nets.py", 3)):
        assert str(prompt.error(f"break {name}:{length + 1}")).startswith(f"{name} has {length} lines.")
        prompt.show(f"break {name}:{length}")
    assert prompt.error("until one/ntes.py:1").hint.startswith("Did you mean one/nets.py:1?")


class _OneText:
    """Source files that all hold this."""

    text = "import tensorflow\n\ntry:  # twice\n    loss = log(\n        x,\n    )\nelse:\n    pass\n# end\n"

    def lines(self, path: str) -> list[str]:
        return self.text.splitlines()


@pytest.mark.parametrize(
    ("number", "held", "meant"),
    [
        (2, ".", "4"),
        (3, ": `try:  # twice`.", "4"),
        (6, ": `)`.", "4"),
        (7, ": `else:`.", "8"),
        (9, ": `# end`.", ""),
    ],
)
def test_a_line_at_which_nothing_runs_is_no_place(number: int, held: str, meant: str) -> None:
    stop, _ = paused()
    prompt = Prompt(replace(stop, run=replace(stop.run, sources=_OneText())))
    for command in ("break train.py:{}", "until train:{}", "break line {}", "until train.py {}"):
        error = prompt.error(command.format(number))
        alone = "line" in command
        file = "/home/me/train.py" if alone else "train.py"
        assert error.message == f"Nothing runs at line {number} of {file}{held}"
        way = f"{'' if alone else 'train.py:'}{meant}"
        assert error.hint == (f"Did you mean {way}?" if meant else "Nothing runs behind it, either.")
    assert prompt.error("until 7 when nan").hint == "Did you mean 8 when nan?"
    assert prompt.run("until train:5") == RunTo(Place(file="train.py", line=5))


class _OneCall(LiveSources):
    """Source files of one call each."""

    def lines(self, path: str) -> list[str]:
        return ["loss = log(", "    x,", ")"]


def test_an_argument_on_a_line_of_its_own_is_taken_for_the_call() -> None:
    stop, _ = paused()
    prompt = Prompt(replace(stop, run=replace(stop.run, sources=_OneCall())))
    assert prompt.run("until train:2") == RunTo(Place(file="train.py", line=1))
    assert prompt.data("break train:2")["breakpoints"][0]["place"] == "train.py:1"


def test_a_module_that_is_not_loaded_yet_has_the_lines_of_its_file(tmp_path: Path, monkeypatch) -> None:
    (tmp_path / "later.py").write_text("x = 1\n\ny = 2\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(stopping_line, "modules_with_files", lambda: ())  # those of other tests
    prompt, _ = _prompt()
    assert str(prompt.error("break later.py:4")) == "later.py has 3 lines. There is no line 4."
    assert str(prompt.error("until later:2")) == "Nothing runs at line 2 of later.py. Did you mean later.py:3?"
    assert prompt.run("until later:3") == RunTo(Place(file="later.py", line=3))
    assert prompt.error("until nosuch:3").message == "No file called nosuch.py is known here."


def test_a_file_with_a_slip_in_its_name_is_not_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "tran.py").touch()
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(stopping_line, "modules_with_files", lambda: ())  # those of other tests
    prompt, _ = _prompt()
    for command in ("until", "break"):
        for slip in ("trian", "Train", "me/trian"):
            error = prompt.error(f"{command} {slip}.py:3 when nan")
            assert error.message == f"No file called {slip}.py is known here."
            meant = "me/train.py:3" if "/" in slip else "train.py:3"
            only = slip.rpartition("/")[2]
            assert error.hint == f"Did you mean {meant}? `*{only}.py:3` waits for such a file all the same."
    # One that lies there, may be loaded later, has another number, or is asked for all the same.
    for name in ("tran.py", "nosuch.py", "train2.py", "her/train.py", "*trian.py"):
        assert prompt.run(f"until {name}:3") == RunTo(Place(file=name, line=3))


@pytest.mark.parametrize(("slip", "meant"), [("Lgo", "Log"), ("Matmull", "MatMul"), ("reduse", "")])
def test_a_type_of_op_with_a_slip_in_it_is_not_waited_for(slip: str, meant: str) -> None:
    prompt, _ = _prompt()
    if not meant:
        assert prompt.run(f"until {slip}") == RunTo(Place(slip)), "it is like no type, and may be a layer to come"
        return
    for command in ("until", "break"):
        with pytest.raises(TfdbgError, match=f"No type of op is called {slip}") as refused:
            prompt.run(f"{command} {slip}")
        assert refused.value.hint.startswith(f"Did you mean {meant}?")
    assert prompt.run(f"until *{slip}") == RunTo(Place(f"*{slip}"))


@pytest.mark.parametrize("stop", [run_start(), run_end()], ids=["before", "behind"])
def test_a_line_of_a_function_is_not_waited_for_in_eager_code(stop: RunStart | RunEnd) -> None:
    """A blind test: `until fn.py:9`, within a tf.function, ran the training to its end."""
    prompt = Prompt(stop)
    for command in ("until train.py:6", "break train.py:6 when nan > 0"):
        error = prompt.error(command)
        said = "What is computed at line 6 of train.py is a part of this run, and a program is paused in code that"
        assert error.message == f"{said} runs eagerly only."
        assert error.hint.endswith("; `*train.py:6` waits for one of eager code.")
    assert prompt.run("until *train.py:6") == RunTo(Place(file="*train.py", line=6))
    assert "Log is an op of this run" in prompt.error("until Log").message
    call = replace(run_start().call, kind=RunKind.EAGER)
    eager = (
        replace(stop, call=call) if isinstance(stop, RunStart) else replace(stop, run=replace(stop.run, call=call))
    )
    assert Prompt(eager).run("until train.py:6") == RunTo(Place(file="train.py", line=6))


def test_an_op_of_a_function_is_not_waited_for_in_eager_code() -> None:
    """A blind test: `until Sqrt` at a stop of a tf.function ran the program to its end."""
    prompt = Prompt(run_end())
    for command in ("until Log", "break loss", "until Log when min < 0"):
        error = prompt.error(command)
        assert "in code that runs eagerly only" in error.message and "`invoke_stepper`" in error.hint
    assert prompt.run("until *Log") == RunTo(Place("*Log"))
    assert prompt.run("until Sqrt") == RunTo(Place("Sqrt")), "eager code may come to one"


@pytest.mark.parametrize("name", ["loss", "dense_1", "encoder", "hidden", "classes", "log", "MATMUL"])
def test_names_of_layers_and_types_are_waited_for(name: str) -> None:
    assert _prompt()[0].run(f"until {name}") == RunTo(Place(name))


def test_the_program_is_given_another_value() -> None:
    prompt, behind = _prompt()
    shown = prompt.show("set loss/Log 0")
    assert "is given it when it goes on" in shown
    assert not behind.values["loss/Log:0"].any()
    assert prompt.data("here")["outputs"][0]["summary"]["zero"] == behind.values["loss/Log:0"].size
    prompt.show("set loss/Log:0[0] 5")
    assert behind.values["loss/Log:0"][0].tolist() == np.full_like(behind.values["loss/Log:0"][0], 5).tolist()
    assert "holds it now" in prompt.show("set w[1] 4")
    assert behind.values["w:0"].tolist() == [1.0, 4.0]
    with pytest.raises(TfdbgError, match="shapes differ"):
        prompt.show("set w np.zeros(3)")
    with pytest.raises(TfdbgError, match="already"):
        prompt.show("set prob 0")


def test_a_value_that_the_program_is_to_be_given_is_listed_and_taken_back() -> None:
    prompt, behind = _prompt()
    before = behind.values["loss/Log:0"].copy()
    assert "No tensor is replaced" in prompt.show("set") and "No tensor is replaced" in prompt.show("unset")
    for take_back in ("unset", "unset Log", "set -d loss/Log:0"):
        prompt.show("set loss/Log 0")
        assert "When it goes on the program is given" in prompt.show("set")
        (told,) = prompt.data("set")["tensors"]
        assert (told["name"], told["summary"]["zero"]) == ("loss/Log:0", before.size)
        assert "No tensor is replaced" in prompt.show(take_back)
        assert np.array_equal(behind.values["loss/Log:0"], before, equal_nan=True)
    with pytest.raises(TfdbgError, match="is not replaced"):
        prompt.show("unset loss/Log")


def test_a_variable_that_was_written_is_listed_and_holds_again_what_it_held() -> None:
    """A blind test: `unset w` said that the optimizer may have removed w, which had just been set."""
    prompt, behind = _prompt()
    for take_back in ("unset", "unset w", "set -d w:0"):
        prompt.show("set w [3, 4]")
        prompt.show("set w[0] 5")
        assert "Variables that hold another value" in prompt.show("set")
        assert [(one["name"], one["summary"]["max"]) for one in prompt.data("set")["tensors"]] == [("w:0", 5)]
        prompt.show("set loss/Log 0")
        assert [one["name"] for one in prompt.data("set")["tensors"]] == ["loss/Log:0", "w:0"]
        prompt.show("unset loss/Log")
        assert "No tensor is replaced" in prompt.show(take_back)
        assert behind.values["w:0"].tolist() == [1.0, 1.0]
    assert prompt.error("unset w").message == "w:0 is not replaced."


def test_what_it_was_is_what_the_op_gave_however_often_it_is_set() -> None:
    prompt, _ = _prompt()
    for name in ("loss/Log", "w"):
        (was,) = (row for row in prompt.show(f"set {name} 7").splitlines() if row.startswith("  was  "))
        assert was in prompt.show(f"set {name} 8").splitlines()
        assert was in prompt.show("set").splitlines()


def test_a_part_is_taken_back_and_the_rest_stays() -> None:
    """A blind test: `unset X[0]` gave the program all of X as it was."""
    prompt, behind = _prompt()
    before = behind.values["loss/Log:0"].copy()
    prompt.show("set loss/Log 5")
    assert "When it goes on" in prompt.show("unset Log[0]")
    assert np.array_equal(behind.values["loss/Log:0"][0], before[0], equal_nan=True)
    assert (behind.values["loss/Log:0"][1:] == 5).all()
    prompt.show("set w [3, 4]")
    prompt.show("unset w[1]")
    assert behind.values["w:0"].tolist() == [3.0, 1.0]
    prompt.show("unset w[0]")
    assert [one["name"] for one in prompt.data("set")["tensors"]] == ["loss/Log:0"]
    assert "No tensor is replaced" in prompt.show("unset Log[1:]")


def test_a_result_is_set_by_the_name_that_the_program_has_for_it() -> None:
    stop, behind = paused()
    call = replace(stop.run.call, fetches=("prob:0", "loss/Log:0"), result_names=("out[0]", "out[1]"))
    prompt = Prompt(replace(stop, run=replace(stop.run, call=call)))
    for target in ("out[1]", "/CPU:0:out[1]"):
        assert prompt.data(f"set {target}[0] 5")["name"] == "loss/Log:0"
        assert behind.values["loss/Log:0"][0].max() == 5
        prompt.show("unset out[1]")
        assert not behind.pending
    assert prompt.error("set out[0] 5").message == "The program holds prob:0 already."


def test_a_variable_that_this_run_has_not_come_to_is_written_by_its_name_in_python() -> None:
    stop, _ = paused()
    made = type("ResourceVariable", (), {"__module__": "tensorflow.python", "assign": None, "name": "count:0"})
    held = type("Model", (), {})()
    held.steps = type("Variable", (), {"__module__": "keras.src", "assign": None, "name": "s", "path": "m/s"})()
    frame = replace(stop.run.frames[0], names={"n": made(), "model": held})
    prompt = Prompt(replace(stop, run=replace(stop.run, frames=(frame,))))
    for command, way in (
        ("set count 100", "`py n.assign(100)` writes the variable of the program."),
        ("set n `w` + 1", "`py n.assign(…)` writes the variable of the program."),
        ("set m/s[0] 1", "`py model.steps.assign(…)` writes the variable of the program."),
        ("set other 1", "`py NAME.assign(VALUE)` writes any other variable of the program, by its name in Python."),
    ):
        assert prompt.error(command).hint == way


def test_what_is_no_tensor_is_not_said_to_have_been_given_already() -> None:
    """A blind test: `set nosuch 1` said that the program has it already, or has not come to it."""
    prompt, _ = _prompt()
    assert prompt.error("set nosuch 1").message == "This run has no tensor nosuch:0, and no variable nosuch."
    assert prompt.error("set prob 1").message == "The program holds prob:0 already."


@pytest.mark.parametrize(
    ("command", "way_out"),
    [
        ("step 3", "`step` goes one op on; `until PLACE`"),
        ("s into", "`step` goes one op on; `until PLACE`"),
        ("n 2", "`over` goes one line on; `until PLACE`"),
        ("next 2", "`over` goes on to its next line"),
        ("finish 3", "`finish` leaves one layer or call; `until PLACE`"),
        ("cont 5", "`run -t 5` stops at the end of a later run"),
        ("cont x", "`run -t N` stops at the end of a later run"),
        ("r 5", "The number stands behind -t: r -t 5"),
        ("bt 3", "`locals 3` goes to one of them"),
        ("delete Log", "`delete N` drops one"),
        ("delete 1 2", "`delete 2`"),
        ("shell echo hi", "type there: echo hi"),
        ("step --wrong", "See `help step`."),
    ],
)
def test_a_word_too_many_is_answered_by_what_to_type(command: str, way_out: str) -> None:
    assert way_out in _prompt()[0].error(command).hint


def test_elsewhere_steps_are_refused_with_what_leads_to_them() -> None:
    with pytest.raises(TfdbgError, match="middle of a run"):
        Prompt(run_end()).run("finish")
    for command in ("here", "step", "break Log"):
        with pytest.raises(TfdbgError, match="needs a running program"):
            Prompt(opened()).run(command)
    assert "tfdbg replay" in Prompt(opened()).error("step").hint


@pytest.mark.parametrize("command", ["s", "invoke_stepper"])
def test_steps_of_a_run_that_was_sent_are_refused_without_a_way_that_there_is_not(command: str) -> None:
    """A blind test: it sent users to `invoke_stepper` at the start of a run, where no prompt opens."""
    refused = Prompt(replace(run_end(), sent=True)).error(command)
    assert str(refused).startswith("Steps need the program itself")
    assert "invoke_stepper" not in refused.hint


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("break Log", "Breakpoints need the program itself"),
        ("break", "Breakpoints need the program itself"),
        ("delete", "Breakpoints need the program itself"),
        ("set prob:0 0", "To compute with other values takes the program itself"),
        ("undo", "To put variables back takes the program itself"),
        ("bundle case", "A bundle needs the program itself"),
    ],
)
def test_what_needs_the_program_is_refused_at_a_run_that_was_sent(command: str, words: str) -> None:
    """A blind test: breakpoints were set, and ways were named that hold a state that nobody sends."""
    end = run_end()
    sent = replace(end, sent=True, run=replace(end.run, what_if=None, replayable=None))
    refused = Prompt(sent).error(command)
    assert refused.message.startswith(words)
    assert refused.hint.endswith("`tfdbg attach` goes to one that tfdbg runs elsewhere.")
    assert "hold" not in refused.hint
    if command.startswith("bundle"):
        assert "`bundle --values PATH`" in refused.hint


def test_what_makes_a_run_again_says_why_it_cannot_here() -> None:
    prompt, _ = _prompt()
    with pytest.raises(TfdbgError, match="not for the middle of a run") as refused:
        prompt.run("invoke_stepper")
    assert "step" in refused.value.hint
    end = run_end()
    eager = replace(end, run=replace(end.run, call=replace(end.run.call, kind=RunKind.EAGER)))
    for command, words in (("undo", "is not undone"), ("bundle case", "cannot be made again")):
        with pytest.raises(TfdbgError, match=words):
            Prompt(eager).run(command)


def test_a_watch_that_stops_in_the_middle_of_a_run_says_so() -> None:
    stop, behind = paused()
    behind.why = ""
    prompt = Prompt(replace(stop, hit=Hit("bad_result", "", 3)))
    title = stop_title(prompt.context).text
    assert title.startswith("in run #3: ") and title.endswith(" at loss/Log: passed bad_result after 3 runs")
    assert "In the middle of run #3" in prompt.show("ri")


def test_behind_a_turn_of_eager_code_it_is_said_whose_calls_are_on_show() -> None:
    """A blind test: `py step` gave the number of the next turn, and `set` named no way out."""
    stop, _ = paused()
    assert "is over" not in Prompt(stop).show("locals") + Prompt(stop).show("frames") + Prompt(stop).show("py step")
    call = replace(stop.run.call, kind=RunKind.EAGER, function="turn 1 of Train.py:13", loop="Train.py:13")
    run = replace(stop.run, call=call, frames=(), paused=None, unfinished=False, what_if=None)
    prompt = Prompt(replace(stop, run=run, frames=stop.run.frames))
    said = "Turn 1 of Train.py:13 is over: this is what the program does next."
    for command in ("locals", "frames", "py step"):
        assert said in prompt.show(command)
    error = prompt.error("py unknown")
    assert (error.message, error.hint) == ("NameError: name 'unknown' is not defined.", said)
    error = prompt.error("set loss/Log 0")
    assert error.message.endswith("its ops ran eagerly, one by one, and it is over.")
    assert "`step` or `break PLACE` stops in the middle of the next one" in error.hint


@pytest.mark.parametrize("command", ["pt loss/Log", "ev np.abs(`loss/Log:0`)", "ev [`loss/Log`, 'x']", "origin"])
def test_what_the_op_gave_is_told_from_what_the_program_is_given(command: str) -> None:
    """A blind test: after `set`, pt, ev and origin showed the old value, and `here` the new one."""
    prompt = Prompt(paused()[0])
    said = "This is what the op gave. By `set` the program is given another loss/Log:0: "
    assert said not in prompt.show(command)
    prompt.run("set loss/Log 5")
    assert f"{said}float32" in prompt.show(command)
    assert said not in prompt.show("pt prob")
    prompt.run("unset")
    assert said not in prompt.show(command)


def test_what_shows_or_keeps_the_run_says_that_the_program_is_given_another_value(tmp_path: Path) -> None:
    """A blind test: after `set` these were silent, and `again` said that the run is over."""
    prompt = Prompt(paused()[0])
    said = "By `set` the program is given another loss/Log:0: float32"
    commands = ["lt --stats", "lt -q 'size>1e6'", "preview pt loss/Log", "export {}.npy loss/Log", "export {}.npz"]
    commands += ["save {}"]
    for number, command in enumerate(commands):
        assert said not in prompt.show(command.format(tmp_path / f"before{number}"))
    prompt.run("set loss/Log 5")
    for number, command in enumerate(commands):
        assert said in prompt.show(command.format(tmp_path / f"behind{number}")).replace("\n", " "), command
    assert said in prompt.data(f"export {tmp_path / 'third.npz'}")["notes"][-1]
    assert "This run holds what the op gave. By `set`" in Prompt(open_path(tmp_path / "behind5")).show("ri")
    stop = prompt.context.stop
    assert isinstance(stop, RunEnd)
    error = Prompt(replace(stop, run=replace(stop.run, what_if=None))).error("again")
    assert "the program stands in its middle" in error.message and "is over" not in str(error)
