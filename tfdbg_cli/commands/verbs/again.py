"""`again` and `original`: the run with replaced values, and back to the program's own."""

from __future__ import annotations

import argparse
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tfdbg_cli.analysis.difference.changes import Difference, differences
from tfdbg_cli.commands.asked.computed_again import base_of, what_if_of
from tfdbg_cli.commands.context import Context
from tfdbg_cli.commands.interpreter import execute
from tfdbg_cli.commands.registry import WITH_TENSORS, Argument, Command, Outcome, Registry
from tfdbg_cli.commands.syntax import quoted
from tfdbg_cli.commands.views.changed_tensors import changed_data, changed_table
from tfdbg_cli.commands.views.kept_by_set import kept_in_words
from tfdbg_cli.document.document import Block, Document, Text
from tfdbg_cli.document.summary import chip
from tfdbg_cli.document.text import EMPTY_LINE, Line, Span, Style, line
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.model.names import parse_tensor_name
from tfdbg_cli.model.runs import Change, Opened, Run
from tfdbg_cli.model.units import count_text, names_text
from tfdbg_cli.model.values import Value

_RESULTS = 5  # that are shown
_NAMED = 20  # of the others


@dataclass(frozen=True, slots=True)
class _Result:
    """A tensor that the program gets, what it calls it (empty where it has no name), before and after."""

    name: str
    called: str
    was: Value
    now: Value
    dtype: str


def _again(context: Context, options: argparse.Namespace) -> Document:
    base = base_of(context)
    replaced = context.replaced.get(base, {})
    run = context.runs[base]
    what_if = what_if_of(run, context)
    if not replaced:
        raise TfdbgError("No tensor is replaced.", hint="`set TENSOR EXPRESSION` replaces one.")
    made = what_if.again(run, replaced)
    change = made.change
    assert change is not None
    found = list(differences(run.tensors, made.tensors))
    context.look_at_made(made)
    kept = list(kept_in_words(run, replaced))
    blocks: list[Block] = [Text(tuple(_lines(run, made, change, found, kept)))]
    if options.diff and found:
        blocks += [Text((EMPTY_LINE,)), changed_table(run, made, found)]
    return Document("again", tuple(blocks), lambda: _data(run, made, change, found), "again")


def _lines(run: Run, made: Run, change: Change, found: list[Difference], kept: Sequence[str]) -> list[Line]:
    lines = [line(Span(change.title, Style.TITLE))]
    differ = "1 differs" if len(found) == 1 else f"{len(found):,} differ"
    said = f"  {count_text(change.recomputed, 'tensor')} computed again; {differ} from the program's run"
    lines.append(line(f"{said}." if not found else f"{said}, {_first(made, run, found[0])} first."))
    new = [note for note in made.notes if note not in run.notes]
    lines += [line(Span(f"  {note}", Style.WARNING)) for note in (*new, *kept)]
    results = list(_results(run, made, {item.second for item in found}))
    if results:
        lines.append(EMPTY_LINE)
    for result in results[:_RESULTS]:
        link = f"pt {quoted(result.name)}"
        called = [Span(result.called, Style.NAME, link), Span("  ")] if result.called else []
        lines.append(line(*called, Span(result.name, Style.DIM if called else Style.NAME, link)))
        lines.append(line("  was  ", *chip(result.was, result.dtype).spans))
        lines.append(line("  is   ", *chip(result.now, result.dtype).spans))
    if more := results[_RESULTS:]:
        others = count_text(len(more), "other result")
        differ = "differs" if len(more) == 1 else "differ"
        lines.append(line(f"{others} {differ}, too: {names_text((one.called or one.name for one in more), _NAMED)}"))
    links = [("diff", "diff"), ("lt", "lt"), ("origin", "origin"), ("original", "original")]
    spans = [part for text, link in links for part in (Span(text, Style.KEY, link), Span("  "))]
    return [*lines, EMPTY_LINE, line(*spans[:-1])]


def _first(made: Run, run: Run, difference: Difference) -> str:
    if difference.second is not None:
        return str(made.tensors[difference.second].name)
    assert difference.first is not None
    return str(run.tensors[difference.first].name)


def _results(run: Run, made: Run, changed: Container[int | None]) -> list[_Result]:
    """What the run gives back where it differs: the rows of `made` that are `changed`."""
    names: dict[str, list[str]] = {}
    for text, called in zip(run.call.results, run.call.names_of_fetches, strict=False):
        names.setdefault(text, []).append(called)
    found = []
    for text, called_so in names.items():
        name = parse_tensor_name(text)
        before = run.tensors.named(name.node, name.slot) if name else ()
        after = made.tensors.named(name.node, name.slot) if name else ()
        if before and after and after[-1] in changed:
            was, now = run.tensors.value(before[-1]), made.tensors.value(after[-1])
            called = ", ".join(filter(None, called_so))
            found.append(_Result(text, called, was, now, run.tensors[before[-1]].dtype))
    return found


def _data(run: Run, made: Run, change: Change, found: list[Difference]) -> Mapping[str, Any]:
    return {
        "title": change.title,
        "replaced": list(map(str, change.replaced)),
        "recomputed": change.recomputed,
        "notes": [note for note in made.notes if note not in run.notes],
        **changed_data(run, made, found),
    }


def commands(registry: Registry) -> tuple[Command, ...]:
    """The commands; to show the program's own run `original` needs the others in `registry`."""

    def original(context: Context, options: argparse.Namespace) -> Outcome:
        if not context.run.what_if_title:
            where = "Under `tfdbg replay` " if isinstance(context.stop, Opened) and not context.stop.is_replay else ""
            raise TfdbgError("This is the program's own run.", hint=f"{where}`again` makes another of it.")
        context.select_run(base_of(context))
        return execute("lt", context, registry)

    return (
        Command(
            "again",
            (),
            "Compute what depends on the tensors replaced by `set`, and look at that run.",
            _again,
            (Argument(("--diff",), "list the tensors that differ", switch=True),),
            moments=WITH_TENSORS,
            values=True,
            details="""\
Of a run that can be made again, as under `tfdbg replay`, all is computed again, updates included, on copies of the
variables; of any other only what is computed from the replaced tensors. Variables, random numbers and batches are
those of the run, as is what Python functions and tables gave; nothing is written anywhere, and the program goes on as
if nothing had been. The commands then show the new run: origin, lt, pt and all others. `original` leads back.""",
        ),
        Command("original", (), "Back from `again` to the program's own run.", original, moments=WITH_TENSORS),
    )
