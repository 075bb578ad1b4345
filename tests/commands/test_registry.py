"""The registry: parsing into options, spelling options as a command, help from the same data."""

from __future__ import annotations

import argparse
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tfdbg_cli.commands import verbs
from tfdbg_cli.commands.registry import LIVE, Argument, Command, CommandSource, Moment, Registry
from tfdbg_cli.commands.standard import VERBS, standard_registry
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


@given(st.text().filter(lambda text: text.strip() != "--"), st.integers(-5, 5), st.booleans())
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


@pytest.mark.parametrize(
    ("typed", "hint"), [("replay", "tfdbg replay FOLDER"), ("what-if", "`again`"), ("orgin", "Did you mean origin")]
)
def test_what_is_done_elsewhere_is_told_to_be(typed: str, hint: str) -> None:
    with pytest.raises(TfdbgError, match="There is no command") as caught:
        standard_registry().find(typed)
    assert hint in caught.value.hint


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


def test_each_line_of_the_table_says_what_its_module_holds() -> None:
    """Names, aliases and moments stand in the table so that modules load late; here all are loaded."""
    registry = standard_registry()
    made = {name for command in registry for name in (command.name, *command.aliases)}
    assert made == set(registry.names())


def test_each_module_of_a_verb_stands_in_the_table() -> None:
    modules = {file.stem for file in Path(verbs.__path__[0]).glob("*.py") if file.stem != "__init__"}
    assert {verb.module for verb in VERBS} == modules


def test_a_command_is_made_when_it_is_asked_for() -> None:
    made: list[str] = []

    def make() -> tuple[Command, ...]:
        made.append("demo")
        return (COMMAND,)

    registry = Registry()
    registry.expect(CommandSource(("demo", "d"), make))
    assert "d" in registry and registry.names() == ["demo", "d"] and not made
    assert registry.find("d") is registry.find("demo") is COMMAND
    assert made == ["demo"]


@pytest.mark.parametrize("source", [
    CommandSource(("demo", "e"), lambda: (COMMAND,)),
    CommandSource(("demo",), lambda: (COMMAND,)),
    CommandSource(("demo", "d"), lambda: (COMMAND,), LIVE),
])  # fmt: skip
def test_a_source_that_says_something_else_than_it_makes_is_refused(source: CommandSource) -> None:
    registry = Registry()
    registry.expect(source)
    with pytest.raises(ValueError, match="go by"):
        list(registry)


def test_two_sources_with_one_name_are_refused() -> None:
    registry = Registry()
    for _ in range(2):
        registry.expect(CommandSource(("demo", "d"), lambda: (COMMAND,)))
    with pytest.raises(ValueError, match="taken by demo"):
        list(registry)


def test_where_a_name_is_for_other_moments_its_source_stays_unmade() -> None:
    def make() -> tuple[Command, ...]:
        raise AssertionError

    registry = Registry()
    registry.add(COMMAND)
    registry.expect(CommandSource(("demo",), make, frozenset({Moment.STEPPING})))
    assert registry.find("demo", Moment.OPENED) is COMMAND


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
