"""The array viewer by keys: how one gets in and out of it, and what each key does."""

from __future__ import annotations

from collections import namedtuple
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from support import sample_run
from support.made_run import made_run, op
from support.screen import Driven

from tfdbg_cli.commands.standard import standard_registry
from tfdbg_cli.config.settings import Settings
from tfdbg_cli.model.runs import Opened, RunEnd
from tfdbg_cli.model.values import Lack, NoValue
from tfdbg_cli.tui.array.viewer import ViewMode
from tfdbg_cli.tui.keys.array_keys import ARRAY_BINDINGS

Sparse = namedtuple("Sparse", ["indices", "values", "dense_shape"])


def _sick() -> np.ndarray:
    array = np.arange(4 * 20 * 6 * 3, dtype=np.float32).reshape(4, 20, 6, 3)
    array[3, 17, 4, 0] = np.nan
    return array


def _run(**values: Any) -> RunEnd:
    return RunEnd(made_run(*(op(name, "Placeholder", value=value) for name, value in values.items())))


def _drive(keys: Any = "", event: Any = None, opening: str = "lt", **options: Any) -> Driven:
    return Driven(event or _run(x=_sick()), keys, opening=opening, registry=standard_registry(), **options)


@pytest.mark.parametrize("cols", [40, 60, 80, 100])
def test_the_last_row_ends_with_help_and_the_way_back_at_every_width(cols: int) -> None:
    """A blind test: at 80 columns it ended amid the pictures, and nobody saw how to get out."""
    screen = Driven(
        sample_run.run_end(), ":pt loss/Log:0<enter>", size=(cols, 24), opening="lt", registry=standard_registry()
    )
    assert screen.state.viewer is not None
    assert screen.rows[-1].rstrip().endswith("? keys  Esc back"), screen.rows[-1]


def test_a_nan_in_four_dimensions_is_reached_in_three_keys_from_its_row() -> None:
    screen = _drive("<enter>]n")
    assert screen.state.viewer.here == (3, 17, 4, 0)
    assert screen.rows[2].startswith(" x:0 [3, 17, :, :]  axis 1 17/20")
    assert "[3, 17, 4, 0]  nan" in screen.status
    col, row = screen.screen.canvases[-1].cursor
    assert screen.rows[row][col:].startswith("nan")


def test_the_value_of_an_origin_begins_at_the_element_that_went_wrong() -> None:
    hit = sample_run.run_hit()
    assert _drive("<enter>", event=hit, opening="origin").state.viewer.here == (2, 0)
    assert _drive("", event=hit, opening="pt loss/Log:0").state.viewer.here == (0, 0), "nobody asked for the origin"
    other = _drive(":pt dense/MatMul:0<enter>", event=hit, opening="origin")
    assert other.state.viewer.here == (0, 0)


def test_a_key_begins_to_set_the_element_or_the_chosen_tensor() -> None:
    assert _drive("<enter>]n=").state.prompt.editor.text == "set x:0[3,17,4,0] "
    assert _drive("=").state.prompt.editor.text == "set x:0 "
    scalar = _drive(["v", "="], event=_run(x=np.float32(1)), opening="pt x")
    assert scalar.state.prompt.editor.text == "set x:0 "
    row = _drive("Vjjjv=", event=sample_run.run_end())
    assert row.state.prompt.editor.text.startswith("set ")


def test_a_value_of_two_axes_opens_in_the_viewer() -> None:
    screen = _drive(opening="pt x")
    assert screen.state.viewer.here == (0, 0, 0, 0)
    assert screen.rows[3].startswith(" n=1,440 x∈[0, 1439]"), "what is known of the whole array stands below the head"
    assert _drive("<enter>", opening="lt").state.viewer is not None
    assert _drive(":pt x<enter>").state.viewer is not None
    assert _drive(":pf x<enter>", event=sample_run.run_end()).state.viewer is not None
    assert _drive("<enter><esc>").state.page.command == "lt"
    small = _drive(opening="pt x", size=(40, 10))
    assert not any("x∈" in row for row in small.rows), "where there is little room, it is for the elements"


@pytest.mark.parametrize("flag", ["-a", "-s", "-r [0,1]", "--precision 3", "--threshold 0", "--suppress"])
def test_what_is_asked_of_the_text_is_shown_as_text(flag: str) -> None:
    assert _drive(opening=f"pt {flag} x").state.viewer is None


def test_what_has_one_axis_several_executions_or_no_elements_opens_as_text() -> None:
    assert _drive(opening="pt x", event=_run(x=np.arange(9.0))).state.viewer is None
    assert _drive(opening="pt x", event=_run(x=np.zeros((0, 3)))).state.viewer is None
    assert _drive(opening="pt step/while/Add:0 -n 1", event=sample_run.run_end()).state.viewer is None
    assert _drive(opening="pt x", settings=Settings(values="text")).state.viewer is None


def test_each_part_of_a_page_with_several_arrays_is_looked_at() -> None:
    event = _run(x=np.zeros(3))
    sparse = Sparse(np.array([[0, 1], [2, 0]]), np.array([1.0, 2.0]), np.array([3, 2]))
    event = replace(event, run=replace(event.run, call=replace(event.run.call, feeds={"s:0": sparse})))
    assert _drive(opening="pf s:0", event=event).state.viewer is None, "which of them is for the person to say"
    screen = _drive("Gkkkv", opening="pf s:0", event=event)
    assert screen.state.viewer.array.shape == (2, 2)
    assert screen.rows[3].strip() == "indices"


def test_of_a_summary_in_several_lines_none_stands_below_the_head() -> None:
    screen = _drive("v", opening="pt -s x", event=_run(x=np.ones((3, 4), np.float32)))
    assert screen.rows[3].split() == ["0", "1", "2", "3"]


def test_a_matrix_has_no_axis_to_step_along_so_that_its_neighbours_have_their_keys() -> None:
    assert _drive(["<"], opening="pt x", event=_run(x=np.zeros((3, 4)))).state.page.command == "li x"
    assert _drive([">"], opening="pt x").state.viewer.here == (0, 1, 0, 0)


def test_v_and_enter_go_in_from_the_text_and_back_to_it() -> None:
    assert _drive("v").state.viewer is not None, "an element on the page is where the cursor was"
    for out in ("v", "<enter>"):
        text = _drive(out, opening="pt x")
        assert text.state.viewer is None
        assert text.state.pages.at == 0
        assert _drive(f"{out}v", opening="pt x").state.viewer is not None
        assert _drive(f"{out}v<esc>", opening="pt x").state.viewer is None
    inside = _drive("vg<enter>", opening="pt x", event=_run(x=np.zeros((3, 4))))
    assert inside.state.page.command.startswith("ni"), "a link is followed as ever"
    text = Settings(values="text")
    inside = _drive("jjjj<enter>", opening="pt x", event=_run(x=np.arange(12.0).reshape(3, 4)), settings=text)
    assert inside.state.viewer.here == (1, 0)
    out = _drive("jjjj<enter>v", opening="pt x", event=_run(x=np.arange(12.0).reshape(3, 4)), settings=text)
    assert out.state.viewer is None
    assert "@[1, 0]" in out.status


def test_esc_goes_back_to_where_the_viewer_was_asked_for() -> None:
    screen = _drive("v<esc>")
    assert screen.state.page.command == "lt"
    again = _drive("v<esc><ctrl n>")
    assert again.state.viewer is not None, "forward again, it is as it was left"
    assert _drive("vjj<esc><ctrl n>").state.viewer.here == (0, 0, 2, 0)
    searching = _drive("v/>2<enter><esc>")
    assert searching.state.viewer is not None, "the first one ends the search"
    assert not searching.state.seeker.active


def test_esc_goes_back_from_the_text_to_the_viewer_in_which_it_was_asked_for() -> None:
    """A blind test: Enter on an origin, `v` for the text, and Esc led to the origin, past the viewer."""
    for text in ("v", "<enter>"):
        screen = _drive(f"v@1, 2, 3, 1]<enter>{text}<esc>")
        assert screen.state.page.command == "pt x:0"
        assert screen.state.viewer.here == (1, 2, 3, 1)
    assert _drive("vv<esc><esc>").state.page.command == "lt"
    assert _drive("vvv<esc>").state.viewer is None
    assert _drive("vvv<esc><esc>").state.page.command == "lt"
    again = _drive("vv<ctrl o><ctrl n>").state
    assert again.viewer is None, "it is as it was left"
    searching = _drive("vv/7<enter><esc>").state
    assert searching.viewer is None, "the first one ends the search"


def test_the_text_begins_at_the_element() -> None:
    screen = _drive("v@1, 2, 3, 1]<enter>v", opening="pt -a x")
    assert screen.state.viewer is None
    assert "@[1, 2, 3, 0]" in screen.status


def test_moving_and_paging_stays_in_the_plane() -> None:
    assert _drive("vjjl").state.viewer.here == (0, 0, 2, 1)
    assert _drive("v<down><right><left><up>").state.viewer.here == (0, 0, 0, 0)
    assert _drive("vG$").state.viewer.here == (0, 0, 5, 2)
    assert _drive("vG$g0").state.viewer.here == (0, 0, 0, 0)
    large = _run(x=np.zeros((500, 400)))
    assert _drive("v<page down>", large).state.viewer.here[0] > 10
    assert _drive("v<page down><page down><page up><page up>", large).state.viewer.here == (0, 0)
    screen = _drive("vG$", large)
    assert screen.rows[-4].startswith("499 ")
    assert screen.rows[4].rstrip().endswith("399")


def test_texts_are_not_called_numbers() -> None:
    head = _drive("", _run(x=np.array([["a", "b"], ["", "c"]], object)), "pt x").rows[2]
    assert head.rstrip().endswith("string [2,2]  texts")


def test_beside_a_long_name_the_head_still_tells_the_kind_and_the_way() -> None:
    name = "one_step_on_data/gradient_tape/functional_1/hidden2_1/MatMul/MatMul_1"
    long = RunEnd(made_run(op(name, "MatMul", value=np.ones((32, 16), np.float32))))
    head = _drive("", long, f"pt {name}").rows[2]
    assert head.rstrip().endswith("/MatMul_1:0 [:, :]  float32 [32,16]  numbers"), "the end of a path says most"
    assert head.startswith(" …")
    assert _drive("e", long, f"pt {name}").rows[2].rstrip().endswith("float32 [32,16]  numbers  scientific")
    assert _drive("2", long, f"pt {name}", size=(40, 10)).rows[2].rstrip().endswith("_1:0 [:, :]  heatmap")


def test_half_pages_and_rows_in_sight_have_the_keys_of_vi() -> None:
    tall = _run(x=np.arange(600, dtype=np.float32).reshape(100, 6))
    half = _drive("<ctrl d>", tall, "pt x").state.viewer.here
    assert half[0] > 1
    assert _drive("d", tall, "pt x").state.viewer.here == half
    assert _drive("ddu", tall, "pt x").state.viewer.here == half
    assert _drive("<page down>", tall, "pt x").state.viewer.here == (15, 0)
    assert _drive("L", tall, "pt x").state.viewer.here == (15, 0), "the last of 16 rows at 80x24"
    assert _drive("Gl", tall, "pt x").state.viewer.here == (99, 1)
    assert _drive("GlH", tall, "pt x").state.viewer.here == (84, 1)
    assert _drive("GlM", tall, "pt x").state.viewer.here == (92, 1)
    assert _drive("2GH", tall, "pt x").state.viewer.here == (84, 0), "in a heatmap"
    assert _drive("3L", tall, "pt x").state.viewer.here == (99, 0), "a picture shows all rows"
    assert _drive("6L", tall, "pt x").state.viewer.here == (15, 0), "of the batch"
    assert _drive("HML", _run(x=np.float32(1)), "pt x").state.viewer is None


def test_axes_are_stepped_chosen_swapped_and_turned() -> None:
    assert _drive("v>>").state.viewer.here == (0, 2, 0, 0)
    assert _drive(["v", ">", ">", "<"]).state.viewer.here == (0, 1, 0, 0)
    assert "There is no step before" in _drive(["v", "<"]).status
    assert _drive("va>").state.viewer.here == (1, 0, 0, 0)
    assert "[0, 0, :, :].T  axis 1" in _drive("vx").rows[2]
    assert "[0, 0, :, :]  axis 1" in _drive("vxx").rows[2]
    assert _drive("vxj").state.viewer.here == (0, 0, 0, 1)
    assert "[:, :, 0, 0]" in _drive("vX").rows[2]
    assert "There is no further step." in _drive(["v", ">"], _run(x=np.zeros((1, 3, 4)))).status


def test_numbers_are_looked_for_and_texts_are_not() -> None:
    assert _drive("v/>1000<enter>").state.viewer.here == np.unravel_index(1001, (4, 20, 6, 3))
    assert _drive("v/>1000<enter>nn").state.viewer.here == np.unravel_index(1003, (4, 20, 6, 3))
    assert _drive("v/>1000<enter>nN").state.viewer.here == np.unravel_index(1001, (4, 20, 6, 3))
    assert _drive("v/nan<enter>").state.viewer.here == (3, 17, 4, 0)
    assert _drive("v/>1000<esc>").state.viewer.here == (0, 0, 0, 0)
    assert "is no number to look for" in _drive("v/loss").text
    assert "there is none" in _drive("v/>1e9<enter>").status


def test_what_was_said_of_a_jump_goes_when_the_person_goes_on() -> None:
    assert "next NaN" in _drive("v]n").status
    assert "next NaN" not in _drive("v]nl").status
    assert "next NaN" not in _drive("v]n@0,0,0,0]<enter>").status
    assert "there is none" not in _drive("v]nl", _run(x=np.zeros((3, 4)))).status


def test_maximum_and_minimum() -> None:
    assert _drive("v}").state.viewer.here == (3, 19, 5, 2)
    assert _drive("v}{").state.viewer.here == (0, 0, 0, 0)
    assert "no greatest" in _drive("v}", _run(x=np.array([["a"]], object))).status


def test_an_index_goes_anywhere_and_one_outside_is_refused() -> None:
    assert _drive("v@1,2,3,1]<enter>").state.viewer.here == (1, 2, 3, 1)
    refused = _drive("v@9,9,9,9]<enter>")
    assert refused.state.viewer.here == (0, 0, 0, 0)
    assert "the shape is [4,20,6,3]" in refused.status
    assert "There is no element" in _drive("v@1,2]<enter>").status


@pytest.mark.parametrize(("key", "mode"), list(zip("123456", ViewMode, strict=True)))
def test_each_way_to_look_has_its_key(key, mode) -> None:
    screen = _drive(f"v{key}")
    assert screen.state.viewer.mode is mode
    assert mode.value in screen.rows[2]


def test_print_options_are_those_of_this_view_alone() -> None:
    event = _run(x=np.array([[1 / 3, 1e-9]]))
    assert "3.33333333e-01" in _drive("v", event).text
    assert "0.33333333" in _drive("vs", event).text
    assert " 3.333e-01" in _drive("v" + "-" * 5, event).text
    assert " 3.3333e-01" in _drive("v" + "-" * 5 + "+", event).text
    assert "scientific" in _drive("ve", event).rows[2]
    large = _drive("v#", _run(x=np.zeros((100, 100))))
    assert "…" in large.text
    assert "ends only" in large.rows[2]
    assert "…" not in "".join(_drive("v##", _run(x=np.zeros((100, 100)))).rows[3:20])
    assert np.get_printoptions()["precision"] == 8


def test_an_element_and_its_place_are_copied() -> None:
    assert _drive("v]ny").screen.copied == ["nan"]
    assert _drive("v]nY").screen.copied == ["x:0[3, 17, 4, 0]"]


def test_the_first_of_two_keys_waits_and_esc_takes_it_back() -> None:
    waiting = _drive("v]")
    assert "]n next NaN or infinity" in waiting.text
    assert _drive("v]<esc>").state.viewer is not None
    assert "]z does nothing here" in _drive("v]z").status
    assert _drive("v]<esc>n").state.viewer.here == (0, 0, 0, 0)
    assert _drive("v[n").state.viewer.here == (3, 17, 4, 0)


def test_the_same_array_of_the_run_before_is_shown_at_the_same_place() -> None:
    runs = [made_run(op("x", "Placeholder", value=_sick() + by)) for by in (0, 1)]
    screen = _drive("v]n2]]", Opened("/r", runs))
    assert screen.state.viewer is not None
    assert screen.state.viewer.here == (3, 17, 4, 0)
    assert screen.state.viewer.mode is ViewMode.HEATMAP
    assert screen.state.service.run == 1


def test_a_click_goes_to_a_cell_and_the_wheel_moves() -> None:
    screen = _drive("v")
    col = screen.rows[7].index("7.")
    clicked = Driven(_run(x=_sick()), ["v", ("mouse press", 1, col, 7)], registry=standard_registry())
    assert clicked.state.viewer.here == (0, 0, 2, 1)
    assert _drive("v<wheel down>").state.viewer.here == (0, 0, 3, 0)


def test_where_there_is_no_array_it_is_said() -> None:
    assert "There is no array here" in _drive("v", opening="help").status
    assert "no elements" in _drive("v", _run(x=np.zeros((0, 3))), opening="pt x").status
    scalar = _drive("v", _run(x=np.float32(3)))
    assert "[]  3." in scalar.status


def test_where_a_value_is_missing_v_says_why() -> None:
    """A blind test: it said that `pt NAME` shows an array, on the page of `pt Log:0` of a set without values."""
    why = "The mode FULL_HEALTH records no values."
    lacking = NoValue(Lack.GONE, why)
    run = RunEnd(made_run(op("x", "Placeholder", value=lacking), feeds={"given": lacking}))
    for opening in ("pt x", "lt", "pf given"):
        assert _drive("v", run, opening=opening).status.startswith(f" There is no array here to look at. {why}")


@pytest.mark.parametrize("theme", ["dark", "light", "contrast", "mono"])
@pytest.mark.parametrize("mode", "23")
def test_what_is_not_finite_is_told_without_colours(theme, mode) -> None:
    screen = _drive(f"v]n{mode}jj", settings=Settings(theme=theme))
    assert "×" in "".join(screen.rows[3:-4])
    looks = screen.looks(colors=1)
    signs = [spec for row in looks[:-4] for spec, text in row if "×" in text]
    assert any(spec.bold or spec.standout for spec in signs)


def test_its_keys_are_told_in_the_footer_and_the_list() -> None:
    screen = _drive("v")
    assert screen.rows[-1].startswith(" v text  ]n next NaN")
    shown = _drive("v?").text
    assert "next NaN or infinity" in shown
    keys = [key for binding in ARRAY_BINDINGS for key in binding.keys]
    assert len(keys) == len(set(keys))
    for binding in ARRAY_BINDINGS:
        assert binding.help[0].islower()


def test_every_action_of_its_keys_is_one_that_it_knows() -> None:
    for binding in ARRAY_BINDINGS:
        if binding.action.startswith("pane:"):
            screen = _drive("v")
            screen.app.perform(binding.action)
            assert not screen.state.report, binding.action


def test_ctrl_c_stops_a_jump() -> None:
    screen = _drive("v", _run(x=np.zeros((3000, 1000), np.float32)))
    screen.app.key("]")
    screen.app.key("n")
    assert screen.state.seeker.running
    screen.app.key("ctrl c")
    assert not screen.state.seeker.running
    assert "stopped" in screen.state.viewer.status


def test_the_head_over_a_part_of_a_row_names_that_part() -> None:
    screen = _drive("v", RunEnd(sample_run.sample_run()), opening="row")
    assert screen.state.page.document.title == "row 2"
    assert screen.rows[2].startswith(" x:0[2] [:]")


def _text_of_values(*, keys: str, **values: Any) -> Driven:
    return _drive(keys, opening="pt x", event=_run(**values), settings=Settings(values="text"))


@pytest.mark.parametrize(
    ("sought", "at"),
    [(">2", 2), ("nan", 40), ("inf", 60), ("-inf", 60), ("=1", 0), ("!=1", 2), (">=12", 2)],
)
def test_a_number_is_searched_for_by_value_in_the_text_too(sought: str, at: int) -> None:
    array = np.ones(80, np.float32)
    array[[2, 40, 60]] = 12.25, np.nan, -np.inf
    screen = _text_of_values(keys=f"g/{sought}<enter>", x=array)
    line = screen.state.page.view.line(screen.state.page.view.selected)
    assert line.element is not None
    assert line.element[0] <= at < line.element[0] + len(line.text.split())
    found = screen.state.page.seeker.ranges(line, screen.state.page.view.selected)
    word = {2: "12.25", 40: "nan", 60: "-inf"}.get(at, "1.")
    assert word in [line.text[start:stop] for start, stop in found]


def test_digits_alone_are_searched_for_as_they_are_printed() -> None:
    screen = _text_of_values(keys="g/0.33333<enter>", x=np.array([2.0, 1 / 3]))
    assert screen.state.seeker.notice == "/0.33333  1/1"


def test_a_search_by_value_goes_through_each_array_of_a_page_and_nothing_else() -> None:
    screen = _drive("g/>0.5<enter>", RunEnd(sample_run.sample_run()), opening="row")
    view = screen.state.page.view
    found = [index for index in range(len(view.lines)) if screen.state.page.seeker.ranges(view.line(index), index)]
    assert found and all(view.line(index).element is not None for index in found)
