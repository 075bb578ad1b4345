"""`traces`: which functions were traced how often, and why."""

from __future__ import annotations

from dataclasses import replace

from support.golden import check_golden
from support.prompt import Prompt, json_of, links_of, text_of
from support.sample_run import run_end
from support.traced_functions import FILE, Seen, number, tensor, traced_stop

from tfdbg_cli.model.runs import Opened, RunStart
from tfdbg_cli.model.traces import ArgumentSpec, SpecKind, Trace, TracedCode

_KINDS = (
    ("n", number),
    ("mode", lambda at: ArgumentSpec(SpecKind.MEMBER, f"Mode.{at}")),
    ("name", lambda at: ArgumentSpec(SpecKind.CONSTANT, f"'{at}'")),
    ("model", lambda at: ArgumentSpec(SpecKind.OBJECT, "<Model at …>", at)),
)


def test_screens() -> None:
    check_golden("commands/traces", text_of("traces", traced_stop()))
    check_golden("commands/traces_name", text_of("traces step", traced_stop()))


def test_nothing_is_wider_than_the_screen() -> None:
    shown = [text_of("traces", traced_stop()), text_of("traces step", traced_stop())]
    assert all(len(row) <= 80 for text in shown for row in text.splitlines())


def test_json_has_every_trace() -> None:
    found = json_of("traces", traced_stop())
    assert found["kind"] == "traces"
    assert [one["name"] for one in found["functions"]] == ["step", "predict", "scale", "early"]
    assert (found["traces"], found["retraces"], found["seconds"]) == (22, 17, 2.375)
    step = found["functions"][0]
    assert len(step["traces"]) == 13
    assert step["traces"][0] == {
        "signature": "batch: {'image': float32[8, 28, 28, 1], 'label': float32[8]}, i: 0",
        "count": 1,
        "seconds": 0.125,
        "cause": None,
        "differences": [],
        "file": FILE,
        "line": 31,
    }
    assert step["traces"][1]["cause"] == {"argument": "i", "old": "0", "new": "1"}
    last = step["traces"][-1]
    assert last["cause"] == {
        "argument": "batch['image']",
        "old": "float32[8, 28, 28, 1]",
        "new": "float32[5, 28, 28, 1]",
    }
    assert [one["argument"] for one in last["differences"]] == ["batch['image']", "batch['label']", "i"]
    assert step["advice"][0]["argument"] == "i"
    assert found["functions"][2]["left_out"] == 3
    unseen = found["functions"][3]["traces"][0]
    assert (unseen["seconds"], unseen["file"], unseen["line"]) == (None, None, None)


def test_one_function() -> None:
    assert [one["name"] for one in json_of("traces scale", traced_stop())["functions"]] == ["scale"]
    error = Prompt(traced_stop()).error("traces stpe")
    assert "No tf.function 'stpe' was traced" in str(error)
    assert "step" in error.hint


def test_advice_is_cut_in_words_and_that_about_the_rest_of_the_data_stays() -> None:
    made = [
        Trace((("batch", tensor(3 if at == 9 else 8, 2)), *((name, kind(at)) for name, kind in _KINDS)), 1)
        for at in range(10)
    ]
    stop = replace(run_end(), traces=Seen((TracedCode("step", tuple(made)),)))
    shown = " ".join(text_of("traces", stop).split())
    assert shown.count(" advice ") == 4 and "drop_remainder" in shown
    assert "1 more piece of advice: traces step" in shown
    assert "more piece" not in text_of("traces step", stop)


def test_a_query_leaves_traces() -> None:
    found = json_of("traces -q 'seconds>0.2 step'", traced_stop())
    assert [[one["seconds"] for one in function["traces"]] for function in found["functions"]] == [[0.25]]
    assert (found["query"], found["traces"]) == ("seconds>0.2 step", 22)
    assert len(json_of("traces -q calls>1", traced_stop())["functions"]) == 2
    assert json_of("traces -q 'name=scale'", traced_stop())["functions"][0]["name"] == "scale"
    assert "1 of 19 rows" in text_of("traces -q seconds>0.4", traced_stop())


def test_a_query_that_leaves_nothing_says_of_how_many() -> None:
    shown = text_of("traces -q calls>1000", traced_stop()).splitlines()
    assert shown[0] == "4 functions, 22 traces, 17 retraces, 2.38 s of tracing"
    assert "0 of 19 rows" in shown[1]


def test_rows_lead_to_the_function_and_to_the_line() -> None:
    links = links_of("traces", traced_stop())
    assert links["step"] == "traces step"
    assert links["train.py:31"] == f"ps {FILE} -b 31"


def test_before_a_run_too() -> None:
    stop = RunStart(run_end().run.call, traces=traced_stop().traces)
    assert len(json_of("traces", stop)["functions"]) == 4


def test_where_nothing_was_traced() -> None:
    nothing = "No tf.function was traced while tfdbg saw the calls."
    assert text_of("traces", run_end()).strip() == nothing
    assert text_of("traces", replace(run_end(), traces=Seen(()))).strip() == nothing
    assert json_of("traces", run_end())["functions"] == []


def test_a_recording_says_that_it_has_none() -> None:
    error = Prompt(Opened("case", [run_end().run])).error("traces")
    assert "A recording does not keep" in str(error)
    assert "tfdbg run" in error.hint


def test_a_name_is_no_terminal_code() -> None:
    stop = traced_stop()
    code = replace(stop.traces.functions()[0], name="a\x1b[31mb")
    assert "\x1b" not in text_of("traces", replace(stop, traces=Seen((code,))))
