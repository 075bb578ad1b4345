"""What a user's settings make of the screen: keys and colours."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tfdbg_cli.commands.registry import Registry
from tfdbg_cli.config.settings import Settings
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.tui.keys.keymap import Binding
from tfdbg_cli.tui.keys.own_keys import own_binding
from tfdbg_cli.tui.terminal.own_colours import recoloured
from tfdbg_cli.tui.terminal.theme import PaletteRow, palette


@dataclass(frozen=True)
class Preferences:
    """A theme with the user's own bindings and the palette; `faults` tell which settings do not fit, and why."""

    theme: str
    bindings: tuple[Binding, ...]
    palette: list[PaletteRow]
    faults: Mapping[str, TfdbgError]

    @property
    def words(self) -> Sequence[str]:
        """A sentence for each setting that was left aside."""
        return [f"The setting {name} was left aside: {fault}" for name, fault in self.faults.items()]


def preferences(settings: Settings, registry: Registry, actions: frozenset[str]) -> Preferences:
    """What `settings` ask for, where commands are those of `registry` and `ui:` goes before one of `actions`."""
    faults: dict[str, TfdbgError] = {}
    keys: dict[tuple[str, ...], Binding] = {}
    for name, action in settings.keys:
        try:
            binding = own_binding(name, action, registry, actions)
            keys[binding.keys] = binding
        except TfdbgError as error:
            faults[f"keys.{name}"] = error
    rows = palette(settings.theme)
    for entry in settings.colours:
        try:
            rows = recoloured(rows, (entry,))
        except TfdbgError as error:
            faults[f"colours.{entry[0]}"] = error
    return Preferences(settings.theme, tuple(keys.values()), rows, faults)
