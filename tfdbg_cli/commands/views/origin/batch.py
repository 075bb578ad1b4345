"""The line that tells which rows of the batch are behind an origin, or behind what an op refused."""

from __future__ import annotations

from collections.abc import Sequence

from tfdbg_cli.analysis.batch.batch_rows import BatchRows
from tfdbg_cli.analysis.batch.components import given_with
from tfdbg_cli.analysis.batch.replica import replica_given
from tfdbg_cli.analysis.graph.nodes.feeds import fed_elements
from tfdbg_cli.commands.syntax import quoted
from tfdbg_cli.document.labels import label_span
from tfdbg_cli.document.text import Line, Span, Style, line
from tfdbg_cli.model.names import tensor_name_of
from tfdbg_cli.model.runs import Run

_LISTED, _FEEDS = 12, 3


def batch_lines(run: Run, batch: BatchRows) -> list[Line]:
    """The rows of `batch`, those behind offending elements, and what was fed with them; none where there are none."""
    if not batch.rows:
        return []
    replica = replica_given(run, batch.source)
    whose = "" if replica is None else f" that replica {replica} was given"
    text, of_how_many = _rows_text(batch.rows), f" of {'the ' if whose else ''}{batch.size}{whose}"
    if len(batch.rows) == batch.size > 2:
        text, of_how_many = f"all {batch.size} rows", whose
    place = run.call.came.get(batch.source)
    if place is not None and place.single:
        of_how_many += f" of element {place.step:,} of the data set"
    given = () if batch.stored else given_with(run, batch)
    sources = batch.source, batch.source.removesuffix(":0")
    feeds = [
        Span(name, Style.NAME, f"pf {quoted(name)}") for name in sorted(given, key=lambda name: name not in sources)
    ]
    if not feeds and batch.source:
        verb = "pf" if fed_elements(run.call.given, tensor_name_of(batch.source)) is not None else "pt"
        feeds = [Span(batch.source, Style.NAME, f"{verb} {quoted(batch.source)}")]
    link = f"row {batch.rows[0]}"
    head = label_span("Batch")
    parts: list[Span | str] = [head, Span(text, Style.PLAIN, link), of_how_many]
    for i, feed in enumerate(feeds[:_FEEDS]):
        parts += [_verb(run, feed) if i == 0 else ", ", feed]
    parts += [f" and {len(feeds) - _FEEDS} more"] * (len(feeds) > _FEEDS)
    return [line(*parts, *_looked_up(run, batch), _doubt(batch))]


def _doubt(batch: BatchRows) -> str:
    """That some rows may have done no harm, where too many elements are bad to follow each."""
    if not batch.doubtful:
        return ""
    return f"; {_rows_text(batch.doubtful)} may be innocent: of so many bad elements one in each row was followed"


def _looked_up(run: Run, batch: BatchRows) -> list[Span | str]:
    """What is to be said of rows that numbers name which came in: of which table, or that nobody knows of what."""
    lookup = batch.lookup
    if lookup is None:
        return []
    indices, looked_in = (_as_fed(run, name) for name in (lookup.indices, lookup.looked_in))
    if not lookup.is_table:
        return [f"; {indices} names rows of it, so that it may be data or a table"]
    numbers = fed_elements(run.call.given, tensor_name_of(lookup.indices))
    table = Span(looked_in, Style.NAME, f"pf {quoted(looked_in)}")
    if numbers is None or numbers.ndim != 1:
        return ["; they name rows of ", table]
    named = sorted({int(numbers[row]) for row in batch.rows})
    return [f"; {'that is' if len(named) == 1 else 'those are'} ", _rows_text(named), " of ", table]


def _as_fed(run: Run, name: str) -> str:
    """The name by which a run was fed `name`: arguments have no number of an output."""
    node = tensor_name_of(name).node
    return node if node in run.call.given else name


def _verb(run: Run, feed: Span) -> str:
    """How what `feed` names came to the run."""
    computed_by = run.call.carried.get(feed.text.removesuffix(":0"))
    if computed_by is not None:
        return f"; as run #{computed_by} computed "
    return "; fed as " if feed.link.startswith("pf") else "; from "


def _rows_text(rows: Sequence[int]) -> str:
    shown = ", ".join(map(str, rows[:_LISTED]))
    more = len(rows) - _LISTED
    return f"{'row' if len(rows) == 1 else 'rows'} {shown}{f' and {more} more' if more > 0 else ''}"
