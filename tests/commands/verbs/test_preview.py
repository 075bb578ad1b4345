"""`preview`: a tensor, a node, a feed, a source line, the batch of an origin, at a glance."""

from __future__ import annotations

import pytest
from support import sample_run
from support.golden import check_golden
from support.prompt import Prompt

from tfdbg_cli.document.figure import Figure, Way


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


def test_a_feed_and_a_source_line(prompt: Prompt) -> None:
    assert "float32[4,3]" in prompt.show("preview pf x:0")
    shown = prompt.show("preview 'ps train.py -b 5'")
    assert "▸ 5  w = tf.get_variable" in shown


def test_the_batch_of_the_origin(prompt: Prompt) -> None:
    assert "Ask `origin` first." in prompt.error("preview origin").hint
    prompt.show("origin")
    shown = prompt.show("preview origin")
    assert "1 row of the batch of 4" in shown
    assert "x:0[2]" in shown
    assert "[0. 0. 0.]" in shown
    assert prompt.data("preview origin")["rows"] == [2]
    assert prompt.link("preview origin", "x:0[2]") == "pf 'x:0[2]'"
    assert "x:0[2]" in prompt.show(prompt.link("preview origin", "x:0[2]")), "the link shows the row"


def test_handles_and_lost_values_say_so(prompt: Prompt) -> None:
    assert "holds no numbers" in prompt.show("preview table")
    assert "before it was initialized" in prompt.show("preview cold")


def test_what_has_no_preview_says_what_has_one(prompt: Prompt) -> None:
    error = prompt.error("preview lt")
    assert "`list_tensors` has no preview" in error.message
    assert "`pt`" in error.hint


def test_a_screen_is_given_drawings_and_values_that_come_later(prompt: Prompt) -> None:
    prompt.context.later = True
    figures = [block for block in prompt.document("preview big:0").blocks if isinstance(block, Figure)]
    assert [figure.way for figure in figures] == [Way.HISTOGRAM, Way.PICTURE]
    assert all(figure.value.known is None for figure in figures), "nothing was read yet"
    small = [block.way for block in prompt.document("preview prob:0").blocks if isinstance(block, Figure)]
    assert small == [Way.HISTOGRAM, Way.CELLS]
    assert [b.way for b in prompt.document("preview names:0").blocks if isinstance(b, Figure)] == [Way.CELLS]
    assert "·" in prompt.show("preview prob:0")
