"""A conversation with a person: Ctrl-C, leaving, the end of input."""

from __future__ import annotations

import io
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path

from support import sample_run
from support.job_maker import step

from tfdbg_cli.commands.service.prompt_service import PromptService
from tfdbg_cli.commands.standard import standard_registry
from tfdbg_cli.formats.container.writer import RecordingWriter
from tfdbg_cli.formats.opening import open_followed
from tfdbg_cli.line.conversation import Conversation
from tfdbg_cli.line.input import InterruptedElsewhere
from tfdbg_cli.line.output import TextOutput
from tfdbg_cli.model.decision import Abort, Continue, Decision, Detach, PlainRun
from tfdbg_cli.model.runs import Opened


class Person:
    """Types what it is told to; an exception, such as KeyboardInterrupt, is Ctrl-C."""

    interactive = True
    echoes = False
    ending = ""

    def __init__(self, *typed) -> None:
        self._typed = list(typed)
        self.asked: list[str] = []

    def opened(self, completer):
        return nullcontext()

    def silent(self) -> bool:
        return False

    def read(self, prompt: str = "tfdbg> ") -> str | None:
        self.asked.append(prompt)
        answer = self._typed.pop(0)
        if isinstance(answer, type):
            raise answer
        return answer


def _talk(person: Person, event=None, *, elsewhere: bool = False) -> tuple[Decision, str]:
    output = io.StringIO()
    service = PromptService(event or sample_run.run_end(), standard_registry())
    conversation = Conversation(service, person, TextOutput(output, color=False, width=80), elsewhere=elsewhere)
    return conversation.hold(opening=False, titled=False), output.getvalue()


def test_ctrl_c_clears_the_line_and_twice_asks_how_to_leave() -> None:
    person = Person(KeyboardInterrupt, "version", KeyboardInterrupt, KeyboardInterrupt, "s", "run -n")
    decision, text = _talk(person)
    assert decision == PlainRun()
    assert text.count("Ctrl-C again asks how to leave.") == 2
    assert sum(prompt.startswith("Leave:") for prompt in person.asked) == 1


def test_the_key_of_the_full_screen_before_a_command_is_left_out() -> None:
    _, text = _talk(Person(":version", ": lt", "run -n"))
    assert "There is no command" not in text
    assert "tfdbg" in text and "loss/Log:0" in text


def test_leaving_offers_detach_abort_and_stay() -> None:
    assert _talk(Person("exit", "d"))[0] == Detach()
    assert _talk(Person("exit", "c"))[0] == Continue()
    assert _talk(Person("exit", "abort"))[0] == Abort()
    assert _talk(Person("exit", "alerts", "diff", "c", "search 3"))[0] == Continue(), "a command is no answer"
    assert _talk(Person("exit", "what?", "", "S", "exit", "D"))[0] == Detach()


def test_ctrl_c_at_the_question_how_to_leave_aborts_as_on_the_full_screen() -> None:
    decision, text = _talk(Person(KeyboardInterrupt, KeyboardInterrupt, KeyboardInterrupt))
    assert decision == Abort()
    assert "Ctrl-C again asks how to leave.\n\nCtrl-C again ends the program.\n" in text
    assert _talk(Person("exit", KeyboardInterrupt))[0] == Abort()


def test_ctrl_c_of_a_visitor_does_not_end_the_program() -> None:
    person = Person(*[InterruptedElsewhere] * 3, "exit", InterruptedElsewhere, "exit --abort")
    decision, text = _talk(person, elsewhere=True)
    assert decision == Abort() and len(person.asked) == 6
    assert "again ends" not in text and text.count("Stayed: `abort` ends the program.") == 2


def test_why_a_run_was_refused_is_said_where_its_first_page_is_not_seen() -> None:
    event = replace(sample_run.run_start(), notes=("Capturing 64 tensors takes about 72.8 MiB.",))
    service = PromptService(event, standard_registry())
    for opening in (False, True):
        output = io.StringIO()
        Conversation(service, Person("run -n"), TextOutput(output, color=False, width=80)).hold(opening=opening)
        assert output.getvalue().count("Capturing 64 tensors takes about 72.8 MiB.") == 1


def test_the_end_of_input_detaches() -> None:
    """Defect of TensorFlow's prompt: EOF was not handled."""
    decision, text = _talk(Person(None))
    assert decision == Detach()
    assert "\nDetached: the program goes on undebugged.\n" in text
    assert "\\n" not in text
    assert _talk(Person("exit", None))[0] == Detach()


def test_a_recording_is_left_without_a_question() -> None:
    person = Person("exit")
    decision, text = _talk(person, sample_run.opened())
    assert (decision, text) == (Detach(), "")
    assert person.asked == ["tfdbg> "]


def test_commands_that_a_person_typed_are_not_echoed() -> None:
    assert "tfdbg>" not in _talk(Person("version", None))[1]


def test_no_run_of_a_recording_is_read_that_no_command_asks_for() -> None:
    class Unread(list):
        def __getitem__(self, at):
            raise AssertionError("a run was read")

    _, text = _talk(Person("version", None), Opened("/data/dump", Unread([sample_run.sample_run()])))
    assert "tfdbg" in text
    assert "bug of tfdbg" not in text


def test_new_runs_of_a_recording_that_is_followed_are_said_before_the_prompt(tmp_path: Path) -> None:
    writer = RecordingWriter(tmp_path / "r")
    writer.write(step(1))
    service = PromptService(open_followed(tmp_path / "r"), standard_registry())

    class Trainer(Person):
        """Writes a run whenever a person is asked."""

        def read(self, prompt: str = "tfdbg> ") -> str | None:
            writer.write(step(2))
            service.following.look()
            return super().read(prompt)

    output = io.StringIO()
    Conversation(service, Trainer("version", None), TextOutput(output, color=False, width=80)).hold(opening=False)
    assert output.getvalue().count("1 new run: there are 2 now.") == 1
    assert ": 1 run, followed" in output.getvalue()
