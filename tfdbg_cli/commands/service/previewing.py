"""Which previews belong to what is chosen on a page."""

from __future__ import annotations

from tfdbg_cli.commands.previews.table import PREVIEWS, Preview
from tfdbg_cli.commands.registry import Moment, Registry
from tfdbg_cli.commands.syntax import parse_line, quoted
from tfdbg_cli.errors import TfdbgError

_PREVIEW = "preview"


def has_previews(registry: Registry) -> bool:
    """Whether there is a command that previews."""
    return _PREVIEW in registry


def previews_for(page: str, chosen: str, registry: Registry, moment: Moment) -> tuple[str, ...]:
    """The command strings that preview `chosen`, a link on the page of the command `page`, one below another.

    Where there is no preview of what is chosen it is that of the page itself.
    """
    own, found = _preview_of(page, registry, moment), _preview_of(chosen, registry, moment)
    asked = [page] if own is not None and (own.stays or (own.on_page and found is None)) else []
    asked += [chosen] if found is not None and not (asked and found is own) else []
    return tuple(f"{_PREVIEW} {quoted(command)}" for command in asked)


def _preview_of(command: str, registry: Registry, moment: Moment) -> Preview | None:
    try:
        words = parse_line(command).words
        return PREVIEWS.get(registry.find(words[0], moment).name) if words else None
    except TfdbgError:  # `ui:…`, or something that is no command here
        return None
