import os

import pytest
import urwid.testing
from support import sample_run
from support.screen import Driven

from tfdbg_cli.commands.service.pages import Page, Pages
from tfdbg_cli.commands.standard import standard_registry
from tfdbg_cli.config.settings import Settings
from tfdbg_cli.document.document import text_document
from tfdbg_cli.model.decision import Abort, Continue, DebugRun, Detach, RunUntil
from tfdbg_cli.tui.state.bars import crumbs
from tfdbg_cli.tui.terminal.theme import palette


def drive(keys="", event=None, **options):
    return Driven(event or sample_run.run_end(), keys, **options)


def test_a_stop_opens_on_its_command_and_says_which_run_it_is():
    screen = drive()
    assert screen.rows[0].startswith(" run-end: run #3: 1 fetch (loss/Mean:0); 2 feeds")
    assert screen.rows[0].endswith("runtime graph")
    assert screen.rows[1] == " run #3 › lt"
    assert "Enter: pt x:0" in screen.status


@pytest.mark.parametrize(
    ("event", "words", "part"),
    [
        (sample_run.run_start(), "run-start:", "title start"),
        (sample_run.run_end(), "run-end:", "title end"),
        (sample_run.run_hit(), "passed has_inf_or_nan after 7 runs", "title hit"),
        (sample_run.run_failed(), "failed with InvalidArgumentError", "title error"),
        (sample_run.opened(2), "2 runs", "title opened"),
    ],
)
@pytest.mark.parametrize("cols", [60, 80, 200])
def test_the_title_says_in_words_and_colour_why_it_stopped(event, words, part, cols):
    from tfdbg_cli.tui.state.bars import title_part

    screen = drive(event=event, opening="help", size=(cols, 24))
    assert words in screen.rows[0]
    assert title_part(screen.state.service) == part


@pytest.mark.parametrize(
    ("keys", "decision"),
    [
        ("r", DebugRun()),
        ("F", RunUntil("has_inf_or_nan")),
        ("c", Continue()),
        (":run -f has_inf_or_nan<enter>", RunUntil("has_inf_or_nan")),
        ("qc", Continue()),
        ("qd", Detach()),
        ("qa", Abort()),
        ("q<down><down><enter>", Abort()),
        ("", None),
        ("q<esc>", None),
    ],
)
def test_how_a_stop_ends(keys, decision):
    assert drive(keys).decision == decision


def test_a_screen_that_ends_without_a_decision_detaches():
    assert drive().app.run(Driven(sample_run.run_end()).screen) == Detach()


def test_leaving_a_recording_is_not_asked():
    assert drive("q", sample_run.opened()).decision == Detach()


def test_keys_that_need_a_running_program_say_so_in_a_recording():
    screen = drive("r", sample_run.opened())
    assert screen.decision is None
    assert "r does nothing in a recording. While a program runs: run on and capture" in " ".join(screen.text.split())


def test_keys_that_need_values_say_so_before_a_run():
    screen = drive("t", sample_run.run_start())
    assert "t does nothing before a run. r runs it; then: list the tensors." in screen.status
    assert "Z does nothing here. ? shows the keys" in drive("Z", sample_run.run_start()).status


def test_enter_follows_links_and_esc_goes_back_to_where_one_was():
    screen = drive("jjj<enter>")
    assert screen.rows[1] == " run #3 › lt › pt cold:0" or "pt" in screen.rows[1]
    back = drive("<page down>jj<enter><esc>")
    there = drive("<page down>jj")
    assert back.rows[2:20] == there.rows[2:20]
    assert back.state.page.view.selected == there.state.page.view.selected


def test_prev_and_next_restore_scroll_and_selection():
    """TensorFlow's tfdbg: prev, next; config and place lost between screens (6.3)."""
    screen = drive(":text<enter>40jjjjj<ctrl d><ctrl d>jj:origin<enter><ctrl o>")
    view = screen.state.page.view
    assert screen.state.page.command == "text"
    place = (view.top, view.selected)
    assert place[0] > 0
    again = drive(":text<enter>40jjjjj<ctrl d><ctrl d>jj:origin<enter><ctrl o><ctrl o><ctrl n>")
    assert (again.state.page.view.top, again.state.page.view.selected) == place
    typed = drive(":text<enter>:origin<enter>:prev<enter>")
    assert typed.state.page.command == "text"
    assert "This is the first screen." in drive("<ctrl o>").status


def test_next_at_the_last_screen_says_what_goes_on_in_the_program():
    """A blind test: who typed `next` as in pdb read that this is the last screen, and no more."""
    last = "This is the last screen: `next` comes back from where `prev` went."
    live, over = drive("<ctrl n>", size=(160, 24)).text, drive("<ctrl n>", sample_run.opened(), size=(160, 24)).text
    assert f"{last} `over` goes on to the next line, `step` to the next op." in live
    assert last in over and "`over`" not in over


def test_breadcrumbs_are_links():
    screen = drive(":text<enter>:origin<enter><click 10 1>")
    assert screen.state.page.command == "lt"
    assert screen.rows[1] == " run #3 › lt › text › origin"
    assert drive(":text<enter><click 2 1>").state.page.command == "lt"


def test_going_back_goes_back_to_the_run_as_well():
    screen = drive(":runs 2<enter>:text<enter><esc><esc>", sample_run.opened(3))
    assert screen.state.page.command == "lt"
    assert screen.state.service.run == 0
    assert drive(":runs 2<enter>:text<enter><esc><esc><ctrl n>", sample_run.opened(3)).state.service.run == 1


def test_the_last_breadcrumb_has_the_whole_row_and_keeps_the_end_of_a_name():
    """A blind test: it was cut at half the row, and at its end, where names differ."""
    name = "one_step_on_data/sequential_1/conv1_1/convolution"
    pages = Pages(9)
    for command in ("lt", f"pt {name}:0"):
        pages.open(Page(command, text_document("text"), label="run #9"))
    assert crumbs(pages, 100).text == f" run #9 › lt › pt {name}:0"
    cut = crumbs(pages, 50).text
    assert cut.startswith(" run #9 › … › pt …") and cut.endswith("/conv1_1/convolution:0") and len(cut) <= 50
    pages.go(0)
    assert crumbs(pages, 100).text == " run #9 › lt › pt …tial_1/conv1_1/convolution:0", "also of what lies ahead"


def test_breadcrumbs_give_way_at_the_left():
    keys = "".join(f":pt {'very' * 8}_{i}:0<enter><esc>" for i in range(3))
    screen = drive(":text<enter>:origin<enter>:ri<enter>:help<enter>:text<enter>:ri<enter>", size=(40, 12))
    assert "…" in screen.rows[1]
    assert screen.rows[1].endswith("ri")
    assert drive(keys, size=(40, 12)).rows[1].startswith(" run #3")


def test_an_error_is_red_with_its_way_out_and_loses_nothing():
    screen = drive(":lst<enter>")
    assert "There is no command 'lst'." in screen.status
    assert screen.state.message.error
    assert screen.state.page.command == "lt"
    assert screen.state.message.hint


def test_a_command_that_failed_stays_in_its_line_to_be_corrected():
    """A blind test: the line was gone, and what was typed next were keys of the document."""
    screen = drive(":origni<enter>")
    assert screen.rows[-2].strip() == "tfdbg> origni" and "Did you mean origin" in screen.status
    assert "Did you mean origin" in drive(":origni<enter><backspace>").status, "as long as the line is corrected"
    assert drive(":origni<enter><backspace><backspace>in<enter>").state.page.command == "origin"
    assert drive(":origni<enter>:text<enter>").state.page.command == "text", "by habit a new line"
    assert drive(":origni<enter>x:").rows[-2].strip() == "tfdbg> orignix:", "one of this line"
    back = drive(":origni<enter><esc>")
    assert "press : " in back.rows[-2]
    elements = drive(":pt x:0<enter>@9]<enter>", registry=standard_registry(), settings=Settings(values="text"))
    assert elements.rows[-2].strip() == "tfdbg> @[9]"


def test_a_long_error_takes_up_to_three_rows():
    screen = drive(f":{'x' * 150}<enter>", size=(60, 24))
    assert screen.app.view.layout.status == 3
    assert screen.rows[2].startswith(" ")


def test_a_bug_is_shown_and_the_screen_goes_on(tmp_path, monkeypatch):
    screen = drive(":boom<enter>")
    assert "tfdbg made a mistake here." in screen.text
    assert "ZeroDivisionError: a bug of ours" in "\n".join(
        item.text for item in screen.state.page.document.lines(None)
    )
    assert drive(":boom<enter><esc>").state.page.command == "lt"
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    saved = drive(":boom<enter><enter>")
    (report,) = tmp_path.iterdir()
    assert "a bug of ours" in report.read_text()
    assert report.stat().st_mode & 0o077 == 0
    assert "Saved to" in saved.state.message.text


def test_a_bug_while_drawing_is_shown_in_its_place():
    screen = drive(":late<enter>G")
    assert "tfdbg made a mistake here." in screen.text
    assert screen.rows[1] == " run #3 › lt › late"
    assert "KeyError" in screen.state.report


def test_a_bug_in_the_opening_command_still_gives_a_screen():
    assert "tfdbg made a mistake here." in drive(opening="boom").text
    assert "no command 'nonsense'" in drive(opening="nonsense").status


def test_search_walks_highlights_and_comes_back():
    screen = drive("/loss<enter>n")
    assert "/loss  2/3" in screen.status
    assert screen.state.page.view.chosen.link == "pt loss/mul:0"
    assert "/loss  1/3, past the end, from the top" in drive("/loss<enter>nnn").status
    assert "/loss  3/3, past the top, from the end" in drive("/loss<enter>N").status
    assert drive("/loss<esc>").state.page.view.chosen.link == "pt x:0"
    assert "no match" in drive("/zzz").status
    assert "is not a regular expression" in drive("/loss(<enter>").state.message.text
    looks = [spec.background for row in drive("/loss<enter>").looks() for spec, text in row if text == "loss"]
    found = urwid.testing.resolve_attr("match", palette("dark")).background
    assert looks
    assert set(looks) == {found}


def test_the_old_prompt_commands_for_searching_work():
    """TensorFlow's tfdbg: `/regex` and `/` at the prompt."""
    assert drive(":/loss<enter>").state.page.view.chosen.link == "pt loss/Log:0"
    assert drive(":/loss<enter>:/<enter>").state.page.view.chosen.link == "pt loss/mul:0"


def test_the_old_prompt_command_for_elements_works():
    """TensorFlow's tfdbg: `@[i,j]` and `@i,j` scroll to an element."""
    # The key @ types a bracket of its own; a person who types it again means the same.
    for typed in (":@[3, 0]", ":@3,0", ":@[3,1]", "@[3, 0]", "@3, 0"):
        screen = drive(f":pt x:0<enter>{typed}<enter>", settings=Settings(values="text"))
        assert screen.state.page.view.line(screen.state.page.view.selected).element == (3, 0)
        assert "@[3, 0]" in screen.status
    assert "No array here" in drive(":pt x:0<enter>:@[1]<enter>", settings=Settings(values="text")).status
    screen = drive(":pt x:0<enter>:@[9,0]<enter>", registry=standard_registry(), settings=Settings(values="text"))
    assert "no element [9, 0]: the shape shown is" in screen.text
    assert screen.state.page.view.selected == 1, "the selection stays where it was"
    assert "Cannot read" in drive(":@[a]<enter>").status
    assert drive(":pt x:0<enter>@2,0]<enter>", settings=Settings(values="text")).state.page.view.selected == 5


def test_esc_and_a_key_that_come_as_one_are_both_heard():
    """Over a slow line, or from a fast hand, Esc and `:` are Alt-: to the terminal."""
    assert drive(":pt x:0<enter><meta :>lt<enter>").state.page.command == "lt"
    assert drive("/loss<meta :>pt x:0<enter>").state.page.command == "pt x:0"
    assert drive(":pt x:0<enter><meta j>").state.page.view.selected == drive("j").state.page.view.selected
    assert drive(":pt x:0<enter><meta G>").state.page.command == "lt"
    for key in "crFq!":
        screen = drive([*":pt x:0", "enter", f"meta {key}"])
        assert "does nothing here" in screen.status, "who means Alt must not find the program gone on"
        assert screen.state.page.command == "pt x:0"
        assert screen.decision is None
    assert "Alt-Z does nothing here" in drive(["meta Z"]).status, "Z alone means nothing either"


def test_alt_and_a_key_with_a_meaning_at_other_stops_only_is_no_esc():
    screen = drive([*":pt x:0", "enter", "meta s"], sample_run.opened())
    assert screen.state.page.command == "pt x:0", "no page is left, and no list sorted"
    assert "Alt-S does nothing in a recording" in screen.state.message.text


def test_an_empty_line_at_the_prompt_is_nothing():
    """TensorFlow's tfdbg: an empty line was an error."""
    screen = drive(":<enter>")
    assert screen.state.message is None
    assert screen.state.page.command == "lt"


def test_tab_completes_and_shows_candidates():
    screen = drive(":conf<tab>")
    assert screen.state.prompt.editor.text == "config "
    screen = drive(":pt loss/<tab>")
    assert "loss/Log" in screen.rows[20]
    picked = drive(":pt loss/<tab><tab>")
    assert picked.state.prompt.editor.text == f"pt {picked.state.prompt.candidates[0]}"
    assert "Nothing completes this." in drive(":pt zzz<tab>").status


def test_history_is_walked_by_prefix():
    history = ["lt -s size", "pt x:0", "lt -s name"]
    assert drive(":lt<up>", history=history).state.prompt.editor.text == "lt -s name"
    assert drive(":lt<up><up>", history=history).state.prompt.editor.text == "lt -s size"
    assert drive(":lt<up><up><up><down><down>", history=history).state.prompt.editor.text == "lt"


def test_the_prompt_shows_the_usage_of_what_is_typed():
    assert "print_tensor TENSOR" in drive(":pt x").status.upper().replace("PRINT_TENSOR", "print_tensor")


def test_a_letter_in_the_prompt_that_is_no_command_may_be_meant_as_a_key() -> None:
    assert "Esc leaves this line, where z may be a key." in " ".join(drive(":z<enter>").text.split())


def test_sorting_takes_the_place_of_the_screen():
    screen = drive("ss")
    assert screen.state.page.command == "lt -s dtype"
    assert len(screen.state.pages.all) == 1
    assert drive("sS").state.page.command == "lt -s size -r"
    assert drive("<click 3 4>").state.page.command == "lt -s size"
    assert "no table here that sorts" in drive(":origin<enter>s").status


def test_the_mouse_follows_links_scrolls_and_jumps():
    assert drive("<click 45 8>").state.page.command.startswith("pt ")
    assert drive(":text<enter><wheel down>").state.page.view.top == 3
    assert drive(":text<enter><click 79 20>").state.page.view.top == 100 - 19
    assert drive("<click 3 20>").state.page.view.top == 0
    assert drive("<click 1 22>").state.place.name == "PROMPT"


@pytest.mark.parametrize(
    ("keys", "way"),
    [((), "press Alt-M to"), ((("f5", "ui:mouse"),), "press F5 to"), ((("alt m", ""),), "type `mouse off` to")],
)
def test_a_drag_names_the_key_that_gives_the_mouse_back(keys, way):
    """A blind test: it said to press m, which marks a place and takes the next key for the name of the mark."""
    screen = drive([("mouse press", 1, 20, 8), ("mouse drag", 1, 30, 8)], settings=Settings(keys=keys))
    assert f"or {way} give" in " ".join(screen.text.split())


def test_esc_is_offered_where_it_leads_somewhere():
    """A blind test: the first screen offered it, and answered that it was the first."""
    for first in ("", "<esc>", ":text<enter><esc>", "/loss<enter><esc>"):
        assert "Esc back" not in drive(first, size=(120, 40)).rows[-1], first
    for other in (":text<enter>", "/loss<enter>", ":text<enter>:lt<enter><esc>"):
        assert "Esc back" in drive(other, size=(120, 40)).rows[-1], other
    viewing = drive("v", size=(160, 40), opening="pt loss/Log:0", registry=standard_registry())
    assert "Esc back" in viewing.rows[-1]
    assert viewing.state.viewer is None


def test_a_click_in_the_footer_does_what_the_key_does():
    column = drive().rows[-1].index("r run")
    assert drive(f"<click {column} 23>").decision == DebugRun()


def test_mouse_mode_is_switched_and_told():
    assert "mouse off" in drive("<meta m>").rows[20] + drive("<meta m>").rows[21] or not drive("<meta m>").state.mouse
    assert drive("<meta m><meta m>").state.mouse
    assert not drive(settings=Settings(mouse_mode=False)).state.mouse
    assert not drive(":config mouse_mode off<enter>").state.mouse


def test_a_theme_is_changed_at_once():
    screen = drive(":config theme light<enter>")
    assert screen.state.service.settings.theme == "light"
    assert "theme is light now." in screen.status


def test_copying_says_what_it_copied():
    screen = drive("y")
    assert screen.screen.copied == ["x:0"]
    assert "Copied 3 characters: x:0" in screen.status
    assert drive(":ri<enter>jY").screen.copied == ["loss/Mean:0"]


def test_the_key_list_runs_keys():
    screen = drive("?")
    assert "Keys" in screen.text
    assert drive("?<esc>").state.dialog is None
    assert drive("?j<enter>").decision == DebugRun()
    assert "capture the next run" not in drive("?", sample_run.opened()).text


def test_ctrl_c_clears_then_asks_and_never_exits():
    assert drive(":lt -s<ctrl c>").state.prompt.editor.text == ""
    assert drive(":lt<ctrl c>").state.page.command == "lt"
    assert "Ctrl-C again" in drive("<ctrl c>").status
    assert "How do you want to leave?" in drive("<ctrl c><ctrl c>").text
    assert "Ctrl-C again ends the program." in drive("<ctrl c><ctrl c>").status
    assert "Enter: pt" not in drive("q").status
    assert drive("<ctrl c>j<ctrl c>").state.dialog is None
    assert drive("<ctrl c><ctrl c><ctrl c>").decision == Abort()


@pytest.mark.parametrize("before", ["", ":lt", "/x", "q"])
def test_ctrl_backslash_leads_to_ctrl_c_wherever_it_is_pressed(before):
    screen = drive(f"{before}<ctrl \\>")
    assert "Ctrl-\\ does nothing here. Ctrl-C twice asks how to leave" in screen.status
    assert screen.decision is None


def test_ctrl_c_stops_a_command_that_runs():
    screen = drive()

    def busy(*args, **kwargs):
        screen.app.busy.running = True
        screen.app.interrupt()

    screen.app.actions.perform = busy
    screen.app.perform("lt --slow")
    assert screen.state.message.text == "Stopped: lt --slow."


@pytest.mark.parametrize("key", ["b", "€", "<f5>"])
def test_other_keys_say_that_they_mean_nothing(key):
    assert "does nothing here" in drive(key[:1] if key[0] != "<" else key).status


def test_pasted_text_goes_to_the_prompt_and_runs_nothing():
    screen = drive("<begin paste>run\nr q<enter><end paste>".replace("\n", "<enter>"))
    assert screen.decision is None
    assert screen.state.prompt.editor.text.strip() == "run r q"


def test_resizing_keeps_the_place():
    screen = drive(":text<enter>GGkkkkk<resize 120x40><resize 50x12>")
    view = screen.state.page.view
    assert view.selected == 94
    assert 94 in view.visible()
    assert screen.rows[0].startswith(" run-end")


def test_a_tiny_screen_says_so_and_recovers():
    small = drive("<resize 30x8>")
    assert "".join(small.rows).startswith("tfdbg needs a screen of at least 40 by 10")
    assert "this one is 30 by 8" in "".join(row.ljust(30) for row in small.rows)
    assert "run-end" in drive("<resize 30x8><resize 80x24>").rows[0]
    for size in ((1, 1), (5, 30), (200, 3)):
        drive("jj:lt<enter>?", size=size)


def test_keys_mean_no_harm_where_no_page_was_laid_out_yet():
    for keys in (":lt<enter>Sr", ":pt loss/Log:0<enter>v", ":lt<enter>S<resize 80x24>", ":nothing<enter>vSr"):
        screen = drive(f"<resize 30x8>{keys}")
        assert not screen.state.report, f"{keys}\n{screen.state.report}"


def test_a_million_rows_answer_at_once():
    """TensorFlow's tfdbg: output was cut at 10,000 lines."""
    screen = drive(":many 1000000<enter>G")
    assert "1,000,001/1,000,001" in screen.status
    assert "op_999999" in screen.text
    assert screen.rows[2].split() == ["row", "tensor"]


def test_wide_lines_scroll_sideways():
    screen = drive(":code<enter>llllllllllllllllllll")
    assert "end" in screen.text
    assert "column" in screen.status
    assert " wide" in drive(":code<enter>").text
    assert drive(":code<enter>lllllll" + "h" * 8).state.page.view.left == 0


def test_where_nothing_is_hidden_at_a_side_it_is_said():
    """A blind test: of the keys that had nothing to do, these alone said nothing."""
    for key in ("h", "<left>"):
        assert drive(f"{key}").status.startswith(" Nothing more to the left."), key
    for key in ("l", "<right><right><right>"):
        assert drive(f"{key}").status.startswith(" Nothing more to the right."), key
    assert "Nothing more" not in drive(":code<enter>l").status
    assert "Nothing more to the right." in drive(":code<enter>" + "l" * 20).status


def test_prose_is_wrapped_instead():
    assert " end" in drive(":ri<enter>").text


def test_a_screen_200_columns_wide_is_used():
    """TensorFlow's tfdbg: width capped at 220 columns."""
    assert max(map(len, drive(":code<enter>", size=(300, 24)).rows)) > 180


def test_a_terminal_without_utf8_gets_plain_characters():
    import urwid

    from tfdbg_cli.plain_text import PLAIN

    urwid.set_encoding("ascii")
    urwid.set_ascii_fallbacks(PLAIN)
    try:
        screen = drive("?j")
        for row in screen.screen.canvases[-1].text:
            assert row.isascii()
        assert b"?   48" not in b"\n".join(drive().screen.canvases[-1].text)
        assert b">   48" in b"\n".join(drive().screen.canvases[-1].text)
    finally:
        urwid.set_ascii_fallbacks({})
        urwid.set_encoding("utf-8")


def test_on_a_tiny_screen_no_key_does_what_nobody_sees():
    screen = drive("<resize 30x8>qdj:lt<enter><resize 80x24>")
    assert screen.decision == Detach()
    screen = drive("<resize 30x8>cr<resize 80x24>")
    assert screen.decision is None
    assert "q asks how to leave." in _sentence(drive("<resize 30x8>"))


def _sentence(small):
    return " ".join("".join(small.rows).split())


def test_on_a_tiny_screen_q_asks_before_it_leaves_a_program():
    """A blind test: a q on a screen of 20 by 5 let the program run on undebugged, which nothing takes back."""
    asked = drive("<resize 20x5>q")
    assert asked.decision is None
    assert _sentence(asked).endswith("a: abort, as by Ctrl-C, Esc: stay here.")
    for keys, decision in (("qc", Continue()), ("qd", Detach()), ("qa", Abort()), ("qq", None), ("q<esc>d", None)):
        assert drive(f"<resize 20x5>{keys}<resize 80x24>").decision == decision
    assert drive("<resize 20x5>q<down><enter>").decision is None, "nobody saw which answer was chosen"
    assert drive("q<resize 20x5>q").decision is None
    assert "How do you want to leave?" in drive("<resize 20x5>q<resize 80x24>").text
    typing = drive(":lt -n<resize 20x5>qq<resize 80x24>")
    assert typing.state.prompt.editor.text == "lt -n"


def test_on_a_tiny_screen_q_closes_a_recording_and_says_so():
    """A blind test: it said that q goes on without tfdbg, where nothing goes on."""
    assert "q closes the recording." in _sentence(drive("<resize 30x8>", sample_run.opened()))
    assert drive("<resize 30x8>q", sample_run.opened()).decision == Detach()


def test_a_signal_interrupts_what_has_the_terminal_if_it_is_python_and_is_never_kept_for_later():
    """A blind test: pdb could not be interrupted, and three Ctrl-C there aborted the training afterwards."""
    screen = drive("")
    screen.app.lending.use = "talk"
    with pytest.raises(KeyboardInterrupt):
        screen.app.interrupt()
    woken, screen.app._wake = os.pipe()
    os.set_blocking(woken, False)
    screen.app.lending.use = "run"
    screen.app.interrupt()
    with pytest.raises(BlockingIOError):
        os.read(woken, 1)
    screen.app.lending.use = ""
    screen.app.interrupt()
    assert os.read(woken, 9) == b"c"
    for descriptor in (woken, screen.app._wake):
        os.close(descriptor)
