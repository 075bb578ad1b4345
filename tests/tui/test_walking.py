"""Keys that go from tensor to tensor, do things again, count, and lend the terminal: with tfdbg's own commands."""

from __future__ import annotations

import inspect
from dataclasses import replace

import numpy as np
import pytest
from support import sample_run
from support.made_run import made_run, op
from support.screen import Driven, tokens

from tfdbg_cli.commands.standard import standard_registry
from tfdbg_cli.model.frames import LiveFrame
from tfdbg_cli.model.runs import RunEnd
from tfdbg_cli.model.sources import Frame
from tfdbg_cli.tui.keys.keymap import BINDINGS

TO_LOG = "j" * 11  # from the first row of the list to loss/Log:0


def drive(keys="", opening="lt", size=(80, 24), event=None):
    return Driven(event or sample_run.run_end(), keys, size=size, opening=opening, registry=standard_registry())


def chosen(screen):
    return screen.state.page.view.chosen.link


def test_bracket_b_goes_to_the_next_bad_row_of_the_list() -> None:
    assert chosen(drive("]b")) == "pt spectrum:0"
    assert chosen(drive("]b]b")) == "pt loss/Log:0"
    assert chosen(drive("]b]b]b")) == "pt half/Cast:0"
    assert chosen(drive("G[b")) == "pt loss/mul:0"
    assert "No NaN or infinity below." in drive("G]b").status
    assert drive("]b").state.page.command == "lt", "it is the same page"


def test_elsewhere_it_shows_the_next_bad_tensor_of_the_run() -> None:
    assert drive("]b", "pt prob:0").state.page.command == "pt loss/Log:0"
    assert drive("[b", "pt prob:0").state.page.command == "pt spectrum:0"
    assert "No tensor is chosen" in drive("]b", "help").status


def test_in_a_list_that_was_sorted_or_narrowed_the_rows_count() -> None:
    assert chosen(drive("]b", "lt -r")) == "pt loss/mul:0"
    assert chosen(drive("]b", "lt -n loss")) == "pt loss/mul:0"


def test_brackets_alone_still_go_from_run_to_run() -> None:
    run = sample_run.run_end().run
    earlier = replace(run, call=replace(run.call, number=2))
    event = replace(sample_run.run_end(), earlier=(earlier,))
    assert drive("[", event=event).rows[0].startswith(" run-end: run #2")
    assert drive("[j", event=event).rows[0].startswith(" run-end: run #2")
    assert drive("[]", event=event).rows[0].startswith(" run-end: run #3")
    back = drive("]b[b", event=event)
    assert back.rows[0].startswith(" run-end: run #3"), "what the first key does alone was taken back"
    assert len(back.state.pages.all) == 1


def test_K_goes_upstream_to_the_bad_input_else_to_the_largest() -> None:
    assert chosen(drive("GK")) == "pt loss/mul:0"
    assert chosen(drive("GKK")) == "pt loss/Log:0"
    assert chosen(drive("GKKK")) == "pt prob:0", "its only input"
    assert drive("K", "pt loss/mul:0").state.page.command == "pt loss/Log:0"
    assert "Nothing that it was made from" in drive("K", "pt x:0").status


def _division_by_zero() -> RunEnd:
    top, root = np.array([-9.0, 0.0]), np.array([3.0, 0.0])
    with np.errstate(all="ignore"):
        quotient = top / root
    return RunEnd(
        made_run(
            op("top", "Const", value=top),
            op("root", "Sqrt", "top", value=root),
            op("quotient", "RealDiv", "top", "root", value=quotient),
        )
    )


def test_K_at_an_origin_goes_to_the_input_that_the_cause_blames() -> None:
    """A blind test: at a division by 0 it went to the numerator, which was larger."""
    event = _division_by_zero()
    assert drive("K", "pt quotient", event=event).state.page.command == "pt top:0", "the largest, where nobody knows"
    assert drive("K", "origin", event=event).state.page.command == "pt root:0"
    assert drive(":pt quotient<enter>K", "origin", event=event).state.page.command == "pt root:0"


def test_enter_at_the_cause_opens_the_tensor_that_it_names() -> None:
    """A blind test: it named the tensor, and one had to look for it."""
    screen = drive("gj<right>", "origin", event=_division_by_zero())
    assert "0 / 0: top:0 and root:0 are both 0" in screen.text and chosen(screen) == "pt root:0"
    screen = drive("gj<right><enter>", "origin", event=_division_by_zero())
    assert screen.state.page.command == "pt root:0"


def test_in_a_loop_K_is_about_the_turn_that_the_page_shows() -> None:
    """The page opens on the link to its op, which names no turn: the first one was meant."""
    states = [np.zeros(2), np.full(2, 1e3), np.full(2, 1e30)]
    turns = made_run(
        op("weights", "Const", value=np.full(2, 7.0)),
        op("state", "Identity", values=states),
        op("product", "Mul", "state", "weights", values=[7 * one for one in states]),
        order=("weights", "state", "product", "state", "product", "state", "product"),
    )
    event = RunEnd(turns)
    assert drive("K", "pt product:0 -n 2", event=event).state.page.command == "pt state:0 -n 2"
    assert drive("K", "pt product:0 -n 0", event=event).state.page.command == "pt weights:0"
    there = drive("<down>K", "pt product:0 -n 1", event=event)
    assert there.state.page.command == "pt weights:0", "the turn before is a link that names its turn"


@pytest.mark.parametrize(
    ("key", "command"),
    [
        ("P", "ps /home/ada/train.py -b 8"),
        ("T", "history loss/Log:0"),
        ("<", "li loss/Log"),
        (">", "lo loss/Log"),
        ("V", "row 2"),
        ("W", "lt --role gradient -s worst"),
        ("A", "layers"),
        ("R", "runs"),
    ],
)
@pytest.mark.parametrize("opening", ["lt", "pt loss/Log:0", "ni loss/Log", "origin"])
def test_one_key_from_any_page_about_a_tensor(key, command, opening) -> None:
    screen = drive([*tokens(TO_LOG * (opening == "lt")), key], opening)
    assert screen.state.page.command == command


def test_on_the_page_of_a_node_keys_are_about_it_until_another_one_is_chosen() -> None:
    for key, command in (("P", "ps /home/ada/train.py -b 8"), ("<", "li loss/Log")):
        assert drive([key], "ni -t loss/Log").state.page.command == command
    opened = drive("", "ni -t loss/Log").state.page.view.chosen.link
    assert "prob" in opened, "that of an input, where the cursor is"
    another = drive([*tokens("<tab>"), "<"], "ni -t loss/Log").state.page.command
    assert another.startswith("li ") and another != "li loss/Log"


@pytest.mark.parametrize("opening", ["history loss/Log:0", "li -r loss/Log", "lo loss/Log"])
def test_one_key_from_a_line_without_a_tensor_on_a_page_about_one(opening) -> None:
    for key, command in (("P", "ps /home/ada/train.py -b 8"), ("T", "history loss/Log:0"), ("<", "li loss/Log")):
        assert drive(["g", key], opening).state.page.command == command


@pytest.mark.parametrize("moved", ["", "jj", "jjj"])
def test_on_a_line_of_the_origin_without_a_tensor_keys_are_about_the_origin(moved) -> None:
    assert drive([*tokens("g" + moved), "<"], "origin").state.page.command == "li loss/Log"


@pytest.mark.parametrize("moved", ["", "g", "jjjj"])
def test_on_the_page_of_an_error_keys_are_about_the_op_that_failed(moved) -> None:
    for key, command in (("P", "ps /home/ada/train.py -b 6"), ("<", "li dense/MatMul")):
        screen = drive([*tokens(moved), key], "error_info", event=sample_run.run_failed())
        assert screen.state.page.command == command


def test_the_line_of_a_node_is_shown_without_a_tensor_of_it() -> None:
    known = {**sample_run.TRACEBACKS, "loss/Const": sample_run.TRACEBACKS["w"]}
    event = RunEnd(sample_run.sample_run(tracebacks=known))
    assert "0 captured tensors" in drive("", "ni -d loss/Const", event=event).text
    assert drive(["g", "P"], "ni loss/Const", event=event).state.page.command == "ps /home/ada/train.py -b 5"
    unknown = drive(["g", "P"], "ni loss/Const")  # the cursor is on its reader, of which a line is known
    assert "No line is known that made loss/Const" in unknown.status


def test_a_line_without_a_link_says_what_leads_on() -> None:
    on_the_advice = "gjj<enter>"
    assert "Tab goes to the next one" in drive(on_the_advice, "origin").status
    beside = drive(on_the_advice, "origin", size=(200, 60)).status
    assert "There is no link on this line." in beside
    assert "Tab" not in beside, "there it leads to the other pane"


def test_B_asks_where_the_bundle_goes() -> None:
    assert drive("B").state.prompt.editor.text == "bundle "


def test_counts() -> None:
    assert chosen(drive("5j")) == chosen(drive("jjjjj"))
    assert chosen(drive("10j3k")) == chosen(drive("j" * 7))
    assert drive("12g").state.page.view.selected == 11
    assert drive("12G").state.page.view.selected == 11
    assert "12 times the next key" in drive("12").status
    assert drive("9999999999j").state.page.view.selected == 22
    assert "0 does nothing here" in drive("0").status
    assert chosen(drive("5<esc>j")) == chosen(drive("j")), "another key forgets the count"


def test_moves_as_in_vi() -> None:
    small = drive("d")
    assert small.state.page.view.selected == drive("<ctrl d>").state.page.view.selected > 5
    assert drive("du").state.page.view.selected == drive("<ctrl d><ctrl u>").state.page.view.selected
    view = drive("L").state.page.view
    assert view.selected == view.top + view.rows - 1
    middle, top = drive("GM").state.page.view, drive("GH").state.page.view
    assert top.selected == top.visible()[1], "the head of the table stays on top"
    assert top.selected < middle.selected < 23


def test_a_dot_does_the_last_action_again() -> None:
    assert chosen(drive("]b.")) == chosen(drive("]b]b"))
    assert chosen(drive("]bj.")) == chosen(drive("]bj]b")), "moving is no such action"
    assert drive(":pt prob:0<enter><esc>.").state.page.command == "pt prob:0"
    assert "Nothing was done yet" in drive(".").status


def test_a_dot_passes_over_what_its_help_says_that_it_does() -> None:
    """A blind test: behind a shell it did what was done before that; the help said that it does the last again."""
    said = next(binding.help for binding in BINDINGS if binding.action == "ui:again")
    assert "no move, mark, z, U or !" in said
    for keys in ("j", "ma", "z", "U", "!"):
        assert drive(f"i{keys}").state.last_action == "run_info", keys


def test_e_opens_the_editor_at_the_line(tmp_path, monkeypatch) -> None:
    file = tmp_path / "train.py"
    file.write_text("x\n" * 20)
    run = sample_run.run_end().run
    frames = {
        name: tuple(replace(one, file=str(file)) for one in trace if one.file.endswith("train.py"))
        for name, trace in run.tracebacks.items()
    }
    event = replace(sample_run.run_end(), run=replace(run, tracebacks=frames))
    monkeypatch.delenv("VISUAL", raising=False)
    monkeypatch.setenv("EDITOR", "nano -w")
    assert drive(f"{TO_LOG}e", event=event).screen.ran == [["nano", "-w", "+8", str(file)]]
    monkeypatch.setenv("VISUAL", "/usr/bin/code")
    assert drive(f"{TO_LOG}e", event=event).screen.ran == [["/usr/bin/code", "--wait", "--goto", f"{file}:8"]]
    assert "is not on this machine" in drive(f"{TO_LOG}e").text
    assert drive(f"{TO_LOG}ej", event=event).state.page.view.selected == 15, "the screen goes on"


def test_an_exclamation_mark_opens_a_shell(monkeypatch) -> None:
    monkeypatch.setenv("SHELL", "/bin/fish")
    assert drive("!").screen.ran == [["/bin/fish"]]


def test_pdb_gets_the_terminal_and_gives_it_back() -> None:
    seen = "what the program holds"
    here = inspect.currentframe()
    place = Frame(__file__, here.f_lineno + 3, here.f_code.co_name, "")
    live = LiveFrame(place, {}, globals())
    event = sample_run.run_end()
    screen = drive("<meta p>j", event=replace(event, run=replace(event.run, frames=(live,))))
    (talk,) = screen.screen.ran
    assert repr(seen) in talk
    assert screen.state.page.view.selected > 0, "the screen goes on"


def test_a_walk_goes_on_between_keys_and_the_next_key_drops_it() -> None:
    screen = drive()
    app = screen.app
    app.at_once = 0.0
    app.key("]")
    app.key("b")
    assert app.actions.walking.running
    assert app.state.message.hint == "Any key stops it."
    app.key("j")
    assert not app.actions.walking.running
    app.key("]")
    app.key("b")
    app.actions.walking.work(lambda: False)
    assert app.state.page.view.chosen.link == "pt spectrum:0"
    assert app.state.message is None, "nothing is looked for any more"


def test_what_said_that_it_looks_is_gone_on_another_page_too() -> None:
    screen = drive(opening="pt prob:0")
    app = screen.app
    app.at_once = 0.0
    for key in "]b":
        app.key(key)
    assert app.state.message.hint == "Any key stops it."
    app.actions.walking.work(lambda: False)
    assert app.state.page.command == "pt loss/Log:0" and app.state.message is None
