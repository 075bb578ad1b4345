"""A person walks through what the screen can do, by keys, in a real pseudo terminal."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest
from support.warm_session import WarmSession
from test_tui_terminal import Host

pytestmark = pytest.mark.terminal
BRAILLE = re.compile("[\u2801-\u28ff]{3}")


def test_moving_counts_marks_and_undo(tmp_path: Path) -> None:
    host = Host(tmp_path, "filter")
    for keys, shown in (
        ("5j", "Enter: pt w/read:0"),
        ("ma", "a marks this place"),
        ("G", "Enter: pt loss/Mean:0"),
        ("'a", "Enter: pt w/read:0"),
        ("L", "Enter: pt step/while/Add:0 -n 2"),
        ("H", " 1/23"),
        ("M", "Enter: pt names:0"),
        ("''", "Enter: pt loss/Mean:0"),
        ("s", "› lt -r"),
        ("s", "› lt -s dump_size -r"),
        ("U", "As before: lt -r"),
        ("g", "Enter: pt loss/Mean:0"),
        ("]b", "Enter: pt loss/mul:0"),
        ("]b", "Enter: pt half/Cast:0"),
        ("[b", "Enter: pt loss/mul:0"),
        ("w", "› lt -s worst"),
    ):
        host.send(keys)
        host.wait(shown)
    host.send("qd")
    assert host.finish() == 0
    assert host.report()["different"] == {}


def test_one_key_each_around_a_tensor(tmp_path: Path) -> None:
    host = Host(tmp_path, "filter")
    host.send("/loss/mul<enter><esc>")
    host.wait("Enter: pt loss/mul:0")
    for keys, shown in (
        ("<enter>", "› pt loss/mul:0"),
        ("K", "› pt loss/Log:0"),
        ("P", "› ps /home/ada/train.py"),
        ("<esc>", "v text"),
        ("T", "› history loss/Log:0"),
        ("<esc>", "v text"),
        ("<lt>", "› li loss/Log"),
        ("<esc>", "v text"),
        (">", "› lo loss/Log"),
        ("A", "› layers"),
        ("O", "› tree"),
        ("E", "› tree --unfold *"),
        ("C", "› tree --fold *"),
        ("R", "› runs"),
        ("i", "› run_info"),
        ("o", "› origin"),
        (":fq dtype<enter>", "› fq dtype"),
        (":path x loss/Mean<enter>", "› path x loss/Mean"),
        (":config set theme mono<enter>", "default dark"),
        (":messages<enter>", "› messages"),
        ("D", "no other run to compare with"),
        ("?", "Keys"),
        ("<esc>", "To type a command, press :"),
    ):
        host.send(keys)
        host.wait(shown)
    host.send("qd")
    assert host.finish() == 0
    assert host.report()["different"] == {}


def test_a_page_is_written_to_a_file_from_where_one_stands(tmp_path: Path) -> None:
    host = Host(tmp_path, "filter")
    for ending, begins in (("html", "<!DOCTYPE"), ("svg", "<svg"), ("csv", ""), ("json", "{"), ("txt", "20 dumped")):
        path = tmp_path / f"page.{ending}"
        host.send(f"X{path}<enter>")
        host.wait(lambda path=path: path.exists() and "Wrote" in host.text())
        assert path.read_text().lstrip().startswith(begins)
        host.send("j")
    host.send("qd")
    assert host.finish() == 0


def test_a_bundle_is_made_where_one_stands_and_opened_again(tmp_path: Path) -> None:
    host = Host(tmp_path, "held")
    case = tmp_path / "case"
    host.send(f"B{case}<enter>")
    host.wait("The bundle is in")
    host.send("qd")
    assert host.finish() == 0
    assert host.report()["different"] == {}
    settings = tmp_path / "config" / "tfdbg_cli" / "config.toml"
    settings.parent.mkdir(parents=True)
    settings.write_text('theme = "contrast"\ncolumms = ["nan"]\n[keys]\n"ctrl g" = "lt -f has_inf_or_nan"\n')
    env = {"HOME": str(tmp_path), "XDG_CONFIG_HOME": str(tmp_path / "config")}
    opened = WarmSession([sys.executable, "-m", "tfdbg_cli", "open", str(case)], env=env)
    opened.wait("Log of 0: prob:0, a relu, is 0 at 2 elements.")  # the bundle of a bad run
    opened.send("tg")
    opened.wait("20 dumped tensor(s)")
    assert {opened.screen.buffer[5][col].bg for col in range(20, 30)} == {"000087"}, "the theme of the file"
    opened.send("<ctrl g>")  # a key of one's own
    opened.wait("› lt -f has_inf_or_nan")
    opened.send("o")
    opened.wait("Log of 0: prob:0, a relu, is 0 at 2 elements.")
    opened.send("t")
    opened.wait("Enter: pt loss/Log:0")
    opened.send("q")
    assert opened.finish() == 0
    left = "".join(opened.text().split())  # a long path breaks lines anywhere
    assert "Thereisnosetting'columms'.Didyoumeancolumns" in left
    assert "closed" in left and "Logof0" in left, "what was found stays in the scrollback"


def test_plots_over_several_runs(tmp_path: Path) -> None:
    host = Host(tmp_path, "trained", size=(120, 40), title="run-end: run #8")
    host.send(":history gradient_tape/dense/MatMul:0<enter>")
    host.wait("› history")
    host.wait(lambda: BRAILLE.search(host.text()) is not None)
    host.wait("▸●   #8")  # where one is
    host.send("[[")
    host.wait("run-end: run #6")
    host.send(":runs 4<enter>")
    host.wait("run-end: run #8")
    host.send(":trends<enter>")
    host.wait("Last / first")
    host.wait("gradient")
    host.send("D")
    host.wait("became non-finite")
    host.send("qd")
    assert host.finish() == 0
    assert host.report()["different"] == {}


def test_what_was_done_last_is_done_again(tmp_path: Path) -> None:
    host = Host(tmp_path, "trained", title="run-end: run #8")
    for keys, shown in (("[[", "run-end: run #6"), (".", "run-end: run #5"), (".", "This is the first run")):
        host.send(keys)
        host.wait(shown)
    host.send("qd")
    assert host.finish() == 0


def test_replicas_are_compared(tmp_path: Path) -> None:
    host = Host(tmp_path, "replicas", title="run-end: run #")
    host.send(":diff --replicas<enter>")
    host.wait("› diff --replicas")
    host.wait("replica 1")
    host.send("<esc>")
    host.wait("22 dumped tensor(s)")
    host.send("qd")
    assert host.finish() == 0
    assert host.report()["different"] == {}


@pytest.mark.parametrize("size", [(80, 24), (200, 60)])
def test_keys_are_answered_while_a_server_is_waited_for(tmp_path: Path, size: tuple[int, int]) -> None:
    host = Host(tmp_path, "far", size=size, title="counted://bucket/ckpt")
    away = tmp_path / "away"
    away.touch()
    host.send(":pt weights -s<enter>")
    host.wait("pt weights -s: working, 0%. Esc stops it.")
    host.send("k")
    host.send("<esc>")
    host.wait(lambda: "working" not in host.text())
    host.send(":lt<enter>")
    host.wait("weights:0")
    host.send(":pt weights -s<enter>")
    host.wait("working")
    away.unlink()
    host.wait("5,242,8")
    host.send("q")
    assert host.finish() == 0
