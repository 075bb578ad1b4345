"""`tfdbg run --unattended`: what is done with a finding where nobody is."""

from __future__ import annotations

import pytest
from support.attached import Guest, job, wait_for
from support.launched import python

from tfdbg_cli.cli.main import main
from tfdbg_cli.cli.unattended import bundle_for

pytestmark = pytest.mark.tf
WAITS = ("--until", "has_inf_or_nan", "--unattended", "wait")
DYING = """
import tensorflow as tf
step = tf.function(lambda x: tf.strings.to_number(x))
step(tf.constant("1"))
step(tf.constant("one"))
"""


def _found(made) -> None:
    made.touch("nan")
    wait_for(lambda: "The program waits here" in made.errors)
    assert not made.is_seen()


def test_a_program_waits_at_its_finding_until_somebody_decides() -> None:
    with job("--listen", "127.0.0.1:0", *WAITS) as made:
        address = made.address
        _found(made)
        for _ in range(2):
            guest = Guest(address)
            guest.until("read")
            guest.say("origin")
            guest.until("read")
            assert "Log" in guest.text
            guest.channel.send("leave")
            assert guest.until("bye")["text"].startswith("Left: the program still waits")
            assert not made.is_seen()
        lost = Guest(address)
        lost.until("read")
        lost.vanish()
        guest = Guest.when_free(address)
        guest.until("read")
        guest.say("run")  # and no stop before that run, for somebody who is there already
        guest.until("goes_on")
        wait_for(made.is_seen)
        guest.until("read")
        guest.say("ri")
        guest.until("read")
        assert "Run-end" in guest.text or "run-end" in guest.text
        guest.channel.send("leave")
        guest.until("bye")
        code, out, err = made.end()
    assert code == 7
    assert "The program waits here until somebody attaches and decides how it goes on: tfdbg attach 127" in err
    assert out.startswith("\n--- run-end: run #")
    assert out.endswith("\nends\n")
    assert "goes on undebugged" not in out + err


def test_who_leaves_at_a_finding_that_they_waited_for_leaves_the_program_there() -> None:
    with job("--listen", "127.0.0.1:0", *WAITS) as made:
        guest = Guest(made.address)
        guest.until("read")
        guest.say("run -f has_nan")
        guest.until("goes_on")
        made.touch("nan")
        guest.until("read")
        guest.channel.send("leave")
        assert guest.until("bye")["text"].startswith("Left: the program still waits")
        wait_for(lambda: "The program waits here" in made.errors)
        assert not made.is_seen()
        last = Guest(made.address)
        last.until("read")
        last.say("detach")
        assert last.until("bye")["text"].startswith("Detached")
        assert made.end()[0] == 7


def test_without_an_address_it_listens_for_its_user() -> None:
    with job(*WAITS) as made:
        _found(made)
        assert f"tfdbg attach {made.pid}" in made.errors
        done = python(
            "-m", "tfdbg_cli", "attach", str(made.pid), "-c", "pt Log:0", "-c", "continue",
            environ=made.environ, folder=made.folder,
        )  # fmt: skip
        assert (done.returncode, "nan" in done.stdout) == (0, True), done.stderr
        assert "It stands at what was found: the prompt opens." in done.stderr
        wait_for(made.is_seen)
        assert made.end()[0] == 7


def test_it_waits_at_the_exception_that_ends_it() -> None:
    with job(*WAITS, program=DYING) as made:
        wait_for(lambda: "The program waits here" in made.errors)
        done = python(
            "-m", "tfdbg_cli", "attach", str(made.pid), "-c", "error_info", "-c", "detach",
            environ=made.environ, folder=made.folder,
        )  # fmt: skip
        assert "InvalidArgumentError" in done.stdout
        assert made.end()[0] == 1


@pytest.mark.parametrize("option", ["--unattended", "--bundle"])
def test_the_exception_that_ends_it_is_recorded(tmp_path, option) -> None:
    (tmp_path / "train.py").write_text(DYING)
    words = ("--unattended", "record") if option == "--unattended" else ("--bundle", "train-1.tfdbg")
    done = python("-m", "tfdbg_cli", "run", "--until", "has_inf_or_nan", *words, "train.py", folder=tmp_path)
    (made,) = (path.name for path in tmp_path.iterdir() if path.name.endswith(".tfdbg"))
    assert done.returncode == 1
    assert f"tfdbg replay {made}" in done.stdout.replace(f"{tmp_path}/", "")
    replayed = python("-m", "tfdbg_cli", "replay", made, "-c", "error_info", folder=tmp_path)
    assert "it fails as it did: InvalidArgumentError" in replayed.stdout + replayed.stderr


def test_an_exception_that_came_from_no_run_says_that_there_is_nothing_to_record(tmp_path) -> None:
    (tmp_path / "train.py").write_text(DYING.rpartition("step(")[0] + "raise ValueError('no op')\n")
    words = ("--until", "has_inf_or_nan", "--unattended", "record")
    done = python("-m", "tfdbg_cli", "run", *words, "train.py", folder=tmp_path)
    assert done.returncode == 1
    assert "No bundle was written: this exception came from no run of which" in done.stdout
    assert [path.name for path in tmp_path.iterdir()] == ["train.py"]


def test_a_finding_is_recorded(tmp_path) -> None:
    (tmp_path / "train.py").write_text(
        "import tensorflow as tf\nstep = tf.function(lambda x: tf.math.log(x))\nstep(tf.constant(-1.0))\n"
    )
    done = python(
        "-m", "tfdbg_cli", "run", "--until", "has_inf_or_nan", "--unattended", "record", "train.py", folder=tmp_path
    )
    made = [path for path in tmp_path.iterdir() if path.name.endswith(".tfdbg")]
    assert done.returncode == 0
    assert [path.name.startswith("train-") for path in made] == [True]
    assert made[0].name in done.stdout
    opened = python("-m", "tfdbg_cli", "open", made[0].name, "-c", "origin", folder=tmp_path)
    assert "Log" in opened.stdout


def test_a_folder_that_is_there_is_left_alone(tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    first = bundle_for("some/where/train.py")
    (tmp_path / first).mkdir()
    assert bundle_for("train.py") == first.replace(".tfdbg", "-2.tfdbg")


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--unattended", "wait"], "--unattended wait is about what a watch finds, and there is none."),
        (["--watch", "--unattended", "wait", "-c", "lt"], "--unattended and -c exclude each other"),
        (["--watch", "--unattended", "wait", "--ui", "tui"], "--unattended wait and --ui exclude each other"),
        (["--watch", "--unattended", "record", "--bundle", "b"], "both name a folder"),
    ],
)
def test_options_that_make_no_sense_are_told(words, sentence, tmp_path, monkeypatch, capsys) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "x.py").write_text("")
    assert main(["run", *words, "x.py"]) == 1
    assert sentence in capsys.readouterr().err
