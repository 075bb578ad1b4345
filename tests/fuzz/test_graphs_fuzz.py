"""A graph from a file may be anything. Every command comes to an end on it, and makes no mistake of its own."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from support.asked import ask
from support.command_maker import CommandMaker
from support.fuzzing import Turns
from support.run_maker import RunMaker, known_op_types

from tfdbg_cli.commands.context import Context
from tfdbg_cli.commands.standard import standard_registry
from tfdbg_cli.model.runs import Opened, Run

_REGISTRY = standard_registry()
_BY_OP_TYPE = (
    "origin", "origin --nan", "origin --all", "origin --benign show", "origin --benign skip",
    "lt -f has_inf_or_nan", "lt -f unchanged_variable", "lt -f vanishing_gradient", "lt -f dead_relu",
)  # fmt: skip
_COMMANDS = (*_BY_OP_TYPE, "ll", "lp", "placement", "run_info")
_OP_TYPES = known_op_types()
# Fewer tests than op types: each takes time of its own.
_PORTIONS = [_OP_TYPES[at : at + 20] for at in range(0, len(_OP_TYPES), 20)]
_OF_A_NODE = ("ni -a -d -t {}", "li -c -r {}", "lo -c -r {}", "pt {}:0", "history {}:0")


def answered(command: str, run: Run, label: str) -> None:
    """Run one command on a recording and draw the answer; only a TfdbgError may come of it."""
    context = Context(Opened("somewhere", (run,)), width=80)
    ask(command, context, label)


@pytest.mark.parametrize("seed", range(20))
def test_every_command_ends_on_a_graph_without_sense(seed: int, turns: Turns) -> None:
    maker = RunMaker(seed)
    for turn in turns(2):
        run = maker.run()
        for command in _COMMANDS:
            answered(command, run, f"seed {seed}, run {turn}")
        for name in list(run.graph.names())[:4]:
            for command in _OF_A_NODE:
                answered(command.format(name), run, f"seed {seed}, run {turn}")


@pytest.mark.parametrize("seed", range(3))
def test_random_commands_end_on_a_graph_without_sense(seed: int, turns: Turns) -> None:
    for turn in turns(3):
        run = RunMaker(seed * 100 + turn).run()
        maker = CommandMaker(seed, Context(Opened("somewhere", (run,)), width=80), _REGISTRY)
        for _ in range(40):
            answered(maker.command(), run, f"seed {seed}, run {turn}")


@pytest.mark.parametrize("op_types", _PORTIONS, ids=lambda op_types: f"{op_types[0]} to {op_types[-1]}")
def test_every_op_may_read_itself(op_types: Sequence[str]) -> None:
    for op_type in op_types:
        run = RunMaker(7).run(nodes=3, ops=[op_type] * 3)
        for command in _BY_OP_TYPE:
            answered(command, run, op_type)
