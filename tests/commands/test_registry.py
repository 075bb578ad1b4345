"""The registry: parsing into options, spelling options as a command, help from the same data."""

from __future__ import annotations

import argparse

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tfdbg_cli.commands.registry import Argument, Command, Registry
from tfdbg_cli.commands.standard import standard_registry
from tfdbg_cli.commands.syntax import parse_line
from tfdbg_cli.document.document import text_document
from tfdbg_cli.errors import TfdbgError

COMMAND = Command(
    "demo",
    ("d",),
    "A demonstration.",
    lambda context, options: text_document("demo"),
    (
        Argument(("name",), "what", nargs="?", default=""),
        Argument(("-f", "--filter"), "which", default=""),
        Argument(("-n", "--number"), "how many", type=int),
        Argument(("-v", "--verbose"), "more", switch=True),
    ),
)
REST = Command(
    "rest", (), "Takes a text.", COMMAND.handler, (Argument(("text",), "t", nargs="..."), Argument(("-w",), "file"))
)


@given(st.text(), st.integers(-5, 5), st.booleans())
def test_what_is_spelled_is_read_back(text: str, number: int, verbose: bool) -> None:
    options = argparse.Namespace(name="", filter=text, number=number, verbose=verbose)
    words = parse_line(COMMAND.spell(options)).words
    assert words[0] == "d"
    # A blank at the ends of a value has no meaning in any command.
    read = COMMAND.parse(words[1:])
    assert (read.filter, read.number, read.verbose) == (text.strip(), number, verbose)


def test_a_link_changes_one_thing_and_keeps_the_rest() -> None:
    options = COMMAND.parse(["-f", "a b", "-v"])
    assert COMMAND.spell(options, number=3) == "d -f 'a b' -n 3 -v"
    assert COMMAND.spell(options, verbose=False) == "d -f 'a b'"


@pytest.mark.parametrize("value", ["-inf", "-1", "-x", "--y"])
def test_values_may_start_with_a_dash(value: str) -> None:
    assert COMMAND.parse(["-f", value]).filter == value


def test_a_text_takes_what_is_no_flag() -> None:
    options = REST.parse(["-", "`x`", "-w", "f.npy", "+", "1"])
    assert (options.text.strip(), options.w) == ("- `x` + 1", "f.npy")


def test_mistakes_name_the_command_and_its_help() -> None:
    with pytest.raises(TfdbgError) as caught:
        COMMAND.parse(["--nope"])
    assert "demo" in caught.value.message and caught.value.hint == "See `help demo`."


def test_two_dashes_are_no_value() -> None:
    """argparse makes an empty list of `--flag=--`, which no handler expects."""
    for words in (["lt", "-n", "--"], ["lt", "-n=--"], ["pt", "x:0", "--prec=--"]):
        with pytest.raises(TfdbgError, match="-- is no value"):
            standard_registry().find(words[0]).parse(words[1:])


def test_a_taken_name_is_refused() -> None:
    registry = Registry()
    registry.add(COMMAND)
    with pytest.raises(ValueError, match="taken by demo"):
        registry.add(Command("d", (), "", COMMAND.handler))


def test_an_unknown_command_names_the_nearest() -> None:
    with pytest.raises(TfdbgError, match="list_tensors"):
        standard_registry().find("list_tensor")


def test_every_command_and_argument_is_explained() -> None:
    for command in standard_registry():
        assert command.summary.endswith("."), command.name
        for argument in command.arguments:
            assert argument.help, (command.name, argument.flags)


def test_the_old_names_and_aliases_are_there() -> None:
    names = (
        "list_tensors lt node_info ni list_inputs li list_outputs lo print_tensor pt print_feed pf eval ev "
        "print_source ps list_source ls run r run_info ri list_profile lp config cfg version ver help h mouse m "
        "prev next exit quit"
    )
    registry = standard_registry()
    assert [name for name in names.split() if name not in registry] == []
