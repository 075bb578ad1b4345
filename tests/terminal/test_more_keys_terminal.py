"""More of what the screen can do, in a real pseudo terminal: keys of the viewer, columns, the ignored, the mouse."""

from __future__ import annotations

from pathlib import Path

import pytest
from test_tui_terminal import Host

pytestmark = pytest.mark.terminal


def test_an_array_is_walked_turned_and_written_in_other_ways(tmp_path: Path) -> None:
    host = Host(tmp_path, "arrays", title="run-end: run #1")
    host.walked(
        ("v", "x:0 [0, 0, :, :]"),
        ("jl", "[0, 0, 1, 1]  4."),
        ("<down><right><up><left>", "[0, 0, 1, 1]  4."),
        ("@3, 17, 4, 0]<enter>", "[3, 17, 4, 0]  nan"),
        ("<lt>", "[3, 16, :, :]  axis 1 16/20"),
        ("a<lt>", "[2, 16, :, :]  axis 0 2/4"),
        ("}", "[3, 19, 5, 2]  1439."),
        ("{", "[0, 0, 0, 0]  0."),
        ("]n", "[3, 17, 4, 0]  nan  · next NaN"),
        ("[n", "the only one"),
        ("x", "x:0 [3, 17, :, :].T  axis"),
        ("x", "4/6, 0/3"),
        ("s", "suppress"),
        ("+", "precision 4"),
        ("e", "e+03"),
        ("X", "x:0 [:, :, 4, 0]"),
        ("g0", "0/4, 0/20"),
    )
    host.send("<esc>")
    host.wait("Enter: pt x:0")
    host.left()


def test_columns_are_chosen_at_once_and_kept(tmp_path: Path) -> None:
    host = Host(tmp_path, "filter", env={"XDG_CONFIG_HOME": str(tmp_path / "config")})
    host.walked(
        (":config set columns nan,std,dtype<enter>", "Kept in"),
        ("<esc>", "Enter: pt x:0"),
        ("t", "3.112"),
        ("s", "› lt -s worst"),
        ("U", "As before: lt"),
    )
    assert "Op type" not in host.text()
    host.left()
    kept = (tmp_path / "config" / "tfdbg_cli" / "config.toml").read_text()
    assert 'columns = "nan,std,dtype"' in kept, "for the next program"


def test_what_was_ignored_is_listed_and_taken_back(tmp_path: Path) -> None:
    host = Host(tmp_path, "hit")
    host.walked(
        ("I", "1 ignored"),
        (":ignored<enter>", "› ignored"),
        ("<right><right>", "Enter: ignored --withdraw 1"),
        ("<enter>", "the node loss/Log counts again"),
    )
    host.wait(lambda: "1 ignored" not in host.text())
    host.left()


def test_a_click_follows_a_link_and_the_wheel_is_heard(tmp_path: Path) -> None:
    host = Host(tmp_path, "filter")
    host.walked(("?", "Keys"), ("jj", "Keys"))
    host.send("<esc>")
    host.wait("To type a command, press :")
    row = next(n for n, text in enumerate(host.screen.display) if "loss/Log:0" in text)
    col = host.screen.display[row].index("loss/Log:0")
    for sign in "Mm":
        host.child.send(f"\x1b[<0;{col + 1};{row + 1}{sign}")
    host.wait("› pt loss/Log:0")
    host.child.send("\x1b[<65;10;10M" * 3)  # the wheel
    host.wait("[3, 0]")
    host.left()


def test_the_bad_rows_of_a_batch_are_stepped_through(tmp_path: Path) -> None:
    host = Host(tmp_path, "rows", title="run-end: run #1")
    host.walked(
        ("/^Batch<enter>", "/^Batch  1/1"),
        ("<enter>", "Row 1 of 4: bad"),  # as V does
        ("]", "Row 3 of 4: bad"),
        ("[", "Row 1 of 4: bad"),
    )
    assert "[0. 4.]" in host.text() and "y:0[1]" in host.text(), "inputs and labels together"
    host.walked(("v", "[:]"), ("5", "line"), ("v", "Row 1 of 4: bad"))
    host.left()


def test_a_branch_says_which_side_was_taken_and_is_walked(tmp_path: Path) -> None:
    host = Host(tmp_path, "view:branch-in-a-loop", title="run-end: run #1")
    host.wait("true 2 times, false 1 time")
    host.walked(
        ("<tab>" * 6 + "<enter>", "› ni -d -t while/body/cond/true/Neg"),
        ("O", "› tree"),
        ("<esc>", "Op type  Neg"),
        ("[", "This is the first run that was kept"),
    )
    host.left()


def test_the_turns_of_a_loop_are_listed_and_one_is_opened(tmp_path: Path) -> None:
    host = Host(tmp_path, "view:turns")
    host.wait("was produced 3 times")
    host.walked(("j<enter>", "› pt step/while/Add:0 -n 1"), ("<esc>", "was produced 3 times"))
    host.left()


def test_a_page_is_written_with_its_colours(tmp_path: Path) -> None:
    host = Host(tmp_path, "hit")
    host.send(f"X{tmp_path}/page.ansi<enter>")
    host.wait("Wrote")
    text = (tmp_path / "page.ansi").read_text()
    assert "\x1b[" in text and "Log of 0" in text
    host.left()


@pytest.mark.parametrize(("said", "many"), [({"COLORTERM": "truecolor"}, True), ({}, False)])
def test_a_heatmap_has_all_colours_where_the_terminal_says_so(
    tmp_path: Path, said: dict[str, str], many: bool
) -> None:
    host = Host(tmp_path, "arrays", title="run-end: run #1", env=said)
    host.walked(("v", "numbers"), ("2", "heatmap"))
    assert ("48;2;" in host.raw or "38;2;" in host.raw) is many
    assert ("48;5;" in host.raw or "38;5;" in host.raw) is not many
    host.left()


def test_columns_are_counted_and_a_theme_is_chosen_without_a_typed_command(tmp_path: Path) -> None:
    host = Host(tmp_path, "filter", env={"XDG_CONFIG_HOME": str(tmp_path / "config")})
    host.walked(
        ("#", "by op dtype shape"),
        ("kkk<enter>", "› fq dtype"),
        ("<ctrl p>config", "command  config"),
        ("<enter>", "Enter: config set theme light"),
        ("<enter>", "Enter: config set theme contrast"),
    )
    assert 'theme = "light"' in (tmp_path / "config" / "tfdbg_cli" / "config.toml").read_text()
    host.left()
