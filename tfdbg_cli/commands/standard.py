"""The commands of tfdbg: one module a verb, one line a module, in the order in which help shows them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from importlib import import_module

from tfdbg_cli.commands.registry import EVERYWHERE, LIVE, Command, CommandSource, Moment, Registry


@dataclass(frozen=True, slots=True)
class Verb:
    """A module of `verbs/`, loaded when one of its commands is first needed, so that tfdbg starts fast.

    It exports COMMAND, COMMANDS where a few belong together, or commands(registry) for those about commands. `names`
    are the names and aliases of all of them. `moments` is given for a module that shares a name with another one, so
    that it is not loaded at other moments just to find out which of the two is meant.
    """

    module: str
    names: str
    moments: frozenset[Moment] = EVERYWHERE


VERBS: tuple[Verb, ...] = (
    Verb("list_tensors", "list_tensors lt"),
    Verb("layers", "layers ll"),
    Verb("list_variables", "list_variables lv"),
    Verb("frequencies", "frequencies fq"),
    Verb("find", "find"),
    Verb("print_tensor", "print_tensor pt"),
    Verb("preview", "preview pv"),
    Verb("origin", "origin"),
    Verb("alerts", "alerts"),
    Verb("row", "row"),
    Verb("input", "input"),
    Verb("error_info", "error_info ei"),
    Verb("frames", "frames where bt up down locals py pdb"),
    Verb("list_nodes", "list_nodes ln"),
    Verb("node_info", "node_info ni"),
    Verb("neighbour_lists", "list_inputs li list_outputs lo"),
    Verb("tree", "tree"),
    Verb("path", "path"),
    Verb("placement", "placement pl"),
    Verb("list_source", "list_source ls"),
    Verb("print_source", "print_source ps"),
    Verb("list_profile", "list_profile lp"),
    Verb("print_feed", "print_feed pf"),
    Verb("eval", "eval ev"),
    Verb("set_value", "set unset"),
    Verb("again", "again original"),
    Verb("diff", "diff compare cmp"),
    Verb("filters", "filters"),
    Verb("queries", "queries"),
    Verb("ignore", "ignore"),
    Verb("ignored", "ignored"),
    Verb("run_info", "run_info ri"),
    Verb("runs", "runs"),
    Verb("timeline", "timeline"),
    Verb("tensor_history", "history"),
    Verb("trends", "trends"),
    Verb("traces", "traces"),
    Verb("run", "run r"),
    Verb("bundle", "bundle record undo"),
    Verb("save", "save"),
    Verb("export", "export"),
    Verb("leaving", "continue c cont detach abort exit quit q"),
    Verb("invoke_stepper", "invoke_stepper s"),
    Verb(
        "stepper",
        "list_sorted_nodes lsn lt step st s cont ct c inject_value inject override_value override"
        " leave_stepper exit quit q",
        frozenset({Moment.STEPPING}),
    ),
    Verb("run_steps", "older newer"),
    Verb("pausing", "here step s over n finish until break b delete", LIVE),
    Verb("navigation", "prev next output mouse m shell !"),
    Verb("messages", "messages"),
    Verb("config", "config cfg"),
    Verb("version", "version ver"),
    Verb("help", "help h"),
)


def standard_registry() -> Registry:
    """A registry with every command of tfdbg."""
    registry = Registry()
    for verb in VERBS:
        make = partial(_commands_of, verb.module, registry)
        registry.expect(CommandSource(tuple(verb.names.split()), make, verb.moments))
    return registry


def _commands_of(name: str, registry: Registry) -> Sequence[Command]:
    """The commands that the module `name` of this package exports; `registry` is for those that run others."""
    module = import_module(f"{__package__}.verbs.{name}")
    found: Sequence[Command]
    if hasattr(module, "commands"):
        found = module.commands(registry)
    else:
        found = module.COMMANDS if hasattr(module, "COMMANDS") else (module.COMMAND,)
    return found
