"""Creation stacks as JSON and back, with every text, frame and stack once; and the files that they name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tfdbg_cli.formats.recording.json_fields import items, texts, whole
from tfdbg_cli.model.sources import Frame, Sources, Traceback


def traceback_table(tracebacks: Mapping[str, Traceback]) -> dict[str, Any]:
    """The stacks of all nodes."""
    frames: dict[Frame, int] = {}
    stacks: dict[tuple[int, ...], int] = {}
    nodes: dict[str, int] = {}
    for name, stack in tracebacks.items():
        places = tuple([frames.setdefault(frame, len(frames)) for frame in stack])
        nodes[name] = stacks.setdefault(places, len(stacks))
    known: dict[str, int] = {}

    def place(text: str) -> int:
        return known.setdefault(text, len(known))

    rows = [(place(frame.file), frame.line, place(frame.function), place(frame.text)) for frame in frames]
    return {"texts": list(known), "frames": rows, "stacks": list(stacks), "nodes": nodes}


def read_tracebacks(fields: dict[str, Any]) -> dict[str, Traceback]:
    """Creation stacks by node name. Raises what `WRONG_CONTENT` lists where `fields` are others."""
    words = texts(fields.get("texts", []))
    frames = [
        Frame(words[whole(file)], whole(line), words[whole(function)], words[whole(code)])
        for file, line, function, code in items(fields.get("frames", []))
    ]
    stacks = [tuple(frames[whole(index)] for index in stack) for stack in items(fields.get("stacks", []))]
    return {name: stacks[whole(index)] for name, index in fields.get("nodes", {}).items()}


def source_texts(sources: Sources, tracebacks: Mapping[str, Traceback]) -> list[tuple[str, bytes]]:
    """Every file that a stack names and that is at hand: its path and its text."""
    paths = dict.fromkeys(frame.file for stack in tracebacks.values() for frame in stack)
    found = [(path, sources.lines(path)) for path in paths]
    return [(path, "\n".join(lines).encode("utf-8", "surrogateescape")) for path, lines in found if lines is not None]


def source_lines(content: bytes) -> list[str]:
    """The lines of a file whose text was saved."""
    return content.decode("utf-8", "surrogateescape").split("\n")


def told_of_damaged_sources(paths: Sequence[str]) -> Iterator[str]:
    """What `tfdbg doctor` says of the source files `paths`, whose texts are damaged; nothing of none."""
    if paths:
        files = "The copy of" if len(paths) == 1 else f"The copies of {len(paths)} source files, first"
        yield f"{files} {paths[0]} {'is' if len(paths) == 1 else 'are'} damaged, and not shown."
