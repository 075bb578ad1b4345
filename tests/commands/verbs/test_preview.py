"""`preview`: a tensor, a node, a feed, a source line, the batch of an origin, at a glance."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from support import sample_run
from support.golden import check_golden
from support.made_run import NAN, made_run, op
from support.prompt import Prompt
from support.sample_step import step_run

from tfdbg_cli.document.figure import DrawingWay, Figure
from tfdbg_cli.document.table import Table
from tfdbg_cli.model.calls import Call, CallArgument, RunKind
from tfdbg_cli.model.runs import RunEnd
from tfdbg_cli.model.sources import Frame


@pytest.fixture
def prompt() -> Prompt:
    return Prompt(sample_run.run_end())


def test_a_screen(prompt: Prompt) -> None:
    check_golden("commands/preview", prompt.show("preview loss/Log:0"))


def test_a_name_alone_and_what_shows_it_have_one_preview(prompt: Prompt) -> None:
    screens = {
        prompt.show(f"preview {what}") for what in ("loss/Log", "pt loss/Log:0", "ni loss/Log", "'pt loss/Log:0 -s'")
    }
    assert len(screens) == 1


def test_json_tells_the_tensor_and_what_is_around_it(prompt: Prompt) -> None:
    data = prompt.data("preview loss/Log:0")
    assert data["kind"] == "preview"
    assert data["previewed"] == data["tensor"]["name"] == "loss/Log:0"
    assert data["tensor"]["summary"]["neg_inf"] == 2
    assert data["made_at"]["line"] == 8
    assert [one["name"] for one in data["inputs"]] == ["prob:0"]
    assert [one["name"] for one in data["outputs"]] == ["loss/mul:0", "half/Cast:0"]


def test_of_several_executions_the_last_or_the_one_asked_for(prompt: Prompt) -> None:
    assert prompt.data("preview pt step/while/Add:0")["tensor"]["execution"] == 2
    assert prompt.data("preview pt step/while/Add:0 -n 1")["tensor"]["execution"] == 1


def test_links_lead_to_the_neighbours(prompt: Prompt) -> None:
    assert {"pt prob:0", "pt loss/mul:0", "pt half/Cast:0", "pt loss/Log:0"} <= set(
        prompt.links("preview loss/Log:0")
    )


def test_what_was_not_captured_is_shown_with_its_node() -> None:
    before = Prompt(sample_run.run_start())
    shown = before.show("preview ni loss/Log")
    assert "Nothing of it was captured." in shown
    assert "?" in shown, "the health of what did not run is not known"
    assert before.data("preview ni loss/Log")["inputs"] == []
    assert "has not happened yet" in before.error("preview pt loss/Log").message


def test_of_a_part_it_is_the_part_and_the_whole_around_it(prompt: Prompt) -> None:
    """A blind test: beside a row of a tensor stood the figures of the whole."""
    shown = prompt.show("preview 'pt loss/Log:0[2]'")
    part, whole = shown.split("loss/Log:0\n")
    assert part.startswith("loss/Log:0[2]\nfloat32") and "Made at" in whole
    assert prompt.data("preview 'pt loss/Log:0[2]'")["slice"] == "[2]"
    assert "does not fit" in prompt.error("preview 'pt loss/Log:0[99]'").message
    feed = prompt.data("preview 'pf x:0[2]'")
    assert (feed["previewed"], feed["shape"]) == ("x:0[2]", [3])
    prompt.context.later = True
    figures = [one for one in prompt.document("preview 'pt loss/Log:0[2]'").blocks if isinstance(one, Figure)]
    for figure in figures:
        figure.value.read()
    whole_value = prompt.context.run.tensors.value(prompt.context.run.tensors.named("loss/Log", 0)[0])
    assert figures and all(np.array_equal(one.value.known, whole_value[2], equal_nan=True) for one in figures)


def test_a_row_of_the_batch(prompt: Prompt) -> None:
    data = prompt.data("preview row")
    assert (data["previewed"], data["bad"], data["size"]) == ("row 2", True, 4)
    assert prompt.data("preview 'row 1'")["bad"] is False
    assert "There is no row 9" in prompt.error("preview 'row 9'").message
    assert prompt.link("preview row", "x:0[2]") == "pf 'x:0[2]'"


def test_a_feed_and_a_source_line(prompt: Prompt) -> None:
    assert "float32[4,3]" in prompt.show("preview pf x:0")
    shown = prompt.show("preview 'ps train.py -b 5'")
    assert "▸ 5  w = tf.get_variable" in shown


def test_an_input_that_no_tensor_shows_has_the_health_of_what_was_fed() -> None:
    run = made_run(
        *(op(name, "Placeholder") for name in "xyz"),
        op("sum", "AddN", "x", "y", "z", value=[1.0]),
        feeds={"x:0": np.array([1.0, NAN, 3.0]), "y": np.full([80, 80], NAN), "z:0": None},
    )
    prompt = Prompt(run)
    x, y, z = prompt.show("preview pt sum:0").split("\n")[-5:-2]
    assert x.split() == ["1", "3", "█", "█", "Placeholder", "x:0"]
    assert y.split() == ["6,400", "Placeholder", "y:0"], "a count has its comma where there is room"
    assert z.split() == ["?", "?", "Placeholder", "z:0"], "nobody kept it"
    assert {"pf x:0", "pf y"} <= set(prompt.links("preview pt sum:0"))
    assert "given as x:0" in prompt.show("preview ni x") and "float64[3]" in prompt.show("preview ni x")


def test_on_a_screen_what_was_fed_is_counted_later() -> None:
    run = made_run(op("x", "Placeholder"), op("neg", "Neg", "x", value=[1.0]), feeds={"x:0": np.array([NAN, 2.0])})
    prompt = Prompt(run)
    prompt.context.later = True
    table = [block for block in prompt.document("preview pt neg:0").blocks if isinstance(block, Table)][1]
    assert table.later is not None and table.later.missing(0)
    assert [span.text for span in table.row(0)][:2] == ["…", "…"]
    list(table.later.count(0))
    assert not table.later.missing(0)
    assert [span.text for span in table.row(0)][:3] == ["1", "", "2"]


def test_a_layer_has_its_first_tensors_with_their_health() -> None:
    prompt = Prompt(RunEnd(step_run()))
    shown, data = prompt.show("preview lt -l loss"), prompt.data("preview lt -l loss")
    assert "1 tensor" in shown and "loss/Log" in shown
    assert (data["previewed"], data["count"]) == ("loss", 1)
    assert [one["summary"]["nan"] for one in data["tensors"]] == [1]
    listed = [one["name"] for one in prompt.data("lt -l head")["tensors"]]
    assert [one["name"] for one in prompt.data("preview lt -l head")["tensors"]] == listed
    prompt.show("layers")  # what it counted is the same
    assert [one["name"] for one in prompt.data("preview lt -l model/head")["tensors"]] == listed
    assert "no preview" in prompt.error("preview lt -l head --role upd").message


def test_a_large_layer_shows_its_first_tensors_and_leads_to_the_others() -> None:
    made = made_run(*(op(f"dense/part_{i:02}/Mul", "Mul", value=float(i)) for i in range(30)))
    prompt = Prompt(RunEnd(made))
    data = prompt.data("preview lt -l dense")
    assert data["count"] == 30
    assert [one["name"] for one in data["tensors"]] == [f"dense/part_{i:02}/Mul:0" for i in range(16)]
    assert prompt.link("preview lt -l dense", "14 more") == "lt -l dense"


def test_rows_of_the_batch_that_are_not_listed_are_not_forgotten() -> None:
    x = np.ones((16, 2), np.float32)
    prompt = Prompt(made_run(op("x", "Placeholder", value=x), op("y", "Sqrt", "x", value=x * NAN), feeds={"x:0": x}))
    prompt.run("origin")
    assert "and 14 rows more: 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, …" in prompt.show("preview origin")


def test_the_batch_of_the_origin(prompt: Prompt) -> None:
    assert "`origin` looks for the first one." in prompt.error("preview origin").hint
    prompt.show("origin")
    shown = prompt.show("preview origin")
    assert "1 row of the batch of 4" in shown
    assert "x:0[2]" in shown
    assert "[0. 0. 0.]" in shown
    assert prompt.data("preview origin")["rows"] == [2]
    assert prompt.link("preview origin", "1 row of the batch of 4") == "row 2", "all components together"
    assert prompt.link("preview origin", "x:0[2]") == "pf 'x:0[2]'"
    assert "x:0[2]" in prompt.show(prompt.link("preview origin", "x:0[2]")), "the link shows the row"


def test_the_same_arrays_are_shown_as_row_shows() -> None:
    """What a pipeline gave is the batch, not what was fed beside it, however many rows that has."""
    x = np.ones((4, 2), np.float32)
    prompt = Prompt(
        made_run(
            op("next", "IteratorGetNext", value=x),
            op("order", "Placeholder", value=np.arange(4)),
            op("y", "Sqrt", "next", value=x * NAN),
            feeds={"order:0": np.arange(4)},
        )
    )
    prompt.run("origin")
    for shown in (prompt.show("preview origin"), prompt.show("row")):
        assert "next:0[0]" in shown and "order" not in shown


def test_handles_and_lost_values_say_so(prompt: Prompt) -> None:
    assert "holds no numbers" in prompt.show("preview table")
    assert "before it was initialized" in prompt.show("preview cold")


def test_what_has_no_preview_says_what_has_one(prompt: Prompt) -> None:
    error = prompt.error("preview lt")
    assert "`list_tensors` has no preview" in error.message
    assert "`pt`" in error.hint and "`lt -l LAYER`" in error.hint


def test_a_screen_is_given_drawings_and_values_that_come_later(prompt: Prompt) -> None:
    prompt.context.later = True
    figures = [block for block in prompt.document("preview big:0").blocks if isinstance(block, Figure)]
    assert [figure.way for figure in figures] == [DrawingWay.HISTOGRAM, DrawingWay.PICTURE]
    assert all(figure.value.known is None for figure in figures), "nothing was read yet"
    small = [block.way for block in prompt.document("preview prob:0").blocks if isinstance(block, Figure)]
    assert small == [DrawingWay.HISTOGRAM, DrawingWay.CELLS]
    assert [b.way for b in prompt.document("preview names:0").blocks if isinstance(b, Figure)] == [DrawingWay.CELLS]
    assert "…" in prompt.show("preview prob:0")


def test_what_a_function_captures_is_read_where_its_line_is() -> None:
    """As `origin` says it of the same tensor: it was made somewhere before."""
    call = Call(1, RunKind.FUNCTION, (), arguments=(CallArgument("mask", "float32", (2,), captured=True),))
    run = made_run(op("mask", "Placeholder", value=np.zeros(2)), op("log", "Log", "mask", value=np.zeros(2)))
    lines = {name: (Frame("train.py", 3, "step", ""),) for name in ("mask", "log")}
    prompt = Prompt(RunEnd(replace(run, call=call, tracebacks=lines)))
    assert "Read at train.py:3" in prompt.show("preview mask:0")
    assert "Made at train.py:3" in prompt.show("preview log:0")
