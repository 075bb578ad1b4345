"""The stepper and a run that was computed again, on the screen."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from support import sample_run
from support.sample_stepper import SampleSteppable
from support.screen import Driven

from tfdbg_cli.commands.standard import standard_registry
from tfdbg_cli.model.decision import DebugRun
from tfdbg_cli.model.names import TensorName
from tfdbg_cli.model.runs import Change, RunEnd


def _driven(keys: str) -> Driven:
    event = replace(sample_run.run_start(), steppable=SampleSteppable())
    return Driven(event, keys, opening="run_info", registry=standard_registry())


def test_the_title_says_where_the_stepper_is_and_a_key_steps() -> None:
    screen = _driven(":invoke_stepper<enter>")
    assert screen.rows[0].startswith(" stepper: 0 / 10, next x")
    assert ". step" in screen.rows[-1]
    screen = _driven(":s<enter>....")
    assert screen.rows[0].startswith(" stepper: 4 / 10, next dense/MatMul")
    assert any("-->" in row and "(4 / 10)" in row for row in screen.rows)


def test_leaving_the_stepper_leads_back_to_the_stop() -> None:
    screen = _driven(":s<enter>.q")
    assert screen.rows[0].startswith(" run-start: run #3")
    assert screen.decision is None
    assert "leave the stepper" in _driven(":s<enter>?").text
    assert _driven(":s<enter>.qr").decision == DebugRun()
    # An old screen of the stepper can still be looked at.
    assert "known already" in "".join(_driven(":s<enter>..q<ctrl n><ctrl n>").rows)


def test_links_of_an_old_page_mean_nothing_else_once_the_stepper_was_left() -> None:
    """`cont` is `continue` by then, `step` goes through eager code, and `exit` asks how to leave the program."""
    old = _driven(":s<enter>.q<ctrl n><ctrl n><enter>")
    assert old.decision is None
    assert "`cont` is for the stepper." in " ".join(old.text.split())
    old = _driven(":s<enter>q<ctrl n>/step  cont<enter><enter>")
    assert (old.state.page.command, old.decision) == ("s", None)
    assert "`step` is for the stepper." in " ".join(old.text.split())
    old = _driven(":s<enter>q<ctrl n>/exit<enter><enter>")
    assert old.state.dialog is None
    assert "`leave_stepper` is for the stepper." in " ".join(old.text.split())


def test_leaving_leads_to_the_page_from_which_the_stepper_was_begun() -> None:
    """A blind test: it led to a list of all tensors, under the name of `exit`."""
    screen = _driven(":help<enter>:s<enter>..q")
    assert screen.state.page.command == "help" and screen.state.pages.at == 1
    first = replace(sample_run.run_start(), steppable=SampleSteppable())
    opened = Driven(first, ".q", opening="invoke_stepper", registry=standard_registry())
    assert opened.state.page.command == "run_info", "where there was none before it"


def test_the_cursor_stands_on_the_next_node_and_the_list_fills_the_screen() -> None:
    """A blind test: it stood on the first row of five, and Enter computed what was behind one."""
    screen = _driven(":s<enter>...")
    view = screen.state.page.view
    assert " ".join(view.line(view.selected).text.split()).startswith("--> (3 / 10)")
    assert "(0 / 10)" in screen.text and "(9 / 10)" in screen.text
    assert _driven(":s<enter>...<enter>").rows[0].startswith(" stepper: 4 / 10")


def test_a_count_makes_as_many_steps_and_all_are_one_page() -> None:
    """A blind test: `5.` made one step, and each was a page."""
    screen = _driven(":s<enter>5..")
    assert screen.rows[0].startswith(" stepper: 6 / 10")
    assert [page.command for page in screen.state.pages.all] == ["run_info", "s", "step"]


def test_keys_of_the_stop_do_nothing_within() -> None:
    screen = _driven(":s<enter>r")
    assert screen.decision is None
    assert "r does nothing in the stepper. Once q has left it: run on" in " ".join(screen.text.split())


def test_the_title_says_what_was_replaced() -> None:
    end = sample_run.run_end()
    changed = replace(end.run, change=Change(end.run, {TensorName("prob", 0): np.float32(0)}, 3))
    assert "what if: prob:0 replaced" in Driven(RunEnd(changed), size=(100, 24)).rows[0]
