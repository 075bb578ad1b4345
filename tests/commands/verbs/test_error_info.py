"""`error_info`: the error screen."""

from __future__ import annotations

from dataclasses import replace

import pytest
from support import sample_run
from support.golden import check_golden
from support.made_run import made_run, op
from support.prompt import Prompt, ask, follow_all, json_of, links_of, text_of

from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.model.calls import RunError
from tfdbg_cli.model.runs import Opened, Run, RunEnd


def _failed(message: str, node: str | None = "dense/MatMul", note: str = "") -> RunEnd:
    return RunEnd(sample_run.sample_run(error=RunError("InvalidArgumentError", message, node, note)))


def test_screen() -> None:
    check_golden("commands/error_info", text_of("ei", sample_run.run_failed()))


def test_defect_error_screen_is_the_full_manual() -> None:
    """TensorFlow's tfdbg: behind the error stand 300 lines of help."""
    assert len(text_of("ei", sample_run.run_failed()).split("\n")) <= 20


def test_a_long_message_is_wrapped_and_cut_and_holds_no_terminal_codes() -> None:
    text = text_of("ei", _failed("bad\x1b[2J shape " * 20 + "\n" + "\n".join(f"line {i}" for i in range(99))))
    assert "\x1b" not in text and "\\x1b[2J" in text
    assert "… 60 lines more of it: `--json` has them all" in text and max(map(len, text.split("\n"))) <= 80


def test_the_failing_node_and_its_inputs_are_linked() -> None:
    links = links_of("ei", sample_run.run_failed())
    assert links["dense/MatMul"] == "ni -d -t dense/MatMul"
    assert links["x:0"] == "pt x:0"
    assert "li -r dense/MatMul" in links and links["/home/ada/train.py:6"] == "ps /home/ada/train.py -b 6"
    assert follow_all("ei", sample_run.run_failed()) > 5


def test_short_arrays_are_shown_in_full() -> None:
    run = made_run(op("shape", "Const", value=[2.0, 3.5]), op("x", "Const"), op("r", "Reshape", "x", "shape"))
    text = text_of("ei", Run(run.call, run.tensors, run.graph, error=RunError("E", "m", "r")))
    assert "float32[2] [2, 3.5]" in text and "a constant, not captured" in text


def test_why_inputs_are_missing() -> None:
    assert "because of a" in text_of("ei", _failed("m", note="The inputs were not kept, because of a reason."))


def test_nodes_that_nobody_knows() -> None:
    assert "TensorFlow does not say which op" in text_of("ei", _failed("m", None))
    assert "not in the graphs at hand" in text_of("ei", _failed("m", "{{node x}}"))
    assert json_of("ei", _failed("m", "gone"))["op_type"] is None


def test_json() -> None:
    found = json_of("ei", sample_run.run_failed())
    assert (found["kind"], found["type"], found["node"]) == ("error", "InvalidArgumentError", "dense/MatMul")
    assert (found["file"], found["line"]) == ("/home/ada/train.py", 6)
    assert [(item["name"], item["shape"]) for item in found["inputs"]] == [("x:0", [4, 3]), ("w/read:0", [3, 2])]


def test_only_a_program_that_waits_gets_the_error_on_leaving() -> None:
    """A blind test: of a recording it was said that the program gets the error on leaving."""
    end = sample_run.run_failed()
    assert "On leaving, the program gets this error" in text_of("ei", end)
    recorded = text_of("ei", Opened("/data/dump", [end.run]))
    assert "On leaving" not in recorded and "The program got this error as without tfdbg." in recorded
    assert "On leaving" not in text_of("ei", replace(end, sent=True))
    kept = Prompt(replace(end, earlier=[sample_run.run_failed().run]))
    kept.run("older")
    assert "On leaving" not in kept.show("ei")
    kept.context.look_at_made(sample_run.run_failed().run)
    assert "the program never sees it" in kept.show("ei")


def test_a_run_without_error() -> None:
    with pytest.raises(TfdbgError, match="ended without an error"):
        ask("ei", sample_run.sample_run())


def test_of_a_stack_in_the_message_the_calls_of_the_program_are_shown() -> None:
    """An error in a generator of the input pipeline is nowhere else: its program may catch it."""
    library = "/env/lib/python3.11/site-packages/tensorflow/python/ops/script_ops.py"
    calls = "\n".join(f'\n  File "{library}", line {n}, in __call__\n    ret = func()\n' for n in range(30))
    stack = f'{calls}\n  File "/home/ada/train.py", line 6, in feed\n    yield rows["lr"]\n'
    message = f"KeyError: 'lr'\nTraceback (most recent call last):\n{stack}\nKeyError: 'lr'\n"
    text = text_of("ei", _failed(message, None))
    assert "… 30 calls in installed packages" in text and library not in text
    assert 'File "/home/ada/train.py", line 6, in feed' in text and 'yield rows["lr"]' in text


def test_what_led_to_the_error_is_told() -> None:
    error = RunError("RuntimeError", "config is broken", causes=("KeyError: 'lr' at train.py:5 in load", "OSError"))
    shown = RunEnd(sample_run.sample_run(error=error))
    text = text_of("ei", shown)
    assert "From      KeyError: 'lr' at train.py:5 in load" in text and "\n          OSError" in text
    assert json_of("ei", shown)["causes"] == list(error.causes)
