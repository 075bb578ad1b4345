"""Which previews belong to what is chosen on a page."""

from __future__ import annotations

from functools import lru_cache

from tfdbg_cli.commands.previews.table import PREVIEWS, Preview
from tfdbg_cli.commands.registry import Moment, Registry
from tfdbg_cli.commands.syntax import parse_line, quoted
from tfdbg_cli.errors import TfdbgError

_PREVIEW = "preview"
_KEPT = 16  # answers: a screen asks for the same again and again


def has_previews(registry: Registry) -> bool:
    """Whether there is a command that previews."""
    return _PREVIEW in registry


@lru_cache(maxsize=_KEPT)
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
        named = registry.find(words[0], moment) if words else None
        found = None if named is None else PREVIEWS.get(named.name)
        return found if named and found and found.takes(named.parse(words[1:])) else None
    except TfdbgError:  # `ui:…`, or something that is no command here
        return None
