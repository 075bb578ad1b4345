"""The line front end as a whole: scripts, pipes, JSON, and everything that can go wrong in a conversation."""

from __future__ import annotations

import io
import json
import os
import signal
import sys
from contextlib import nullcontext
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from support import sample_run

from tfdbg_cli.commands.registry import Command, Registry
from tfdbg_cli.commands.standard import standard_registry
from tfdbg_cli.config.settings import Settings
from tfdbg_cli.document.document import text_document
from tfdbg_cli.document.text import Span, Style, line
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.line.frontend import LineFrontend
from tfdbg_cli.line.script import Script
from tfdbg_cli.model.decision import Abort, Continue, DebugRun, Detach, RunUntil
from tfdbg_cli.model.runs import Opened


def _broken(context, options):
    return 1 / 0


def _interrupted(context, options):
    raise KeyboardInterrupt


def _mistaken(context, options):
    raise TfdbgError("There is no such thing.", hint="Try another.")


def _numbered(context, options, count=[0]):  # noqa: B006
    count[0] += 1
    return text_document("numbered", line(Span(f"answer {count[0]}", Style.NAME)), line("\x1b[2Jdog"))


def _registry() -> Registry:
    registry = standard_registry()
    for handler in (_broken, _interrupted, _mistaken, _numbered):
        registry.add(Command(handler.__name__.strip("_"), (), "", handler))
    return registry


REGISTRY = _registry()


def _front(*commands: str, as_json: bool = False) -> tuple[LineFrontend, io.StringIO]:
    output = io.StringIO()
    script = Script(commands) if commands else None
    return LineFrontend(REGISTRY, Settings(), script=script, json=as_json, output=output), output


def _piped(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO(text))


class _Person:
    """Somebody at the prompt, who goes on; `calls` is how the screen of the program stands meanwhile."""

    interactive = True
    echoes = False
    ending = ""

    def __init__(self, calls: list[str]) -> None:
        self._calls = calls
        self.seen: list[str] = []

    def opened(self, completer):
        return nullcontext()

    def silent(self) -> bool:
        return False

    def read(self, prompt: str = "tfdbg> ") -> str:
        self.seen = list(self._calls)
        return "run"


def test_a_screen_of_the_program_is_left_for_the_prompt(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[str] = []
    curses = SimpleNamespace(
        error=ValueError,
        isendwin=lambda: False,
        endwin=lambda: calls.append("left"),
        doupdate=lambda: calls.append("drawn"),
    )
    monkeypatch.setitem(sys.modules, "_curses", curses)
    person = _Person(calls)
    LineFrontend(REGISTRY, Settings(), source=person, output=io.StringIO()).stop(sample_run.run_end())
    assert (person.seen, calls) == (["left"], ["left", "drawn"])
    _front("version")[0].stop(sample_run.run_end())
    assert calls == ["left", "drawn"], "nobody is at a prompt"


def test_commands_are_echoed_and_answered_until_one_decides() -> None:
    front, output = _front("version", "run -t 3", "never")
    assert front.stop(sample_run.run_start()) == DebugRun(times=3)
    rows = output.getvalue().splitlines()
    # The program may have left half a line behind: a progress bar, a question.
    assert rows[:3] == ["", "--- run-start: run #3: 1 fetch (loss/Mean:0); 2 feeds ---", "tfdbg> version"]
    assert rows[-1] == "tfdbg> run -t 3"
    assert front.failures == 0


def test_commands_go_on_at_the_next_stop_and_then_the_program_runs_undebugged() -> None:
    front, output = _front("run -f has_inf_or_nan", "numbered")
    assert front.stop(sample_run.run_start()) == RunUntil("has_inf_or_nan")
    assert front.stop(sample_run.run_hit()) == Detach()
    assert "tfdbg> numbered\nanswer " in output.getvalue()
    before = output.getvalue()
    assert front.stop(sample_run.run_start()) == Detach()
    assert output.getvalue() == before


def test_a_failing_command_is_shown_with_its_hint_and_the_next_one_runs() -> None:
    front, output = _front("mistaken", "nonsense", "", "numbered")
    front.stop(sample_run.run_end())
    assert "tfdbg> mistaken\nThere is no such thing. Try another.\n" in output.getvalue()
    assert "There is no command 'nonsense'." in output.getvalue()
    assert "answer" in output.getvalue()
    assert front.failures == 2


def test_a_bug_in_a_command_never_ends_the_program(monkeypatch) -> None:
    front, output = _front("broken", "numbered")
    front.stop(sample_run.run_end())
    assert "`broken` failed by a bug of tfdbg: ZeroDivisionError" in output.getvalue()
    assert "Traceback" not in output.getvalue()
    assert "answer" in output.getvalue()
    monkeypatch.setenv("TFDBG_DEBUG", "1")
    front, output = _front("broken")
    front.stop(sample_run.run_end())
    assert "Traceback" in output.getvalue()


def test_an_empty_line_is_nothing(monkeypatch) -> None:
    """Defect of TensorFlow's prompt: an empty line was an error."""
    _piped(monkeypatch, "\n   \nnumbered\n")
    front, output = _front()
    front.stop(sample_run.run_end())
    assert "ERROR" not in output.getvalue()
    assert output.getvalue().count("tfdbg> ") == 1
    assert front.failures == 0


def test_the_end_of_standard_input_detaches(monkeypatch) -> None:
    """Defect of TensorFlow's prompt: EOF was not handled."""
    _piped(monkeypatch, "numbered")
    front, output = _front()
    assert front.stop(sample_run.run_end()) == Detach()
    assert "Standard input holds no more commands: the program goes on undebugged." in output.getvalue()


def test_nothing_is_said_on_standard_output_when_nobody_is_there(monkeypatch, capsys) -> None:
    _piped(monkeypatch, "")
    front, output = _front()
    assert front.stop(sample_run.run_start()) == Detach()
    assert output.getvalue() == ""
    assert capsys.readouterr().err == ("tfdbg: Standard input holds no commands: the program goes on undebugged.\n")


def test_nothing_is_said_at_all_where_rules_or_trends_see_the_runs(monkeypatch, capsys) -> None:
    for event in (sample_run.run_start(), sample_run.run_end()):
        _piped(monkeypatch, "")
        output = io.StringIO()
        front = LineFrontend(REGISTRY, Settings(), output=output, looked_after=True)
        assert front.stop(event) == Detach()
        assert "undebugged" not in output.getvalue() + capsys.readouterr().err
    _piped(monkeypatch, "version")
    front = LineFrontend(REGISTRY, Settings(), output=output, looked_after=True)
    front.stop(sample_run.run_start())
    assert "Standard input holds no more commands.\n" in output.getvalue()


def test_what_a_watch_found_is_shown_even_when_nobody_is_there(monkeypatch) -> None:
    _piped(monkeypatch, "")
    front, output = _front()
    assert front.stop(sample_run.run_hit()) == Detach()
    title = "--- run-end: run #3: 1 fetch (loss/Mean:0); 2 feeds passed has_inf_or_nan"
    assert output.getvalue().lstrip("\n").startswith(title)
    assert "Origin" in output.getvalue()


@pytest.mark.parametrize("stdin", [None, "closed"])
def test_without_a_standard_input_the_program_goes_on(monkeypatch, capsys, stdin) -> None:
    stream = io.StringIO()
    stream.close()
    monkeypatch.setattr(sys, "stdin", stream if stdin else None)
    front, _ = _front()
    assert front.stop(sample_run.run_start()) == Detach()
    assert "no standard input" in capsys.readouterr().err


def test_a_stop_opens_with_its_title_and_its_first_screen(monkeypatch) -> None:
    _piped(monkeypatch, "continue\n")
    front, output = _front()
    assert front.stop(sample_run.run_start()) == Continue()
    rows = output.getvalue().splitlines()
    assert rows[1] == "--- run-start: run #3: 1 fetch (loss/Mean:0); 2 feeds ---"
    assert any("loss/Mean:0" in row for row in rows[1:])
    assert rows[-1] == "tfdbg> continue"


def test_exit_detaches_when_nobody_can_be_asked() -> None:
    """Defect of TensorFlow's prompt: exit ended the training with code 1."""
    assert _front("exit")[0].stop(sample_run.run_end()) == Detach()
    assert _front("exit --abort")[0].stop(sample_run.run_end()) == Abort()


def test_ctrl_c_without_a_person_ends_the_program() -> None:
    assert _front("interrupted", "numbered")[0].stop(sample_run.run_end()) == Abort()


def test_prev_and_next_print_earlier_answers_again() -> None:
    front, output = _front("version", "numbered", "prev", "prev", "next", "next")
    front.stop(sample_run.run_end())
    version, numbered, back, refused, forth, last = output.getvalue().split("tfdbg> ")[1:]
    assert back.split("\n", 1)[1] == version.split("\n", 1)[1]
    assert "There is no earlier output." in refused
    assert forth.split("\n", 1)[1] == numbered.split("\n", 1)[1]
    assert "There is no later output. `over` goes on to the next line, `step` to the next op." in last
    assert "`over`" not in refused


def test_mouse_belongs_to_the_full_screen() -> None:
    front, output = _front("mouse on")
    front.stop(sample_run.run_end())
    assert "full screen" in output.getvalue()


def test_a_regex_prints_the_lines_that_match() -> None:
    front, output = _front("/x", "numbered", "/answer", "/(", "/zebra")
    front.stop(sample_run.run_end())
    assert "Nothing has been printed yet." in output.getvalue()
    assert "tfdbg> /answer\n1: answer" in output.getvalue()
    assert "'(' is not a regular expression" in output.getvalue()
    assert "No line of the last output matches 'zebra'." in output.getvalue()


def test_names_cannot_write_to_the_terminal() -> None:
    front, output = _front("numbered")
    front.stop(sample_run.run_end())
    assert "\x1b" not in output.getvalue()
    assert "\\x1b[2Jdog" in output.getvalue()


def test_json_is_one_object_for_each_command_and_nothing_else(capsys) -> None:
    front, output = _front("version", "mistaken", "broken", "numbered", "/answer", "prev", "run -n", as_json=True)
    front.stop(sample_run.run_end())
    answers = [json.loads(row) for row in output.getvalue().splitlines()]
    assert [a["command"] for a in answers] == [
        "version", "mistaken", "broken", "numbered", "/answer", "prev", "run -n",
    ]  # fmt: skip
    assert answers[0]["kind"] == "version"
    assert answers[1] == {"command": "mistaken", "error": "There is no such thing.", "hint": "Try another."}
    assert "ZeroDivisionError" in answers[2]["error"]
    assert answers[4]["kind"] == "matches"
    assert answers[4]["matches"][0]["line"] == 1
    assert answers[5]["kind"] == "numbered"
    assert (answers[6]["kind"], answers[6]["decision"]) == ("decision", "plain_run")
    assert capsys.readouterr().out == ""


def test_json_of_exit_is_a_decision() -> None:
    front, output = _front("exit", as_json=True)
    front.stop(sample_run.run_end())
    assert json.loads(output.getvalue()) == {"command": "exit", "kind": "decision", "decision": "detach"}


def test_a_reader_that_left_is_no_error() -> None:
    class Closed(io.StringIO):
        def write(self, text: str) -> int:
            raise BrokenPipeError

    front = LineFrontend(REGISTRY, Settings(), script=Script(["version", "version"]), output=Closed())
    assert front.stop(sample_run.run_end()) == Detach()
    assert front.broken
    assert front.stop(sample_run.run_end()) == Detach()


def test_glyphs_that_the_output_cannot_hold_are_ascii_and_other_characters_escaped() -> None:
    raw = io.BytesIO()
    output = io.TextIOWrapper(raw, encoding="ascii")
    registry = Registry()
    registry.add(Command("glyphs", (), "", lambda context, options: text_document("glyphs", line("x∈[0, 1] 中"))))
    LineFrontend(registry, Settings(), script=Script(["glyphs"]), output=output).stop(sample_run.run_end())
    output.flush()
    assert raw.getvalue().split(b"---\n")[1] == b"tfdbg> glyphs\nx:[0, 1] \\u4e2d\n"


def test_settings_changed_at_one_stop_hold_at_the_next() -> None:
    """Defect of TensorFlow's prompt: configuration was lost between run-start and run-end."""
    front, output = _front("config set array_threshold 17", "run", "config show")
    front.stop(sample_run.run_start())
    front.stop(sample_run.run_end())
    assert "17" in output.getvalue().split("tfdbg> config show")[1]


def test_the_printoptions_of_the_program_stay_its_own() -> None:
    """Defect of TensorFlow's prompt: np.set_printoptions leaked into the program."""
    before = np.get_printoptions()
    front, _ = _front("version", "run_info", "help")
    front.stop(sample_run.run_end())
    assert np.get_printoptions() == before


def test_the_signal_handlers_of_the_program_stay_its_own() -> None:
    def theirs(number, frame):
        raise AssertionError("the program's handler was called at our prompt")

    before = signal.signal(signal.SIGINT, theirs)
    try:
        seen = []
        registry = Registry()

        def look(context, options):
            seen.append(signal.getsignal(signal.SIGINT))
            os.kill(os.getpid(), signal.SIGINT)
            return text_document("late")

        registry.add(Command("look", (), "", look))
        front = LineFrontend(registry, Settings(), script=Script(["look"]), output=io.StringIO())
        assert front.stop(sample_run.run_end()) == Abort()
        assert seen == [signal.default_int_handler]
        assert signal.getsignal(signal.SIGINT) is theirs
    finally:
        signal.signal(signal.SIGINT, before)


def test_colours_are_used_on_a_terminal_only_and_never_for_scripts(monkeypatch) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    monkeypatch.setenv("TERM", "xterm")
    for script, colored in ((None, True), (Script(["mistaken"]), False)):
        _piped(monkeypatch, "mistaken\n")
        output = Terminal()
        LineFrontend(REGISTRY, Settings(), script=script, output=output).stop(sample_run.run_end())
        assert ("\x1b[" in output.getvalue()) is colored
    monkeypatch.setenv("NO_COLOR", "1")
    _piped(monkeypatch, "mistaken\n")
    output = Terminal()
    LineFrontend(REGISTRY, Settings(), output=output).stop(sample_run.run_end())
    assert "\x1b[" not in output.getvalue()


def test_a_recording_just_closes(monkeypatch) -> None:
    _piped(monkeypatch, "exit\n")
    front, output = _front()
    assert front.stop(sample_run.opened(2)) == Detach()
    assert output.getvalue().startswith("--- /data/dump: 2 runs ---\n")
    assert "undebugged" not in output.getvalue()


@pytest.mark.parametrize("stream", [None, "closed"])
def test_a_closed_standard_output_lets_the_program_go_on(stream, monkeypatch, capsys):
    closed = io.StringIO()
    closed.close()
    monkeypatch.setattr(sys, "stdout", None if stream is None else closed)
    front = LineFrontend(standard_registry(), Settings(), script=Script(["lt"]))
    assert front.stop(sample_run.run_end()) == Detach()
    assert front.stop(sample_run.run_end()) == Detach()
    assert capsys.readouterr().err.count("Standard output is closed") == 1


def test_the_run_that_is_looked_at_from_now_on_is_named_above_the_answer() -> None:
    first = sample_run.sample_run()
    second = replace(first, call=replace(first.call, number=first.call.number + 1))
    front, output = _front("lt", "runs 2", "lt", "older")
    assert front.stop(Opened("case", [first, second])) == Detach()
    titles = [row for row in output.getvalue().splitlines() if row.startswith("---")]
    assert titles == ["--- case: 2 runs, run #4 ---", "--- case: 2 runs, run #3 ---"]
