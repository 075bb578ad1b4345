"""The screen in a real pseudo terminal: it comes, it goes, and nothing of it is left."""

import json
import os
import re
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from support.warm_session import WarmSession

pytestmark = pytest.mark.terminal
HOST = Path(__file__).parents[1] / "support" / "tui_host.py"


class Host(WarmSession):
    """tui_host.py at its first screen."""

    def __init__(self, tmp_path, scenario="", *, size=(80, 24), env=None, shell="", title="run-end: run #3"):
        self.report_path = tmp_path / "report.json"
        command = [sys.executable, str(HOST), scenario, str(self.report_path)]
        if shell:
            command = ["/bin/sh", "-c", shell.replace("HOST", shlex.join(command))]
        super().__init__(command, *size, env={"HOME": str(tmp_path), **(env or {})})
        if scenario != "slow":
            self.wait(title)
            self.wait("q leave" if size[0] >= 80 else "tfdbg>")

    def report(self):
        return json.loads(self.report_path.read_text())

    def walked(self, *steps):
        """Press keys, and see what each shows before the next: pairs of both."""
        for keys, shown in steps:
            self.send(keys)
            self.wait(shown)

    def left(self):
        """Leave without a watch; the program finds its terminal, handlers and options as they were."""
        self.send("qd")
        assert self.finish() == 0
        assert self.report()["different"] == {}


def test_a_stop_comes_and_goes_and_leaves_nothing_behind(tmp_path):
    host = Host(tmp_path)
    assert host.screen.alternate
    host.send("jj<enter>")
    host.wait(lambda: "› pt" in host.text() and "Enter: pt w:0" not in host.text())  # the whole screen is drawn
    host.send("<esc>")
    host.wait("Enter: pt w:0")
    host.send("r")
    assert host.finish() == 0
    assert host.report() == {"decisions": [repr_of_run()], "different": {}}
    assert host.raw.count("\x1b[?1049h") == host.raw.count("\x1b[?1049l") == 1
    assert host.raw.rindex("\x1b[?1000l") > host.raw.rindex("\x1b[?1000h")
    text = host.text()
    assert text.index("before the stop") < text.index("tfdbg: run #3, left at `lt`") < text.index("after the stop")
    assert "q leave" not in text


def test_what_is_pasted_is_typed_and_runs_nothing(tmp_path):
    host = Host(tmp_path)
    assert "\x1b[?2004h" in host.raw, (
        "the terminal is asked to say what is pasted, whether it says that it can or not"
    )
    host.child.send("\x1b[200~lt\rqcr\r\x1b[201~")
    host.wait("tfdbg> lt qcr")
    host.send("<esc>")
    host.wait("To type a command, press :")
    host.left()
    assert host.raw.rindex("\x1b[?2004l") > host.raw.rindex("\x1b[?2004h")


def repr_of_run():
    from tfdbg_cli.model.decision import DebugRun

    return repr(DebugRun())


@pytest.mark.parametrize("scenario", ["handlers", "thread", ""])
def test_handlers_modes_and_options_are_as_before(tmp_path, scenario):
    """TensorFlow's tfdbg: SIGINT handler not restored (curses); global numpy printoptions leak."""
    host = Host(tmp_path, scenario)
    host.send(":config theme light<enter>")
    host.wait("theme is light now")
    host.resize(100, 30)
    host.wait(lambda: "q leave" in host.screen.display[29])
    host.send("qd")
    assert host.finish() == 0
    report = host.report()
    assert report["different"] == {}
    assert report.get("resized", False) is (scenario == "handlers")


def test_ctrl_c_is_ours_while_the_screen_is_up(tmp_path):
    host = Host(tmp_path)
    host.send("<ctrl c>")
    host.wait("Ctrl-C again asks how to leave")
    host.send("<ctrl c>")
    host.wait("How do you want to leave?")
    host.send("<esc>")
    host.wait(lambda: "How do you want" not in host.text())
    host.send("<ctrl c>")
    host.wait("Ctrl-C again asks how to leave")
    host.send("<ctrl c>")
    host.wait("How do you want to leave?")
    host.send("a")
    assert host.finish() == 0
    assert host.report() == {"decisions": ["Abort()"], "different": {}}


def test_ctrl_c_does_not_reach_other_processes_of_the_program(tmp_path):
    """A blind test: one Ctrl-C at a stop killed the worker that fed the batches, and the training with it."""
    host = Host(tmp_path, "worker")
    host.send("<ctrl c>")
    host.wait("Ctrl-C again asks how to leave")
    host.send(":slow<enter>")
    host.wait("slow: working")
    host.send(":abc<ctrl c>")
    host.wait(lambda: "slow: working" not in host.text() and "abc" in host.text())
    host.send("<ctrl c>")
    host.wait(lambda: "abc" not in host.text())
    host.send("<ctrl c>")
    host.wait("How do you want to leave?")
    host.send("d")
    assert host.finish() == 0
    report = host.report()
    assert (report["signal that ended the worker"], report["different"]) == (0, {})


def test_a_screen_in_a_thread_gives_the_terminal_back_when_the_program_ends(tmp_path):
    """A blind test: the terminal stayed raw, and what had been printed since was lost."""
    host = Host(tmp_path, "daemon")
    host.wait("loss/Mean")
    (tmp_path / "goes on").touch()
    assert host.finish() == 0
    host.wait("the main thread is at its end")
    assert "loss/Mean" not in host.text()


def test_ctrl_c_in_another_thread_does_not_end_the_program(tmp_path):
    host = Host(tmp_path, "thread")
    host.send("<ctrl c>")
    host.wait("Ctrl-C again asks how to leave")
    host.send("qd")
    assert host.finish() == 0
    assert host.report()["decisions"] == ["Detach()"]


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells what threads wait for")
def test_it_says_that_keys_may_go_to_a_program_that_asks(tmp_path):
    host = Host(tmp_path, "asked")
    host.wait("The thread MainThread of the program waits for what is typed, too")
    host.send("qd")
    assert host.finish() == 0
    assert host.report()["different"] == {}


def test_a_slow_command_says_so_and_ctrl_c_stops_it(tmp_path):
    host = Host(tmp_path)
    host.send(":slow<enter>")
    host.wait("slow: working")
    host.send("<ctrl c>")
    host.wait("Stopped: slow.")
    host.send("r")
    assert host.finish() == 0
    assert host.report()["decisions"] == [repr_of_run()]


def test_a_slow_opening_can_be_stopped_too(tmp_path):
    host = Host(tmp_path, "slow")
    host.wait("slow: working")
    host.send("<ctrl c>")
    host.wait("Stopped: slow.")
    host.send(":lt<enter>")
    host.wait("20 tensors")
    host.send("r")
    assert host.finish() == 0
    assert host.report() == {"decisions": [repr_of_run()], "different": {}}


def test_what_is_printed_meanwhile_neither_tears_the_screen_nor_is_lost(tmp_path):
    host = Host(tmp_path)
    host.send(":chatter<enter>")
    host.wait("chattered")
    assert "spooled" not in host.text()
    host.send("r")
    host.finish()
    order = ["before the stop", "spooled one", "spooled two", "spooled three", "spooled four", "tfdbg:", "after the"]
    text = host.text()
    places = [text.index(words) for words in order]
    assert places == sorted(places)
    assert host.report()["different"] == {}


def test_the_terminal_as_the_program_left_it_is_shown_until_a_key(tmp_path):
    host = Host(tmp_path)
    host.send(":chatter<enter>")
    host.wait("chattered")
    host.wait("output (p)")
    host.send("p")
    host.wait("any key comes back")
    shown = host.text()
    places = [shown.index(words) for words in ("before the stop", "spooled one", "spooled four", "any key")]
    assert places == sorted(places)
    host.send("j")
    host.wait("q leave")
    assert "output (p)" not in host.text()
    assert "any key comes back" not in host.text()
    host.send("r")
    host.finish()
    assert host.text().count("spooled one") == 1
    assert "any key comes back" not in host.text()
    assert host.report()["different"] == {}


def test_a_line_of_the_program_that_has_no_end_stays(tmp_path):
    """A blind test: "any key comes back" stood in the place of a progress bar, and then nothing did."""
    host = Host(tmp_path)
    host.send(":mumble<enter>")
    host.wait("mumbled")
    for _ in range(2):
        host.send("p")
        host.wait("any key comes back")
        rows = [row.rstrip() for row in host.text().splitlines()]
        assert rows[rows.index("tfdbg: any key comes back") - 1] == "  4% ###"
        host.send("x")
        host.wait("q leave")
    host.send("r")
    assert host.finish() == 0
    assert "  4% ###" in host.text() and "any key comes back" not in host.text()


def test_the_screen_that_a_program_has_by_curses_is_left_and_drawn_anew(tmp_path):
    """A blind test: what a program drew after a stop came amid old lines of the shell."""
    host = Host(tmp_path, "curses")
    assert host.raw.count("the screen of the program") == 1
    host.send("p")
    host.wait("any key comes back")
    assert "the screen of the program" in host.text()
    host.send("x")
    host.wait("q leave")
    host.send("qd")
    assert host.finish() == 0
    assert host.report()["different"] == {}
    assert host.raw.count("the screen of the program") == 3
    assert "tfdbg: run #3" in host.text() and "the screen of the program" not in host.text()


def test_a_deadly_signal_draws_no_screen_of_the_program(tmp_path):
    host = Host(tmp_path, "curses")
    os.kill(host.child.pid, signal.SIGTERM)
    assert host.finish() == 1, "as curses ends a program"
    assert host.raw.count("the screen of the program") == 1 and not host.screen.alternate


def test_standard_output_in_a_file_is_left_alone(tmp_path):
    host = Host(tmp_path, shell=f"HOST > {tmp_path}/out.txt </dev/null")
    host.send(":chatter<enter>")
    host.wait("chattered")
    assert "spooled one" in (tmp_path / "out.txt").read_text()
    assert "spooled two" not in host.text()
    host.send("r")
    assert host.finish() == 0
    assert "spooled two" in host.text()
    assert "tfdbg" not in (tmp_path / "out.txt").read_text()


def test_the_second_stop_is_as_the_first_and_keeps_what_was_set(tmp_path):
    """TensorFlow's tfdbg: config lost between screens."""
    host = Host(tmp_path, "twice")
    host.send("\x1bm:config theme contrast<enter>")
    host.wait("theme is contrast now")
    first = host.raw
    host.send("r")
    host.wait(lambda: host.raw.count("\x1b[?1049h") == 2 and "q leave" in host.text())
    assert "mouse off" in host.text()
    host.send("c")
    assert host.finish() == 0
    assert host.report() == {"decisions": [repr_of_run(), "Continue()"], "different": {}}
    assert host.raw.count("\x1b[?1049h") == host.raw.count("\x1b[?1049l") == 2
    assert "?1000h" not in host.raw[len(first) :]


def test_sizes_change_while_it_runs(tmp_path):
    host = Host(tmp_path, size=(80, 24))
    host.send("G")
    host.wait("23/23")
    host.resize(120, 40)
    host.wait(lambda: "t tensors" in host.screen.display[39])
    assert "23/23" in host.text()
    host.resize(30, 8)
    host.wait("tfdbg needs a screen")
    host.resize(60, 14)
    host.wait("23/23")
    host.send("r")
    assert host.finish() == 0


def test_a_long_search_shows_what_is_typed_and_how_far_it_is_and_ctrl_c_stops_it(tmp_path):
    """It drew nothing before every line was looked at."""
    host = Host(tmp_path)
    host.send(":endless<enter>")
    host.wait("row 3")
    host.send("/zz")
    host.wait(lambda: re.search(r"/zz .*% searched", host.text()))
    host.send("9")
    host.wait(lambda: re.search(r"/zz9 .*% searched", host.text()))
    host.send("<ctrl c>")
    host.wait("stopped")
    host.send("<esc>")
    host.wait(lambda: "Esc cancel" not in host.text())
    host.send("qd")
    assert host.finish() == 0


def test_system_exit_in_a_command_gives_the_terminal_back(tmp_path):
    host = Host(tmp_path)
    host.send(":leaves<enter>")
    assert host.finish() == 7
    assert host.report()["different"] == {}
    assert host.raw.count("\x1b[?1049h") == host.raw.count("\x1b[?1049l") == 1


@pytest.mark.parametrize("name", ["SIGTERM", "SIGHUP", "SIGQUIT", "SIGUSR1", "SIGUSR2", "SIGALRM"])
def test_a_deadly_signal_ends_the_program_but_not_with_the_screen_up(tmp_path, name):
    host = Host(tmp_path, shell="ulimit -c 0; exec HOST")
    os.kill(host.child.pid, signal.Signals[name])
    assert host.finish() == -signal.Signals[name]
    assert host.raw.count("\x1b[?1049h") == host.raw.count("\x1b[?1049l") == 1
    assert host.raw.rindex("\x1b[?1000l") > host.raw.rindex("\x1b[?1000h"), "the mouse is let go"


@pytest.fixture
def shell_of_its_own(tmp_path):
    """A shell that makes itself the group that has the terminal, as interactive ones do, and says who it is."""
    script = tmp_path / "shell"
    script.write_text(
        f"""#!{sys.executable}
import os, signal, time
signal.signal(signal.SIGTTOU, signal.SIG_IGN)
os.setpgrp()
os.tcsetpgrp(0, os.getpgrp())
print("the shell is", os.getpid(), "of", os.getppid(), flush=True)
time.sleep(60)
"""
    )
    script.chmod(0o700)
    return script


def shell_and_program(host):
    """The process ids of `shell_of_its_own` and of what runs it, once it has the terminal."""
    host.wait(lambda: re.search(r"the shell is \d+ of \d+", host.text()))
    found = re.search(r"the shell is (\d+) of (\d+)", host.text())
    return int(found[1]), int(found[2])


@pytest.mark.parametrize("name", ["SIGTERM", "SIGHUP"])
def test_a_deadly_signal_ends_the_program_while_a_shell_has_the_terminal(tmp_path, shell_of_its_own, name):
    """A blind test: the program was stopped (SIGTTOU) when it set the modes of a terminal that was the shell's."""
    # As a job of a shell: a group without one is not stopped, setting modes fails there.
    host = Host(tmp_path, shell="set -m; HOST; echo ended by $?; exit 0", env={"SHELL": str(shell_of_its_own)})
    host.send("!")
    os.kill(shell_and_program(host)[1], signal.Signals[name])
    host.wait(f"ended by {128 + signal.Signals[name]}")
    assert host.finish() == 0
    assert host.screen.alternate is False


def test_a_shell_that_is_killed_comes_back_to_the_screen(tmp_path, shell_of_its_own):
    host = Host(tmp_path, env={"SHELL": str(shell_of_its_own)})
    host.send("!")
    os.kill(shell_and_program(host)[0], signal.SIGKILL)
    host.wait("q leave")
    host.left()


def test_a_signal_that_c_code_handles_is_left_to_it(tmp_path):
    host = Host(tmp_path, "faulthandler")
    os.kill(host.child.pid, signal.SIGUSR1)
    host.send("r")
    assert host.finish() == 0
    assert "most recent call first" in (tmp_path / "report.faults").read_text()


@pytest.mark.parametrize("environ", [{"NO_COLOR": "1"}, {"TERM": "vt100"}], ids=["NO_COLOR", "vt100"])
def test_no_colours_when_the_person_wants_none_or_the_terminal_has_none(tmp_path, environ):
    host = Host(tmp_path, env=environ)
    host.send("jr")
    host.finish()
    assert not re.search(r"\x1b\[[\d;]*\b(3[0-7]|4[0-7]|9[0-7]|[34]8;5;\d+)[;m]", host.raw)
    assert "▸" in host.raw


def test_a_program_that_logs_everything_does_not_get_our_keys(tmp_path):
    host = Host(tmp_path, "logging")
    host.send("jjkk")
    host.send("r")
    assert host.finish() == 0
    assert "urwid" not in (tmp_path / "report.log").read_text()


def test_nothing_is_written_before_something_is_typed(tmp_path):
    host = Host(tmp_path)
    host.send("jjr")
    host.finish()
    assert [path.name for path in tmp_path.iterdir()] == ["report.json"]
    host = Host(tmp_path)
    host.send(":lt -s size<enter>")
    host.wait("› lt -s size")
    host.send("r")
    host.finish()
    assert (tmp_path / ".local/state/tfdbg_cli/history").read_text() == "lt -s size\n"


def test_a_terminal_that_goes_away_does_not_end_the_program(tmp_path):
    host = Host(tmp_path, shell="trap '' HUP; exec HOST")
    os.close(host.child.child_fd)
    end = time.monotonic() + 120
    while not host.report_path.exists() and time.monotonic() < end:
        host.child.isalive()
    assert host.report()["decisions"] == ["Detach()"]


def test_without_a_terminal_there_is_a_sentence(tmp_path):
    code = (
        f"import sys; sys.argv=['x','','{tmp_path}/r.json']; sys.path.insert(0, {str(HOST.parents[1])!r});"
        "from support import sample_run, tui_host; tui_host.frontend().stop(sample_run.run_end())"
    )
    ended = subprocess.run(
        [sys.executable, "-c", code], stdin=subprocess.DEVNULL, capture_output=True, text=True, start_new_session=True
    )
    assert "There is no terminal to draw on" in ended.stderr
    assert ended.stdout == ""


def test_a_list_is_filtered_as_one_types(tmp_path):
    host = Host(tmp_path, "filter")
    host.send("floss nam>")
    host.wait("Column 6: there is no fact 'nam'.")
    host.send("<backspace><backspace>n>0")
    host.wait("filter loss and nan>0: 2 of 20 rows")
    assert "dense/MatMul" not in host.text()
    host.send("<enter>")
    host.wait("Enter: pt loss/mul:0")
    host.send("fx")
    host.wait("filter> loss nan>0x")
    host.send("<esc>")
    host.wait("To type a command, press :")
    host.send("<ctrl o>")
    host.wait("dense/MatMul")
    host.send("qd")
    assert host.finish() == 0
    assert host.report()["different"] == {}


def test_the_health_of_the_rows_in_sight_comes_by_itself(tmp_path):
    host = Host(tmp_path, "filter", size=(200, 24))
    host.wait("│ x:0")
    host.send("z")  # beside the preview there is no room for all columns
    host.wait("▄  ▄█ ▄▄  train.py:8")  # the logarithm
    host.send("w")
    host.wait("NaN!")
    host.wait("Enter: pt loss/Log:0")  # which has as many as its reader, and ran before it
    host.send("qd")
    assert host.finish() == 0
