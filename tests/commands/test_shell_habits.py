"""Words behind a command that are none of its arguments: the answer says what to write."""

from __future__ import annotations

import pytest
from support import sample_run
from support.prompt import Prompt

from tfdbg_cli.commands.standard import standard_registry
from tfdbg_cli.commands.syntax import parse_line
from tfdbg_cli.errors import TfdbgError


@pytest.mark.parametrize(
    ("command", "said", "way_out"),
    [
        ("lt role=result", "unrecognized arguments: role=result", "lt -q role=result"),
        ("lt -s worst -q nan>0 dense", "unrecognized arguments: dense", "lt -q 'nan>0 dense' -s worst"),
        ("pt x:0 | less -S", "cannot be piped to 'less -S'", "`print_tensor … > FILE`"),
        ("lt > a b", "'> a b' names more than one file", "> 'a b'"),
        ("lt >|a b.csv", "names more than one file", ">| 'a b.csv'"),
        ("lt >> out.txt", "nothing is appended", "`>| FILE` also where there is one"),
        ("!ls", "There is no command '!ls'", "`!` alone opens a shell"),
        ("doctor", "There is no command 'doctor'", "tfdbg doctor PATH"),
        ("lt > foo.csv; pt x", "holds another command", "One command is typed at a time."),
        ("lt && pt x", "holds another command", "One command is typed at a time."),
        ("lt; pt x", "There is no command 'lt;'", "One command is typed at a time."),
        (
            "lt|less",
            "There is no command 'lt|less'",
            "Nothing is piped from here. `COMMAND … > FILE` writes an answer to a file.",
        ),
        ("lt --wrong", "unrecognized arguments: --wrong", "`help list_tensors`"),
        ("mouse on now", "unrecognized arguments: now", "`help mouse`"),
    ],
)
def test_what_is_left_over_is_answered_by_what_to_write(command: str, said: str, way_out: str) -> None:
    error = Prompt(sample_run.run_end()).error(command)
    assert said in error.message and way_out in error.hint


def test_every_command_with_a_query_says_how_it_is_written() -> None:
    """`lt role=result`, a query without its flag, only said that it was not understood."""
    asked = 0
    for command in standard_registry():
        if not any("--query" in argument.flags for argument in command.arguments):
            continue
        try:
            command.parse(["1", "2", "role=result"])  # some take one or two words
        except TfdbgError as error:
            if "unrecognized" in error.message:
                asked += 1
                words = parse_line(error.hint.partition(": ")[2]).words
                assert "role=result" in command.parse(words[1:]).query, command.name
    assert asked > 5
