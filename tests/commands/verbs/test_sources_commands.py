"""`list_source` and `print_source`."""

from __future__ import annotations

from dataclasses import replace

import pytest
from support import sample_run
from support.golden import check_golden
from support.prompt import ask, follow_all, json_of, links_of, text_of
from support.saved_sources import SavedSources

from tfdbg_cli.document.text import Style
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.model.calls import RunKind
from tfdbg_cli.model.runs import Run
from tfdbg_cli.model.sources import LostTracebacks


def test_screens() -> None:
    run = sample_run.sample_run()
    check_golden("commands/ls", text_of("ls", run))
    check_golden("commands/ps", text_of("ps train.py", run))
    check_golden("commands/ps_tensors", text_of("ps -t train.py -m 2", run))


@pytest.mark.parametrize("command", ["ls", "ps train.py", "ps -t train.py -m 1"])
def test_every_link_leads_somewhere(command: str) -> None:
    assert follow_all(command, sample_run.sample_run(sources=_AllSources())) > 0


class _AllSources:
    def lines(self, path: str) -> list[str]:
        return ["x = 1"] * 200


def test_ls_filters() -> None:
    run = sample_run.sample_run()
    assert [file["path"] for file in json_of("ls -p train", run)["files"]] == ["/home/ada/train.py"]
    assert [file["nodes"] for file in json_of("ls -n ^loss/", run)["files"]] == [3, 3]
    assert "No file passes" in text_of("ls -p nowhere", run)
    with pytest.raises(TfdbgError, match="not a regular expression"):
        ask("ls -p '('", run)


def test_ls_without_tracebacks_says_why() -> None:
    run = sample_run.sample_run()
    assert "TensorFlow itself keeps none" in text_of("ls", Run(run.call, run.tensors, run.graph))


@pytest.mark.parametrize("kind", [RunKind.SESSION, RunKind.FUNCTION])
def test_tracebacks_that_are_lost_are_said_to_be(kind: RunKind) -> None:
    """A blind test: where they were damaged, the function was said to be loaded from a SavedModel."""
    run = sample_run.sample_run()
    lost = replace(run, call=replace(run.call, kind=kind), tracebacks=LostTracebacks())
    told = "o source is known: the tracebacks of this run cannot be read"
    assert f"N{told}." in text_of("ls", lost)
    assert f"n{told}." in text_of("ni -t prob", lost)
    assert f"Made at   n{told}" in text_of("origin -fenn spectrum", lost)


def test_captured_tensors_lead_to_their_values() -> None:
    links = links_of("ps -t train.py", sample_run.sample_run())
    assert links["prob:0"] == "pt prob:0"
    assert links_of("ps train.py", sample_run.sample_run())["prob"] == "ni -d -t prob"


def test_before_a_run_tensors_lead_to_their_node() -> None:
    assert links_of("ps -t train.py", sample_run.run_start())["prob:0"] == "ni -d -t prob"


def test_more_names_than_a_line_takes() -> None:
    run = sample_run.sample_run()
    assert links_of("ps train.py -m 1", run)["+2"] == "ps -b 8 -m 3 /home/ada/train.py"
    assert links_of("ps -t train.py -m 1", run)["+2"] == "ps -t -b 8 -m 3 /home/ada/train.py"
    text = text_of("ps -b 8 -m 3 /home/ada/train.py", run)
    assert "loss/Mean" in text and "+2" not in text


def test_the_line_to_begin_with_is_the_focus() -> None:
    for place in ("train.py -b 7", "train.py --init_line 7", "train.py:7"):
        document = ask(f"ps {place}", sample_run.sample_run())
        assert document.focus is not None
        assert document.lines(80)[document.focus].text.startswith("7  prob = ")
    with pytest.raises(TfdbgError, match="8 lines; -b 9 is behind its end"):
        ask("ps train.py -b 9", sample_run.sample_run())


def test_source_is_coloured() -> None:
    styles = {span.style for line in ask("ps train.py", sample_run.sample_run()).lines(80) for span in line.spans}
    assert {Style.KEYWORD, Style.STRING} <= styles


def test_files_that_are_not_at_hand() -> None:
    run = sample_run.sample_run(sources=SavedSources({}))
    with pytest.raises(TfdbgError, match=r"source of /home/ada/train.py is not at hand.*moved"):
        ask("ps train.py", run)
    with pytest.raises(TfdbgError, match=r"no source file 'tran\.py'"):
        ask("ps tran.py", run)
    with pytest.raises(TfdbgError, match="needs a file"):
        ask("ps", run)


def test_profile_flags_need_a_profile() -> None:
    for flag in ("--cost_type op_time", "--time_unit ms", "-d CPU", "-n x", "-t Mat"):
        with pytest.raises(TfdbgError, match="is about a profile"):
            ask(f"ps train.py {flag}", sample_run.sample_run())


def test_json() -> None:
    found = json_of("ps -t train.py", sample_run.sample_run())
    assert found["path"] == "/home/ada/train.py"
    assert found["lines"][4] == {"line": 5, "text": 'w = tf.get_variable("w", [3, 2])', "made": ["w:0", "w/read:0"]}
