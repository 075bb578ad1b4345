"""`origin`: its screen and its JSON."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pytest
from support import sample_run, sample_step
from support.golden import check_golden
from support.made_run import CPU, INF, NAN, made_run, op
from support.prompt import Prompt, ask, follow_all, json_of, links_of, text_of

from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.model.calls import RunKind
from tfdbg_cli.model.frames import LiveFrame
from tfdbg_cli.model.names import TensorName
from tfdbg_cli.model.replay import InputRole, ReplayInput, ReplaySpec
from tfdbg_cli.model.runs import Run
from tfdbg_cli.model.sources import Frame
from tfdbg_cli.model.tensors import MemoryTensorStore, describe
from tfdbg_cli.model.values import Array, Lack, NoValue, Value

FENN = "-fenn spectrum"


def test_screens() -> None:
    run = sample_run.sample_run()
    check_golden("commands/origin", text_of(f"origin {FENN}", run))
    check_golden("commands/origin_nan", text_of(f"origin --nan {FENN}", run))
    check_golden("commands/origin_all", text_of("origin --all", run))


def test_all_origins_hold_what_the_run_was_given() -> None:
    run = made_run(op("w", "Placeholder"), op("y", "Neg", "w", value=[NAN]), feeds={"w": np.array([NAN, 1.0])})
    assert json_of("origin --all", run)["tensors"] == ["w:0"] == [json_of("origin", run)["tensor"]]
    shown = text_of("origin --all", run)
    assert "1 tensor not finite although all inputs are" in shown
    assert "Placeholder  float64[2] n=2 x=1 NaN×1  w:0" in shown
    follow_all("origin --all", run)


def test_elements_and_rows_stand_before_the_way_to_them() -> None:
    rows = text_of("origin", sample_run.sample_run()).split("\n")
    labels = [row.split("  ")[0] for row in rows if row[:1].strip()]
    assert labels[:8] == ["Origin", "Cause", "Try", "Made at", "Elements", "Batch", "Chain", "From"]


def test_the_screen_is_complete_at_80x24() -> None:
    rows = text_of(f"origin {FENN}", sample_run.sample_run()).split("\n")
    assert len(rows) <= 20 and max(map(len, rows)) <= 80


def test_json_has_the_fixed_names() -> None:
    found = json_of(f"origin {FENN}", sample_run.sample_run())
    assert found["kind"] == "origin"
    assert (found["tensor"], found["op_type"], found["device"]) == ("loss/Log:0", "Log", sample_run.CPU0)
    assert (found["file"], found["line"]) == ("/home/ada/train.py", 8)
    assert found["inputs"] == ["prob:0"] and found["batch_rows"] == [2]
    assert found["elements"][0] == {"index": [2, 0], "value": "-inf", "inputs": [0.0]}
    assert found["cause"].startswith("Log of 0") and "softplus" in found["suggestion"]


def test_json_is_null_when_all_is_finite() -> None:
    found = json_of("origin", made_run(op("x", "Const", value=[1.0])))
    assert found["kind"] == "origin"
    for name in ("tensor", "op_type", "device", "file", "line", "cause", "suggestion"):
        assert found[name] is None
    assert (found["inputs"], found["elements"], found["batch_rows"]) == ([], [], [])


def test_the_program_stands_behind_an_op_with_two_outputs() -> None:
    """A batch of an iterator is several outputs of one op: nothing ran after it."""
    run = made_run(op("batch", "IteratorGetNext", value=[NAN]))
    labels = np.zeros(1, np.float32)
    beside = describe(TensorName("batch", 1), labels, device=CPU, op_type="IteratorGetNext", dtype="float32")
    both = MemoryTensorStore([run.tensors[0], beside], [run.tensors.value(0), labels])
    standing = replace(
        run,
        tensors=both,
        frames=(LiveFrame(Frame("train.py", 5, "fit", "for x, y in data:"), {}, {}),),
        unfinished=True,
    )
    assert "After     nothing yet: the program stands right behind this op: frames" in text_of("origin", standing)


def test_all_finite_says_so() -> None:
    text = text_of("origin", made_run(op("x", "Const", value=[1.0]), feeds={"f:0": 1.0}))
    assert "No NaN or infinity in this run." in text and "1 tensor and 1 feed" in text
    assert "`run` captures the next one" in text_of("origin", made_run(op("x", "Const")))


def test_a_run_without_its_values_is_not_called_fine() -> None:
    lacks = "The values are missing: they would take about 72.8 MiB."
    run = replace(made_run(op("x", "Const", value=[1.0])), lacks=lacks)
    text = text_of("origin", run)
    assert "Where it began cannot be told" in text
    assert lacks in text
    assert "No NaN" not in text
    assert json_of("origin", run)["missing"] == lacks
    # What there is tells more than what is missing.
    assert "Origin    x:0" in text_of("origin", replace(made_run(op("x", "Const", value=[NAN])), lacks=lacks))


@pytest.mark.parametrize("command", ["origin", f"origin {FENN}", "origin --all", f"origin --nan {FENN}"])
def test_every_link_leads_somewhere(command: str) -> None:
    assert follow_all(command, sample_run.sample_run()) > 1


def test_everything_is_linked() -> None:
    links = links_of(f"origin {FENN}", sample_run.sample_run())
    assert links["loss/Log:0"] == "pt loss/Log:0"
    assert links["Log"] == "ni -d -t loss/Log"
    assert links["/home/ada/train.py:8"] == "ps /home/ada/train.py -b 8"
    assert links["prob:0"] == "pt prob:0"
    assert links["x:0"] == "pf x:0"
    assert links["lt -f has_inf_or_nan"] == "lt -f has_inf_or_nan -fenn spectrum"


def test_slices_are_shown_by_what_they_hold() -> None:
    a, b = np.full((2, 600), 1e20, np.float32), np.full((600, 2), 1e20, np.float32)
    with np.errstate(over="ignore"):
        run = made_run(
            op("a", "Const", value=a), op("b", "Const", value=b), op("mm", "MatMul", "a", "b", value=a @ b)
        )
    assert "[0,:] n=600 all x=1e+20" in text_of("origin", run, width=120)
    (first, *_) = json_of("origin", run)["elements"]
    assert first["inputs"][0] == {"size": 600, "min": pytest.approx(1e20), "max": pytest.approx(1e20), "nonfinite": 0}


def test_an_element_next_to_a_whole_number_is_not_shown_as_that() -> None:
    """A blind test: arcus cosine outside of [-1, 1], of 1."""
    cosine = np.array([0.5, 1.0000001, 1.0], np.float32)
    run = made_run(op("c", "Placeholder", value=cosine), op("y", "Acos", "c", value=np.array([1.0, NAN, 0.0])))
    row = next(row for row in text_of("origin", run).split("\n") if "[1]" in row)
    assert row.split() == ["[1]", "nan", "1.0000001"]


def test_short_slices_are_lists() -> None:
    run = made_run(op("a", "Const", value=[3e38, 3e38]), op("s", "Sum", "a", value=INF))
    assert json_of("origin", run)["elements"][0]["inputs"] == [[pytest.approx(3e38), pytest.approx(3e38)]]


def test_more_elements_on_demand() -> None:
    run = made_run(op("x", "Const", value=np.zeros(20)), op("log", "Log", "x", value=np.full(20, -INF)))
    assert links_of("origin", run)["… 17 more"] == "origin -m 10"
    text = text_of("origin -m 10", run)
    assert "[9]" in text and "[10]" not in text
    assert links_of("origin -m 10", run)["… 10 more"] == "origin -m 100"
    text = text_of("origin -m 100", run)
    assert "[19]" in text and "more" not in text
    told = json_of("origin -m 15", run)
    assert [element["index"] for element in told["elements"]] == [[i] for i in range(15)]
    assert told["elements"][-1]["inputs"] == [0.0]
    assert told["bad"] == 20 and len(json_of("origin", run)["elements"]) == 10
    with pytest.raises(TfdbgError, match="at most 10,000"):
        ask("origin -m 10001", run)


def test_scripts_find_the_same_fields_whether_anything_is_bad_or_not() -> None:
    bad = made_run(op("x", "Const", value=np.zeros(2)), op("log", "Log", "x", value=np.full(2, -INF)))
    fine = made_run(op("x", "Const", value=np.ones(2)), op("log", "Log", "x", value=np.zeros(2)))
    told = json_of("origin", fine)
    assert told.keys() == json_of("origin", bad).keys()
    assert (told["tensor"], told["bad"], told["elements"], told["batch"]) == (None, None, [], None)


def test_bfloat16_and_complex_values() -> None:
    import ml_dtypes

    bad = np.array([1, NAN], ml_dtypes.bfloat16)
    assert json_of("origin", made_run(op("a", "Foo", value=bad)))["elements"][0]["value"] == "nan"
    bad = np.array([complex(NAN, 1)], np.complex64)
    assert json_of("origin", made_run(op("a", "Foo", value=bad)))["elements"][0]["value"] == ["nan", 1.0]


def test_without_tracebacks_and_without_sources() -> None:
    run = sample_run.sample_run()
    assert "no tracebacks are known" in text_of(f"origin {FENN}", Run(run.call, run.tensors, run.graph))
    bare = Run(run.call, run.tensors, run.graph, tracebacks=run.tracebacks)
    assert "loss = tf.reduce_mean(y * tf.log(prob))" in text_of(f"origin {FENN}", bare)


def test_the_python_printoptions_stay() -> None:
    """TensorFlow's tfdbg: global NumPy printoptions leak."""
    before = np.get_printoptions()
    text_of("origin", sample_run.sample_run())
    assert np.get_printoptions() == before


def test_before_a_run_and_with_a_bad_regex() -> None:
    with pytest.raises(TfdbgError, match="has not happened yet"):
        ask("origin", sample_run.run_start())
    with pytest.raises(TfdbgError, match="not a regular expression"):
        ask("origin -fenn '('", sample_run.sample_run())


def test_a_node_of_a_loop_body_is_placed_where_the_loop_was_made() -> None:
    run = made_run(op("step/body/_1/mul", "Mul", value=[INF]))
    stack = (Frame("/home/ada/train.py", 5, "<module>"),)
    run = Run(run.call, run.tensors, run.graph, tracebacks={"step": stack})
    assert "train.py:5 in <module>, with step around it" in text_of("origin", run)
    assert json_of("origin", run)["line"] == 5
    assert "train.py:5 in <module>, with step around it" in text_of("ni step/body/_1/mul", run)


def test_the_turn_of_a_loop() -> None:
    whole = sample_step.step_run()
    run = replace(whole, call=replace(whole.call, fetches=()))
    check_golden("commands/origin_loop", text_of("origin", run))
    data = json_of("origin", run)
    assert data["tensor"] == f"{sample_step.BODY}/cell/total:0" and data["execution"] == 1
    assert f"Turn      2 of the loop {sample_step.LOOP}" in text_of("origin", run, width=200)
    assert links_of("origin", run)["all turns"] == f"pt {sample_step.BODY}/cell/total:0 -n all"


def test_an_origin_of_which_something_comes_is_told_before_one_that_touches_nothing() -> None:
    """What the loop holds is replaced before the loss, which is bad by itself."""
    run = sample_step.step_run()
    data = json_of("origin", run)
    assert data["tensor"] == "one_step_on_data/loss/Log:0"
    assert data["harmless"] is False and data["harmless_before"] == 1
    assert "1 tensor before it is not finite too, and touches nothing: origin --all" in text_of("origin", run)


def test_that_nothing_comes_of_it_is_told() -> None:
    nodes = [
        op("x", "Placeholder", value=[1.0, 0.0]),
        op("log", "Log", "x", value=[0.0, -INF]),
        op("mask", "Greater", "x", value=[True, False]),
        op("chosen", "SelectV2", "mask", "log", "x", value=[0.0, 0.0]),
        op("spare", "Log", "x", value=[0.0, -INF]),
        op("unread", "Exp", "spare", value=[1.0, INF]),
    ]
    run = made_run(*nodes)
    fetched = replace(run, call=replace(run.call, fetches=("chosen:0",)))
    assert "no result and no variable is touched" in text_of("origin", fetched)
    assert json_of("origin", fetched)["harmless"] is True
    touched = replace(run, call=replace(run.call, fetches=("chosen:0", "unread:0")))
    assert "is touched" not in text_of("origin", touched)
    assert json_of("origin", touched)["tensor"] == "spare:0"
    unknown = replace(run, call=replace(run.call, fetches=("chosen:0", "elsewhere:0")))
    assert "is touched" not in text_of("origin", unknown), "nobody knows what elsewhere:0 holds"


def test_that_a_result_is_finite_though_it_depends_on_an_infinity() -> None:
    nodes = (
        op("x", "Placeholder", value=[1.0, 0.0]),
        op("log", "Log", "x", value=[0.0, -INF]),
        op("y", "Tanh", "log", value=[0.0, -1.0]),
    )
    run = made_run(*nodes)
    fetched = replace(run, call=replace(run.call, fetches=("y:0",)))
    assert "no result and no variable is NaN or infinite by it." in text_of("origin", fetched)
    assert json_of("origin", fetched)["harmless"] is True


def test_the_execution_outside_of_loops() -> None:
    assert json_of("origin", sample_run.sample_run())["execution"] == 0
    assert "Turn" not in text_of("origin", sample_run.sample_run())
    fine = made_run(op("a", "Relu", value=1.0))
    assert json_of("origin", fine)["execution"] is None


def test_what_is_lost_is_not_called_fine() -> None:
    """A recording whose files are gone looked healthy."""
    run = made_run(
        op("a", "Identity", value=[1.0]), op("b", "Relu", "a", value=[1.0]), op("c", "Log", "b", value=[INF])
    )
    lost = [NoValue(Lack.DAMAGED, "The file is gone."), run.tensors.value(1), run.tensors.value(2)]
    damaged = replace(run, tensors=MemoryTensorStore([run.tensors[i] for i in range(3)], lost))
    assert "1 tensor before it could not be read" in text_of("origin", damaged)
    assert json_of("origin", damaged)["unread"] == json_of("origin --all", damaged)["unread"] == 1
    assert ", in order of execution: 1 tensor could not be read, and may be." in text_of("origin --all", damaged)
    behind = MemoryTensorStore([run.tensors[i] for i in (2, 0)], [lost[2], lost[0]])
    assert "could not be read" not in text_of("origin", replace(damaged, tensors=behind)), "it ran later"
    rest = replace(damaged, tensors=MemoryTensorStore([run.tensors[i] for i in range(2)], lost[:2]))
    assert "No NaN or infinity in what could be read of this run.\nLooked at 1 tensor" in text_of("origin", rest)
    whole = replace(run.tensors[1], dtype="int32")
    gone = replace(damaged, tensors=MemoryTensorStore([run.tensors[0], whole], [lost[0], np.ones(2, "i4")]))
    assert "Looked at nothing of it." in text_of("origin", gone), "a number that is whole cannot be bad"
    assert "could not be read" not in text_of("origin", sample_run.sample_run())


@dataclass(frozen=True)
class _Held:
    """What is held of a run: the variable `weights` as it was before."""

    value: Array

    def replay_spec(self) -> ReplaySpec:
        weights = ReplayInput("weights", InputRole.VARIABLE, "float32", self.value, node="weights")
        return ReplaySpec(RunKind.SESSION, b"", "", inputs=(weights,))

    def undo(self) -> tuple[str, ...]:
        raise AssertionError("nobody asked for that")


@pytest.mark.parametrize(("reader", "link"), [("ReadVariableOp", "pt read:0"), ("ResourceGather", "pt weights:0")])
def test_a_variable_that_was_bad_before_the_run_leads_to_what_was_read_of_it(reader: str, link: str) -> None:
    bad = np.array([NAN, 1.0], np.float32)
    run = made_run(
        op("weights", "VarHandleOp", value=NoValue(Lack.OPAQUE, "A handle.")),
        op("read", reader, "weights", value=bad),
        feeds={"images:0": [1.0]},
    )
    run = replace(run, replayable=_Held(bad))
    assert links_of("origin", run)["weights:0"] == link
    assert follow_all("origin", run) > 1


def test_what_was_fed_by_the_name_of_its_node_is_shown_by_that() -> None:
    run = made_run(op("x", "Placeholder"), op("neg", "Neg", "x", value=[NAN]), feeds={"x": [NAN]})
    assert links_of("origin", run)["x:0"] == "pf x"
    assert follow_all("origin", run) > 1


class _CountingStore(MemoryTensorStore):
    """A store that counts how often a value was asked for."""

    asked = 0

    def value(self, index: int) -> Value:
        self.asked += 1
        return super().value(index)


def _counted(run: Run) -> tuple[Prompt, _CountingStore]:
    store = _CountingStore(list(run.tensors), [run.tensors.value(index) for index in range(len(run.tensors))])
    return Prompt(replace(run, tensors=store)), store


def _wrong() -> Run:
    spoiled = [op(f"neg{number}", "Neg", "log", value=[INF]) for number in range(20)]
    return made_run(op("x", "Const", value=[0.0]), op("log", "Log", "x", value=[-INF]), *spoiled)


def test_an_origin_is_looked_for_once() -> None:
    prompt, store = _counted(_wrong())
    first = prompt.show("origin")
    read = store.asked
    assert prompt.show("origin") == first
    assert store.asked - read < 20 < read, "what is on show, and no search"


def test_that_all_is_fine_is_found_out_once() -> None:
    prompt, store = _counted(made_run(op("x", "Const", value=[1.0]), op("y", "Neg", "x", value=[-1.0])))
    first = prompt.show("origin")
    read = store.asked
    assert prompt.show("origin") == first
    assert store.asked == read > 0


def test_another_question_is_answered_anew() -> None:
    prompt, _ = _counted(_wrong())
    first = prompt.show("origin")
    assert prompt.show("origin --nan") != first
    prompt.run("ignore log")
    assert prompt.data("origin")["tensor"] is None, "what is ignored was not when it was looked for"
    prompt.run("ignored --withdraw 1")
    assert prompt.show("origin") == first


@pytest.mark.parametrize("most", [0, -3])
def test_no_element_cannot_be_shown(most: int) -> None:
    with pytest.raises(TfdbgError, match=f"-m {most} shows no element"):
        text_of(f"origin -m {most}", sample_run.sample_run())
