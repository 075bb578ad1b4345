"""The commands of tfdbg: one module a verb, one line a module, in the order in which help shows them."""

from __future__ import annotations

from importlib import import_module

from tfdbg_cli.commands.registry import Command, Registry

# Each module exports COMMAND, or COMMANDS where a few belong together.
_MODULES = (
    "run",
)


def standard_registry() -> Registry:
    """A registry with every command of tfdbg."""
    registry = Registry()
    for name in _MODULES:
        for command in commands_of(name):
            registry.add(command)
    return registry


def commands_of(name: str) -> tuple[Command, ...]:
    """The commands that the module `name` of this package exports."""
    module = import_module(f"{__package__}.{name}")
    found: tuple[Command, ...] = module.COMMANDS if hasattr(module, "COMMANDS") else (module.COMMAND,)
    return found
