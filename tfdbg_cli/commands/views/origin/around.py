"""What surrounds an origin, on the screen and as JSON: the chain to it, what it spoiled, infinities meant so."""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator, Sequence
from pathlib import PurePath
from typing import Any

from tfdbg_cli.analysis.causes.intended import Intended
from tfdbg_cli.analysis.graph.nodes.roles import is_gradient
from tfdbg_cli.analysis.graph.ways.chain import Link
from tfdbg_cli.analysis.origin.aftermath import Aftermath
from tfdbg_cli.analysis.origin.finding import Finding
from tfdbg_cli.analysis.origin.growth import steepest
from tfdbg_cli.commands.asked.name_endings import ELIDED
from tfdbg_cli.commands.syntax import quoted
from tfdbg_cli.commands.views.links import node_link, source_link, tensor_link
from tfdbg_cli.commands.views.short_names import ShortNames
from tfdbg_cli.document.document import Block, Text
from tfdbg_cli.document.flow import Flow, Piece
from tfdbg_cli.document.labels import label_span
from tfdbg_cli.document.summary import number_text
from tfdbg_cli.document.text import Line, Span, Style, line
from tfdbg_cli.model.names import TensorName, tensor_name_of
from tfdbg_cli.model.runs import Run
from tfdbg_cli.model.units import count_text

_LINKS_SHOWN = 7  # of a longer chain the middle is left out
_NAMES_SHOWN = 4
_LONGEST_NAME = 60  # characters of a name in a sentence
_LONGEST_PATTERN = 200  # characters of a pattern that somebody may want to type


def chain_block(run: Run, chain: Sequence[Link], names: ShortNames) -> Block:
    """`x → dense/MatMul :6 → prob :7`: each step a link to its value, and one to its line.

    Where values grew on the way, each step has the largest magnitude, and the step with the largest growth how many
    times that is the one before.
    """
    grown = steepest(chain)
    pieces: list[Piece] = []
    file, before = "", -1
    for i in _steps_shown(len(chain), None if grown is None else grown[0]):
        link = chain[i]
        if i > before + 1:
            left_out = count_text(i - before - 1, "step")
            pieces.append((Span(" → ", Style.DIM), Span(f"… {left_out} …", Style.DIM)))
        before = i
        parts = [Span(" → " if i else "", Style.DIM)]
        parts.append(Span(names.short(_short(link.tensor)), Style.NAME, _value_link(run, link.tensor)))
        if link.frame is not None:
            place = f"{'' if link.frame.file == file else PurePath(link.frame.file).name}:{link.frame.line}"
            file = link.frame.file
            parts.append(Span(f" {place}", Style.DIM, source_link(link.frame.file, link.frame.line)))
        if grown is not None and link.largest is not None:
            parts.append(Span(f" |x| {number_text(link.largest)}", Style.NUMBER))
        if grown is not None and i == grown[0]:
            parts.append(Span(f" (×{number_text(grown[1])})", Style.WARNING))
        pieces.append(tuple(parts))
    return Flow("Chain", tuple(pieces))


def _steps_shown(count: int, grown: int | None) -> list[int]:
    """The places of the steps shown: of a long chain its ends, and that at `grown` with the one before it."""
    if count <= _LINKS_SHOWN:
        return list(range(count))
    first = _LINKS_SHOWN // 2
    shown = {*range(first), *range(count - _LINKS_SHOWN + first, count)}
    if grown is None or {grown, grown - 1} <= shown:
        return sorted(shown)
    shown = {0, 1, grown - 1, grown, *range(count - 3, count)}
    return sorted({*shown, *(at for at in range(count) if {at - 1, at + 1} <= shown)})  # no gap of one


def _short(name: TensorName) -> str:
    return name.node if name.slot == 0 else str(name)


def _value_link(run: Run, name: TensorName) -> str:
    found = run.tensors.named(name.node, name.slot)
    if found:
        return tensor_link(run.tensors, found[-1])
    return node_link(name.node) if name.node in run.graph else ""


def here_line(run: Run) -> Line:
    """That the program stands at the origin, with a link to its calls; of a saved run, that it stood there."""
    label = label_span("After")
    if not run.frames:
        return line(label, "nothing yet: the program stood right behind this op.")
    return line(label, "nothing yet: the program stands right behind this op: ", Span("frames", Style.KEY, "frames"))


def after_line(after: Aftermath, options: argparse.Namespace, *, listed: bool) -> Line:
    """What the origin spoiled, with a link to the list where there is one: the stepper's is of nodes."""
    what = "NaN" if options.nan else "NaN or infinity"
    if after.seen < after.total:
        text = f"{after.bad:,} of the next {after.seen:,} tensors hold {what} too ({after.total:,} in all)"
    elif after.bad:
        verb = "holds" if after.bad == 1 else "hold"
        text = f"{after.bad:,} of {count_text(after.total, 'later tensor')} {verb} {what} too"
    else:
        text = f"no later tensor holds {what}"
    label = label_span("After")
    if not listed:
        return line(label, f"{text}.")
    excluded = options.filter_exclude_node_names
    link = "lt -f has_inf_or_nan" + (f" -fenn {quoted(excluded)}" if excluded else "")
    return line(label, f"{text}: ", Span("lt -f has_inf_or_nan", Style.KEY, link))


def harm_blocks(run: Run, found: Finding) -> list[Block]:
    """That nothing came of the origin, or of others that came before it."""
    lines: list[Line] = []
    if found.harmless:
        harm = label_span("Harm")
        touched = "NaN or infinite by it" if found.used else "touched"
        lines.append(line(harm, Span(f"no result and no variable is {touched}.", Style.GOOD)))
    all_of_them = Span("origin --all", Style.KEY, "origin --all")
    if found.before and not found.before_used:
        label = label_span("Before")
        touch = "touches" if found.before == 1 else "touch"
        lines.append(line(label, f"{_not_finite_before(found)}, and {touch} nothing: ", all_of_them))
    blocks: list[Block] = [Text(tuple(lines))] if lines else []
    if found.before_used:
        words = (*_used_before(run, found), all_of_them)
        blocks.append(Flow("Before", tuple((Span(" "), word) for word in words)))
    return blocks


def _not_finite_before(found: Finding) -> str:
    return f"{count_text(found.before, 'tensor')} before it {'is' if found.before == 1 else 'are'} not finite too"


def _used_before(run: Run, found: Finding) -> Iterator[Span]:
    """What is said, word by word, of harmless origins before this one on which something depends all the same."""
    if (led_by := found.led_by) is not None:
        yield from map(Span, f"{_not_finite_before(found)}:".split() if found.before > 1 else ())
        yield Span(str(led_by), Style.NAME, _value_link(run, led_by))
        yield from map(Span, ("is", "infinite,", "and"))
        yield Span(str(found.origin.name), Style.NAME, _value_link(run, found.origin.name))
        yield from map(Span, ("was", "computed", "from", "it:"))
        return
    them = "it" if found.before == 1 else "them"
    told = f"{_not_finite_before(found)}. No result is NaN or infinite by {them}, but results depend on {them}:"
    yield from map(Span, told.split())


def spoiled_blocks(run: Run, after: Aftermath) -> list[Block]:
    """The results and variables that are bad."""
    blocks: list[Block] = []
    for label, names in (("Results", after.results), ("Variables", after.variables)):
        if names:
            blocks.append(Flow(label, _listed(run, names)))
    return blocks


def _listed(run: Run, names: Sequence[str]) -> tuple[Piece, ...]:
    pieces: list[Piece] = []
    for i, name in enumerate(names[:_NAMES_SHOWN]):
        link = _value_link(run, tensor_name_of(name))
        comma = "," if i + 1 < len(names) else ""
        pieces.append((Span(" " if i else ""), Span(name, Style.NAME, link), Span(comma)))
    if len(names) > _NAMES_SHOWN:
        pieces.append((Span(f" … {len(names) - _NAMES_SHOWN} more", Style.DIM),))
    return tuple(pieces)


def guarded_blocks(run: Run, after: Aftermath, node: str, *, live: bool) -> list[Block]:
    """That the program itself left out what would have been spoiled, and how to watch past it."""
    if not after.guarded or not is_gradient(run.graph, node):
        return []
    text = "asks whether gradients are finite, as loss scaling does, and the update was left out: no variable is bad."
    pieces: list[Piece] = [(Span(after.asked_by, Style.NAME, node_link(after.asked_by)),)]
    pieces += [(Span(f" {word}"),) for word in text.split()]
    if live:
        command = "run -f has_inf_or_nan -fenn gradient"
        pieces += [(Span(f" {word}"),) for word in ("To", "watch", "what", "is", "no", "gradient:")]
        pieces += [(Span(" "), Span(command, Style.KEY, command))]
    return [Flow("Guarded", tuple(pieces))]


def intended_blocks(run: Run, intended: Sequence[Intended]) -> list[Block]:
    """The infinities and NaN that were passed over, and how to have them counted, or skipped by a watch."""
    if not intended:
        return []
    tensors = len(frozenset().union(*(item.tensors for item in intended)))
    kinds = ("NaN", any(item.nan for item in intended)), ("infinities", any(item.infinite for item in intended))
    held = " and ".join(what for what, there in kinds if there)
    verb, look = "hold" if tensors > 1 else "holds", "looks" if held == "NaN" else "look"
    head = f"{count_text(tensors, 'tensor')} {verb} {held} that {look} intended: "
    pieces: list[Piece] = [(Span(word + " "),) for word in head.split()]
    for i, item in enumerate(intended[:_NAMES_SHOWN]):
        comma = "; " if i + 1 < len(intended) else ". "
        name = Span(_end_of(str(item.name)), Style.NAME, _value_link(run, item.name))
        pieces += [(name, Span(",")), *((Span(f" {word}"),) for word in intended_words(item).split()), (Span(comma),)]
    if len(intended) > _NAMES_SHOWN:
        pieces.append((Span(f"{len(intended) - _NAMES_SHOWN} more. "),))
    pieces.append(
        (Span("To count them: "), Span("origin --benign show", Style.KEY, "origin --benign show"), Span("."))
    )
    nodes = f"-fenn {quoted(skipping(intended))}"
    way = nodes if len(nodes) <= _LONGEST_PATTERN else "--benign skip"
    pieces += [(Span(" A watch skips them with "),), (Span(way, Style.KEY),)]
    return [Flow("Intended", tuple(pieces))]


def ignored_blocks(nodes: Sequence[str]) -> list[Block]:
    """How many nodes that are not finite count as fine by word, with a link to the list of what does."""
    if not nodes:
        return []
    head = line(
        label_span("Ignored"),
        f"{count_text(len(nodes), 'node')} not finite {'counts' if len(nodes) == 1 else 'count'} as fine: ",
        Span("ignored", Style.KEY, "ignored"),
    )
    return [Text((head,))]


def intended_words(item: Intended) -> str:
    """`a mask of -inf, gone in softmax/Softmax`."""
    return f"{item.what}, gone in {_end_of(item.end)}" if item.end else item.what


def _end_of(name: str) -> str:
    """`name`, or as much of its end as is short enough to read."""
    parts = name.split("/")
    while len(name) > _LONGEST_NAME and len(parts) > 1:
        del parts[0]
        name = f"{ELIDED}{'/'.join(parts)}"
    return name


def skipping(intended: Sequence[Intended]) -> str:
    """The regular expression that finds the nodes of `intended`, and no others."""
    nodes = dict.fromkeys(node for item in intended for node in item.nodes)
    return f"^({'|'.join(map(re.escape, nodes))})$"


def link_data(link: Link) -> dict[str, Any]:
    """The JSON form of a step: {tensor, ops, file, line, given, absmax}."""
    return {
        "tensor": str(link.tensor),
        "ops": list(link.ops),
        "file": link.frame.file if link.frame else None,
        "line": link.frame.line if link.frame else None,
        "given": link.given or None,
        "absmax": link.largest,
    }


def after_data(after: Aftermath) -> dict[str, Any]:
    """The JSON form: {bad, seen, total, results, variables}."""
    return {
        "bad": after.bad,
        "seen": after.seen,
        "total": after.total,
        "results": list(after.results),
        "variables": list(after.variables),
    }


def intended_data(item: Intended) -> dict[str, Any]:
    """The JSON form: {tensor, why, end, nodes}."""
    return {"tensor": str(item.name), "why": item.what, "end": item.end or None, "nodes": list(item.nodes)}
