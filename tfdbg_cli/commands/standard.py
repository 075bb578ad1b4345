"""The commands of tfdbg: one module a verb, one line a module, in the order in which help shows them."""

from __future__ import annotations

from importlib import import_module

from tfdbg_cli.commands.registry import Command, Registry

# Each module exports COMMAND, COMMANDS where a few belong together, or commands(registry) for those about commands.
_MODULES = (
    "list_tensors",
    "layers",
    "frequencies",
    "find",
    "print_tensor",
    "preview",
    "origin",
    "alerts",
    "row",
    "error_info",
    "frames",
    "node_info",
    "neighbour_lists",
    "tree",
    "path",
    "placement",
    "list_source",
    "print_source",
    "list_profile",
    "print_feed",
    "eval",
    "set_value",
    "again",
    "diff",
    "filters",
    "queries",
    "ignore",
    "ignored",
    "run_info",
    "runs",
    "timeline",
    "tensor_history",
    "trends",
    "run",
    "bundle",
    "save",
    "export",
    "leaving",
    "stepper",
    "run_steps",
    "pausing",
    "navigation",
    "messages",
    "config",
    "version",
    "help",
)


def standard_registry() -> Registry:
    """A registry with every command of tfdbg."""
    registry = Registry()
    for name in _MODULES:
        for command in commands_of(name, registry):
            registry.add(command)
    return registry


def commands_of(name: str, registry: Registry) -> tuple[Command, ...]:
    """The commands that the module `name` of this package exports; `registry` is for those that run others."""
    module = import_module(f"{__package__}.verbs.{name}")
    found: tuple[Command, ...]
    if hasattr(module, "commands"):
        found = module.commands(registry)
    else:
        found = module.COMMANDS if hasattr(module, "COMMANDS") else (module.COMMAND,)
    return found
