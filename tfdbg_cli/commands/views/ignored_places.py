"""The places that count as fine: as JSON, and the command by which a user adds what they look at."""

from __future__ import annotations

from typing import Any

from tfdbg_cli.commands.registry import ArgumentKind, Registry
from tfdbg_cli.commands.syntax import parse_line, quoted
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.model.ignored import IgnoredPlace

_ABOUT_ONE = frozenset({"node", "tensor"})  # kinds of documents that are about the node or tensor of their command
_NODES = frozenset({ArgumentKind.NODE, ArgumentKind.TENSOR})


def place_data(number: int, place: IgnoredPlace) -> dict[str, Any]:
    """The JSON form of the place with that number."""
    return {
        "number": number,
        "by": place.by.value,
        "name": place.name or None,
        "run": place.run,
        "function": place.function or None,
        "tensor": str(place.tensor),
        "op_type": place.op_type,
        "holds": place.holds or None,
        "intended": place.intended,
        "why": place.why,
        "nodes": list(place.nodes),
        "named": list(place.named),
        "spoiled": list(place.spoiled),
        "file": place.file or None,
        "line": place.line,
    }


def ignoring_command(registry: Registry, kind: str, page: str, link: str, *, at_cause: bool) -> str:
    """The command that ignores what a user looks at.

    Args:
        registry: the commands that pages and links consist of.
        kind: the kind of the document on show.
        page: its command.
        link: the link that is chosen in it; empty for none.
        at_cause: whether the line that is selected tells the cause of an origin.

    Raises:
        TfdbgError: it is no node, no layer and no cause.

    """
    if kind == "origin" and at_cause:
        return "ignore --cause"
    for text in (page, link) if kind in _ABOUT_ONE else (link, page):
        found = _named(registry, text)
        if found:
            return found
    if kind == "origin":
        return "ignore"
    raise TfdbgError(
        "There is no node, layer or cause here to be ignored.", hint="Choose a name first; `ignore NODE` names one."
    )


def _named(registry: Registry, text: str) -> str:
    """The command that ignores the node or the layer that the command `text` names; empty where it names none."""
    words = parse_line(text).words if text and not text.startswith("ui:") else ()
    if not words or words[0] not in registry:
        return ""
    command = registry.find(words[0])
    options = command.parse(words[1:])
    for argument in command.arguments:
        value = getattr(options, argument.dest)
        if argument.positional and argument.kind in _NODES and isinstance(value, str):
            return f"ignore {quoted(value)}"
    for argument in command.arguments:
        value = getattr(options, argument.dest)
        if argument.kind is ArgumentKind.LAYER and isinstance(value, str) and value:
            return f"ignore --layer {quoted(value)}"
    return ""
