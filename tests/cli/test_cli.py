"""The program `tfdbg`: arguments, messages, exit codes."""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from support import sample_run

from tfdbg_cli.api.launch_options import LaunchOptions, set_launch_options
from tfdbg_cli.cli import main as cli
from tfdbg_cli.cli.parser import Parser
from tfdbg_cli.cli.verbs import VERBS, verb_named
from tfdbg_cli.cli.verbs.run import watch_of
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.formats.dumps.writer import write_dump
from tfdbg_cli.model.decision import OnBenign, RunUntil, Values
from tfdbg_cli.version import __version__

ROOT = Path(__file__).parents[2]


@pytest.fixture(autouse=True)
def _options_come_back():
    before = set_launch_options(LaunchOptions())
    yield
    set_launch_options(before)


@pytest.fixture(scope="session")
def dump(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("dump") / "run"
    write_dump(sample_run.sample_run(), path)
    return path


def _tfdbg(*arguments: str, **more) -> subprocess.CompletedProcess[str]:
    environ = {**os.environ, "PYTHONPATH": str(ROOT)}
    given = {"stdin": subprocess.DEVNULL} if "input" not in more else {}
    return subprocess.run(
        [sys.executable, "-m", "tfdbg_cli", *arguments],
        capture_output=True, text=True, timeout=240, env=environ, **given, **more,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("arguments", "code", "sentence"),
    [
        (["replay", "no_such_folder"], 1, "There is no no_such_folder."),
        (["replay", "."], 1, ". is no bundle"),
        (["replay"], 1, "BUNDLE"),
        (
            ["compare", "a", "b"],
            1,
            "'compare'. Verbs: run, attach, listen, open, tail, doctor, diff, checkpoint, replay, info.",
        ),
        (
            ["opne", "x"],
            1,
            "'opne'. Verbs: run, attach, listen, open, tail, doctor, diff, checkpoint, replay, info.",
        ),
        ([], 1, "Nothing to do."),
        (["run"], 1, "No program is named."),
        (["run", "--ui", "gui", "x.py"], 1, "invalid choice: 'gui'"),
        (["run", "--fast", "x.py"], 1, "Unrecognized arguments: --fast."),
        (["run", "--wach", "x.py"], 1, "--wach. Did you mean --watch? `tfdbg run --help` lists what there is."),
        (["open", "x", "y"], 1, "Unrecognized arguments: y. `tfdbg open --help` lists what there is."),
        (["run", "no_such.py"], 1, "There is no script no_such.py."),
        (["run", "-"], 1, "A script is not taken from standard input by the name -."),
        (["run", "."], 1, "holds no __main__.py"),
        (["run", "-c"], 1, "-c/--command: expected one argument"),
        (["run", "--keep", "3", "-m", "x"], 1, "no filter named"),
        (["run", "--benign", "skip", "-m", "x"], 1, "no filter named"),
        (["run", "--watch", "--until", "has_nan", "-m", "x"], 1, "--watch and --until exclude each other."),
        (["run", "--watch", "--benign", "skip", "-m", "x"], 1, "--benign is about has_inf_or_nan"),
        (["run", "--until", "has_nan", "--keep", "x", "."], 1, "invalid int"),
        (["open"], 1, "PATH"),
        (["open", "no_such_folder"], 1, "no_such_folder"),
    ],
)
def test_mistakes_get_a_sentence_and_an_exit_code(arguments, code, sentence, tmp_path, monkeypatch, capsys) -> None:
    monkeypatch.chdir(tmp_path)
    assert cli.main(arguments) == code
    streams = capsys.readouterr()
    assert sentence in streams.err
    assert "Traceback" not in streams.err
    assert streams.out == ""


def test_a_forgotten_verb_is_guessed(tmp_path, capsys) -> None:
    (tmp_path / "train.py").write_text("")
    assert cli.main([str(tmp_path / "train.py")]) == 1
    assert cli.main([str(tmp_path)]) == 1
    shown = capsys.readouterr().err
    assert f"`tfdbg run {tmp_path / 'train.py'}`" in shown
    assert f"`tfdbg open {tmp_path}`" in shown


@pytest.mark.parametrize(
    ("words", "own", "program"),
    [
        ("run a.py -c lt", "run", "a.py -c lt"),
        ("run -c lt --json a.py --json", "run -c lt --json", "a.py --json"),
        ("run --ui=line -c=lt a.py", "run --ui=line -c=lt", "a.py"),
        ("run -m mod -m other", "run -m mod", "-m other"),
        ("run -mmod --ui x", "run -mmod", "--ui x"),
        ("run --module=mod x", "run --module=mod", "x"),
        ("run --ui line -- -odd.py x", "run --ui line", "-odd.py x"),
        ("run -m", "run -m", ""),
        (
            "run --until f --keep 3 --skip-update --bundle b a.py",
            "run --until f --keep 3 --skip-update --bundle b",
            "a.py",
        ),
        ("run --watch a.py --until x", "run --watch", "a.py --until x"),
        ("run --until f --benign skip a.py", "run --until f --benign skip", "a.py"),
    ],
)
def test_the_options_of_the_program_are_its_own(words, own, program) -> None:
    verb, *given = words.split()
    parser = Parser()
    verb_named(verb).prepare_parser(parser)
    assert parser.split(given) == (own.split()[1:], program.split())


def test_the_words_of_a_program_may_look_like_ours() -> None:
    options = cli.parser_of(["run"]).parse_args(["run", "-c", "lt", "a.py", "-c", "lt", "--json", "-x"])
    assert (options.commands, options.json, options.program) == (["lt"], False, ["a.py", "-c", "lt", "--json", "-x"])


def test_until_takes_the_wishes_of_a_watch(tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    words = "run --until has_nan -fenn ^grad --keep 3 --values keep --bundle case --skip-update"
    asked = _watch(words.removeprefix("run "))
    expected = RunUntil(
        "has_nan", "^grad", values=Values.KEEP, keep=3, bundle=str(tmp_path / "case"), skip_update=True
    )
    assert asked == expected
    assert _watch("") is None


def _watch(words: str) -> RunUntil | None:
    options = cli.parser_of(["run"]).parse_args(["run", *words.split()])
    return watch_of(options, options.bundle)


def test_watch_is_short_for_what_comes_out() -> None:
    assert _watch("--watch") == RunUntil("bad_result") == _watch("--until bad_result")
    assert _watch("--watch --keep 3 -fenn ^grad") == RunUntil("bad_result", "^grad", keep=3)


def test_what_is_benign_is_skipped_unless_the_person_says_otherwise() -> None:
    assert _watch("--until has_inf_or_nan") == RunUntil("has_inf_or_nan", benign=OnBenign.SKIP)
    assert _watch("--until has_inf_or_nan --benign skip") == RunUntil("has_inf_or_nan", benign=OnBenign.SKIP)
    assert _watch("--until has_inf_or_nan --benign stop") == RunUntil("has_inf_or_nan")
    assert _watch("--until has_nan") == RunUntil("has_nan", benign=OnBenign.STOP)


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ("--until has_inf_or_nan --benign maybe", "no way 'maybe' with what is benign"),
        ("--until f --benign stop", "is about has_inf_or_nan"),
        ("--until f --keep -1", "cannot be kept"),
        ("--until f --keep 1 --values replay", "replay keeps none"),
        ("--until f --values no", "no way"),
        ("--until f --bundle no_such/case", "no folder"),
        ("--until f -fenn [", "not a regular expression"),
    ],
)
def test_wishes_that_make_no_sense_are_refused_before_the_program_begins(words, sentence, tmp_path, capsys) -> None:
    program = tmp_path / "program.py"
    program.write_text("print('begun')")
    assert cli.main(["run", *words.split(), str(program)]) == 1
    streams = capsys.readouterr()
    assert sentence in streams.err
    assert streams.out == ""


def test_version_and_help_go_to_standard_output(capsys) -> None:
    for argument, expected in (("--version", f"tfdbg {__version__}"), ("--help", "open")):
        with pytest.raises(SystemExit) as ended:
            cli.main([argument])
        assert ended.value.code == 0
        assert expected in capsys.readouterr().out
    with pytest.raises(SystemExit):
        cli.main(["--help"])
    assert set(re.findall(r"^    (\w+) ", capsys.readouterr().out, re.MULTILINE)) == set(VERBS)


def test_info_names_versions_places_and_the_terminal(capsys) -> None:
    assert cli.main(["info"]) == 0
    shown = capsys.readouterr().out
    for word in (__version__, "python", "tensorflow", "urwid", "config.toml", "front end", "TERM"):
        assert word in shown


def test_open_feeds_commands_and_ends(dump) -> None:
    done = _tfdbg("open", str(dump), "-c", "version", "-c", "lt -n loss/Log")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("tfdbg> version\n")
    assert "tfdbg> lt -n loss/Log\n" in done.stdout
    assert "loss/Log:0" in done.stdout
    assert "\x1b" not in done.stdout


def test_a_failing_command_of_open_is_shown_the_next_ones_run_and_the_code_is_1(dump) -> None:
    done = _tfdbg("open", str(dump), "-c", "nonsense", "-c", "version")
    assert done.returncode == 1
    assert "There is no command 'nonsense'." in done.stdout
    assert "tfdbg> version" in done.stdout


@pytest.mark.parametrize("words", [["diff", "no_such", "nor_this"], ["doctor", "no_such"], ["replay", "no_such"]])
def test_what_keeps_a_verb_from_answering_is_told_to_scripts(words: list[str]) -> None:
    done = _tfdbg(*words, "--json")
    assert json.loads(done.stdout)["error"] == "There is no no_such."
    assert "There is no no_such." in done.stderr and done.returncode


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("open --json --bogus", "The following arguments are required: PATH."),
        ("run --bogus --json a.py", "Unrecognized arguments: --bogus."),
        ("run --json --until zero --until one a.py", "--until is given twice: a watch has one filter."),
        ("run --json -f zero -f one a.py", "-f is given twice: a watch has one filter."),
        ("run --bogus a.py --json", ""),
    ],
)
def test_what_is_wrong_with_the_words_is_told_to_scripts(words: str, told: str) -> None:
    done = _tfdbg(*words.split())
    assert done.returncode == 1
    if told:
        assert json.loads(done.stdout)["error"] == told
    else:
        assert not done.stdout, "what stands behind the program is for the program"


def test_open_answers_in_json(dump) -> None:
    done = _tfdbg("open", str(dump), "--json", "-c", "lt", "-c", "nonsense", "-c", "exit")
    answers = [json.loads(row) for row in done.stdout.splitlines()]
    assert [answer.get("kind") for answer in answers] == ["tensors", None, "decision"]
    assert answers[1]["error"]
    assert done.returncode == 1


def test_open_reads_commands_from_a_pipe(dump) -> None:
    done = _tfdbg("open", str(dump), input="version\nexit\n")
    assert done.returncode == 0
    assert "tfdbg> version" in done.stdout
    assert done.stderr == "tfdbg: The line prompt is used, since there is no terminal.\n" or (
        "standard input is not a terminal" in done.stderr
    )


def test_open_without_anybody_prints_the_first_screen_and_ends(dump) -> None:
    done = _tfdbg("open", str(dump))
    assert done.returncode == 0
    assert "loss/Log:0" in done.stdout


def test_open_loads_neither_tensorflow_nor_urwid(dump) -> None:
    check = (
        "import sys; from tfdbg_cli.cli.main import main; code = main(sys.argv[1:]); "
        "bad = {'tensorflow', 'urwid', 'keras', 'readline', 'multiprocessing'} & set(sys.modules); "
        "sys.exit(code or str(sorted(bad)) if bad else code)"
    )
    done = subprocess.run(
        [sys.executable, "-c", check, "open", str(dump), "-c", "lt", "-c", "version", "-c", "ri"],
        capture_output=True, text=True, timeout=240, env={**os.environ, "PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")


def test_a_verb_loads_itself_alone(dump) -> None:
    check = (
        "import sys; from tfdbg_cli.cli.main import main; main(sys.argv[1:]); "
        "ours = ('tfdbg_cli.cli.', 'tfdbg_cli.formats.bundles.'); "
        "print(*sorted(name for name in sys.modules if name.startswith(ours)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", check, "open", str(dump), "-c", "version"],
        capture_output=True, text=True, timeout=240, env={**os.environ, "PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    assert done.stdout.splitlines()[-1].split() == [
        "tfdbg_cli.cli.main", "tfdbg_cli.cli.parser", "tfdbg_cli.cli.prompt", "tfdbg_cli.cli.verbs",
        "tfdbg_cli.cli.verbs.open", "tfdbg_cli.cli.waiting", "tfdbg_cli.formats.bundles.layout",
    ]  # fmt: skip


def test_a_reader_that_leaves_early_is_no_error(dump) -> None:
    commands = [word for _ in range(40) for word in ("-c", "pt big:0 -a")]
    process = subprocess.Popen(
        [sys.executable, "-m", "tfdbg_cli", "open", str(dump), *commands],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, env={**os.environ, "PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    assert process.stdout.readline() == b"tfdbg> pt big:0 -a\n"
    process.stdout.close()
    assert process.stderr.read() == b""
    assert process.wait(240) == 0
    process.stderr.close()


@pytest.mark.parametrize("words", [["info"], ["open", "DUMP", "-c", "lt"], ["open", "DUMP", "-c", "lt", "--json"]])
@pytest.mark.parametrize(
    ("target", "sentence"), [(">&-", "Standard output is closed"), ("> /dev/full", "Cannot go on: No space left")]
)
def test_where_nothing_can_be_written_one_sentence_says_so(dump, words, target, sentence) -> None:
    if target.endswith("full") and not Path("/dev/full").exists():
        pytest.skip("this system has no /dev/full")
    command = " ".join(str(dump) if word == "DUMP" else word for word in words)
    done = subprocess.run(
        ["/bin/sh", "-c", f"'{sys.executable}' -m tfdbg_cli {command} {target}"],
        stderr=subprocess.PIPE, text=True, timeout=240, env={**os.environ, "PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    assert done.returncode == 2
    assert sentence in done.stderr
    assert done.stderr.count("\n") == 1


def test_an_option_that_no_help_lists_is_not_suggested() -> None:
    """`tfdbg listen --stat-only` named --stats-only, which `listen` then refused."""
    parser = Parser(prog="tfdbg listen")
    parser.add_argument("--stats-only", action="store_true", help=argparse.SUPPRESS)
    with pytest.raises(TfdbgError) as caught:
        parser.parse_args(["--stat-only"])
    assert caught.value.hint == "`tfdbg listen --help` lists what there is."
