"""`tfdbg attach`: a program in one process, its prompt in another. Nobody who goes takes the program along."""

from __future__ import annotations

import json
import os
import signal
import subprocess

import pytest
from support.attached import Guest, Job, job, wait_for
from support.launched import begun, python

from tfdbg_cli.cli.listen_options import exit_code_of
from tfdbg_cli.cli.main import main

pytestmark = pytest.mark.tf
LISTEN = ("--listen", "127.0.0.1:0")


def _attach(made: Job, *words: object, **environ: str) -> subprocess.CompletedProcess[str]:
    return python("-m", "tfdbg_cli", "attach", *words, folder=made.folder, environ={**made.environ, **environ})


def _commands(*commands: str) -> list[str]:
    return [word for command in commands for word in ("-c", command)]


def test_commands_are_carried_out_at_the_next_run_and_the_program_goes_on() -> None:
    with job(*LISTEN) as made:
        done = _attach(made, made.address, *_commands("run", "pt Log:0", "shell", "pdb", "nonsense"))
        assert done.returncode == 1
        assert "run-end: run #" in done.stdout
        assert "tfdbg> pt Log:0\nTensor Log:0" in done.stdout
        assert done.stdout.count("needs the terminal of the program") == 2
        assert "There is no command 'nonsense'" in done.stdout
        assert "Waits for the next run of the job" in done.stderr
        again = _attach(made, made.address, *_commands("ri"))
        assert (again.returncode, "Captured (1)" in again.stdout) == (0, True)
        code, out, err = made.end()
    assert (code, out) == (7, "ends\n")
    assert err.startswith("tfdbg: Listening on 127.0.0.1:")
    assert "a token for tests" not in err


def test_a_port_alone_is_one_of_this_machine_where_a_token_is_given() -> None:
    with job(*LISTEN) as made:
        done = _attach(
            made, str(made.address.port), "--token", made.environ["TFDBG_TOKEN"], *_commands("run", "pt Log:0")
        )
        assert (done.returncode, "Tensor Log:0" in done.stdout) == (0, True)
        made.end()


def test_json_is_what_it_is_elsewhere() -> None:
    with job(*LISTEN) as made:
        done = _attach(made, made.address, "--json", *_commands("run", "pt Log:0", "run", "nonsense"))
        rows = [json.loads(row) for row in done.stdout.splitlines()]
        assert [row.get("kind", "error" in row) for row in rows] == ["decision", "tensor", "decision", True]
        assert (rows[0]["exact"], rows[2]["exact"]) == (True, True)
        assert done.returncode == 1
        made.end()


def test_a_wrong_token_is_refused_and_tells_nothing() -> None:
    with job(*LISTEN) as made:
        done = _attach(made, made.address, *_commands("lt"), TFDBG_TOKEN="another token")
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr == "tfdbg: Not attached: The token is missing or wrong.\n"
        guest = Guest(made.address, token="")
        assert guest.channel.receive(240) == {"kind": "refused", "text": "The token is missing or wrong."}
        assert guest.channel.receive(240) is None
        made.end()


def test_a_client_that_is_killed_at_a_prompt_lets_the_program_go_on() -> None:
    with job(*LISTEN) as made:
        guest = Guest(made.address, interactive=True, opening=True)
        guest.until("read")
        assert "How to go on" in guest.text
        guest.say("run")
        guest.until("read")
        guest.vanish()
        assert _attach(made, made.address, *_commands("ri")).returncode == 0
        assert made.end()[0] == 7


def test_only_one_is_attached_at_a_time() -> None:
    with job(*LISTEN) as made:
        first = Guest(made.address)
        first.until("read")
        second = _attach(made, made.address, *_commands("lt"))
        assert (second.returncode, second.stdout) == (2, "")
        assert "Somebody is attached to this program already." in second.stderr
        first.channel.send("leave")
        first.until("bye")
        made.end()


def test_who_waits_is_told_that_the_program_has_ended() -> None:
    with job(*LISTEN) as made:
        guest = Guest(made.address)
        guest.until("read")
        guest.say("continue")
        guest.until("goes_on")
        made.end()
        assert guest.until("ended")["code"] == 7


def test_a_watch_of_the_client_stops_at_the_client() -> None:
    with job(*LISTEN) as made:
        guest = Guest(made.address)
        guest.until("read")
        guest.say("run -f has_inf_or_nan")
        guest.until("goes_on")
        made.touch("nan")
        guest.until("read")
        assert "passed has_inf_or_nan" in guest.text
        guest.say("detach")
        assert guest.until("bye")["text"] == "Detached: the program goes on undebugged."
        assert made.end()[:2] == (7, "ends\n")


def test_a_hit_with_nobody_attached_is_printed_and_the_program_goes_on() -> None:
    with job(*LISTEN, "--until", "has_inf_or_nan") as made:
        guest = Guest(made.address)
        guest.until("read")
        guest.say("continue")  # the watch is off
        guest.until("goes_on")
        guest.vanish()  # and on again
        later = Guest(made.address)
        while (message := later.channel.receive(240)) is None or message["kind"] == "refused":
            later = Guest(made.address)  # the program has not noticed yet that the first one is gone
        later.until("read")
        later.channel.send("leave")
        later.until("bye")
        made.touch("nan")
        wait_for(made.is_seen)
        code, out, err = made.end()
    assert code == 7
    assert "passed has_inf_or_nan" in out
    assert "Log of a negative number" in out
    assert "nobody is attached: the program goes on undebugged." in out + err


def test_ctrl_c_of_the_client_asks_for_a_stop_and_is_not_the_programs() -> None:
    with job(*LISTEN) as made:
        guest = Guest(made.address, interactive=True)
        guest.until("read")
        guest.channel.send("interrupt")
        guest.until("read")
        assert "Interrupted. Ctrl-C again asks how to leave." in guest.text
        guest.channel.send("complete", text="contin", request=7)
        completed = guest.until("completions")
        assert (completed["candidates"], completed["request"]) == (["continue"], 7)
        guest.say("continue")
        guest.until("goes_on")
        guest.channel.send("stop")
        guest.until("read")
        guest.channel.send("leave")
        guest.until("bye")
        assert made.end()[0] == 7


def test_a_ctrl_c_that_the_program_gets_is_its_own() -> None:
    program = """
import tensorflow as tf
step = tf.function(lambda x: x + 1)
try:
    while True:
        step(tf.constant(1.0))
except KeyboardInterrupt:
    print("interrupted", flush=True)
"""
    with job(*LISTEN, program=program) as made:
        guest = Guest(made.address, interactive=True)
        guest.until("read")
        os.kill(made.pid, signal.SIGINT)
        assert guest.until("ended")["code"] == 0
        assert made.end()[:2] == (0, "interrupted\n")


def test_a_forked_child_leaves_the_connection_to_its_parent() -> None:
    program = """
import os, time
import tensorflow as tf
step = tf.function(lambda x: x + 1)
while not os.path.exists("end"):
    time.sleep(0.002)  # leaves the processor to those who watch
    step(tf.constant(1.0))
    if os.path.exists("nan"):
        os.remove("nan")
        child = os.fork()
        if not child:
            os._exit(3)  # TensorFlow does not let a child end in another way
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
        open("seen", "w").close()
"""
    with job(*LISTEN, program=program) as made:
        guest = Guest(made.address)
        guest.until("read")
        guest.say("continue")
        guest.until("goes_on")
        made.touch("nan")
        wait_for(made.is_seen)
        guest.channel.send("stop")
        guest.until("read")  # the parent's, as before
        guest.channel.send("leave")
        guest.until("bye")
        assert made.end()[:2] == (0, "3\n")


def test_a_dormant_program_is_found_by_number_and_name_and_is_untouched_without_a_client() -> None:
    program = """
import os, time
import tensorflow as tf
kind = type(tf.function(lambda: 1))
plain = kind.__call__
step = tf.function(lambda x: tf.math.log(x))
touched = False
while not os.path.exists("end"):
    time.sleep(0.002)  # leaves the processor to those who watch
    step(tf.constant(2.0))
    touched = touched or kind.__call__ is not plain
    if os.path.exists("nan"):
        print(touched, kind.__call__ is plain, flush=True)
        os.remove("nan")
        open("seen", "w").close()
print(touched, kind.__call__ is plain, flush=True)
"""
    with job("--dormant", program=program) as made:
        found = made.folder / "tfdbg" / f"{made.pid}.socket"
        made.touch("nan")
        wait_for(made.is_seen)
        assert found.is_socket()
        for name in (made.pid, "job", "job.py", made.folder / "job.py"):
            done = _attach(made, name, *_commands("run", "pt Log:0"))
            assert (done.returncode, "0.6931472" in done.stdout) == (0, True), done.stderr
        with job("--dormant") as other:
            wait_for(lambda: (other.folder / "tfdbg" / f"{other.pid}.socket").exists())
            os.rename(other.folder / "tfdbg" / f"{other.pid}.socket", found.with_name("1.socket"))
            several = _attach(made, *_commands("lt"))
            assert (several.returncode, several.stdout) == (1, "")
            assert f"\n  {made.pid}  job.py since " in several.stderr
        alone = _attach(made, *_commands("ri"))  # the other one is dead, and its socket goes
        assert alone.returncode == 0
        assert not found.with_name("1.socket").exists()
        assert made.end()[:2] == (0, "False True\nTrue True\n")
        assert list(found.parent.iterdir()) == []
        nobody = _attach(made, *_commands("lt"))
        assert (nobody.returncode, nobody.stderr[:47]) == (2, "tfdbg: No program of yours listens here. `tfdbg"[:47])


def test_a_client_may_come_before_tensorflow() -> None:
    program = """
import os, time
while not os.path.exists("go"):
    time.sleep(0.002)  # leaves the processor to those who watch
import tensorflow as tf
step = tf.function(lambda x: x + 1)
while not os.path.exists("end"):
    time.sleep(0.002)  # leaves the processor to those who watch
    step(tf.constant(2.0))
"""
    for how in ((), ("--dormant",), ("--watch",)):
        with job(*LISTEN, *how, program=program) as made:
            guest = Guest(made.address)
            guest.until("waits")
            made.touch("go")
            guest.until("read")
            guest.channel.send("leave")
            guest.until("bye")
            assert made.end()[0] == 0


def test_a_client_whose_connection_is_lost_says_so() -> None:
    with job(*LISTEN) as made:
        client = begun(
            "-m", "tfdbg_cli", "attach", made.address, "-c", "continue", "-c", "lt",
            folder=made.folder, environ=made.environ,
        )  # fmt: skip
        assert "run-start" in client.stdout.readline() + client.stdout.readline()
        assert client.stdout.readline() == "tfdbg> continue\n"
        made.kill()
        _, said = client.communicate(timeout=240)
        assert client.returncode == 2
        assert "The connection to the program is lost." in said


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--dormant", "--until", "has_nan"], "--dormant has nothing watched before somebody attaches."),
        (["--dormant", "--record", "runs"], "--dormant has nothing recorded before somebody attaches."),
        (["--dormant", "--trends"], "--dormant looks at no runs before somebody attaches, and --trends does."),
        (["--listen", "x"], "'x' is no address."),
        (["--listen", ""], "'' is no address."),
        (["--listen", "127.0.0.1:0", "-c", "lt"], "--listen and -c exclude each other."),
        (["--dormant", "--ui", "tui"], "--dormant and --ui exclude each other"),
    ],
)
def test_options_that_make_no_sense_are_told(words, sentence, tmp_path, monkeypatch, capsys) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "x.py").write_text("")
    assert main(["run", *words, "x.py"]) == 1
    assert sentence in capsys.readouterr().err


def test_a_token_has_to_be_given(monkeypatch, capsys) -> None:
    monkeypatch.delenv("TFDBG_TOKEN", raising=False)
    assert main(["attach", "127.0.0.1:1"]) == 1
    assert "A token is needed there." in capsys.readouterr().err


def test_exit_codes_are_those_of_python() -> None:
    ends = [None, SystemExit(), SystemExit(3), SystemExit("text"), KeyboardInterrupt(), ValueError()]
    assert [exit_code_of(error) for error in ends] == [0, 0, 3, 1, 130, 1]
