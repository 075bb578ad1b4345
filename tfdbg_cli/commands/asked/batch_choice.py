"""The batch that a command asks about: the one behind the origin, or any that the run was given."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from tfdbg_cli.analysis.batch.batch_rows import BatchRows
from tfdbg_cli.analysis.batch.given_batch import given_batch
from tfdbg_cli.analysis.batch.records import records_behind
from tfdbg_cli.analysis.batch.refused_rows import refused_rows
from tfdbg_cli.analysis.origin.by_health import HealthSearch, tells_health_alone
from tfdbg_cli.analysis.origin.dismissed import dismissed_in
from tfdbg_cli.analysis.origin.finding import ends_finite
from tfdbg_cli.analysis.origin.search import OriginSearch
from tfdbg_cli.commands.context import Context
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.model.records import FoundRecords, Record
from tfdbg_cli.plain_text import printable

_KNOWN = "`origin` shows what is known."


def any_batch(context: Context) -> BatchRows:
    """The batch of which a row is asked for by its number: that behind the origin, else the one of the run.

    Raises:
        TfdbgError: the run shows none.

    """
    try:
        return bad_batch(context)
    except TfdbgError as error:
        batch = given_batch(context.run)
        if batch is None:
            none = "No row can be shown by its number: nothing that the run was given is held with two rows or more."
            raise TfdbgError(f"{error.message} {none}", hint="`ri` shows what it was given.") from None
        return batch


def bad_batch(context: Context) -> BatchRows:
    """The rows of the batch behind the origin of the run looked at; found once.

    Raises:
        TfdbgError: nothing is bad here, or no row of a batch could be found behind it.

    """
    known = context.memory.batches
    ignored = tuple(number for number, _ in context.ignored.numbered)
    key = context.current, ignored
    if key not in known:
        search = OriginSearch(context.run, dismissed=dismissed_in(context.run, context.ignored))
        origin = search.first()
        if origin is not None and origin.intended is None:
            origin, _ = search.harmful(origin)
        nan = None if origin is None or origin.batch.rows else search.nan_after(origin)
        told = nan or origin
        known[key] = None if told is None else told.batch
        if origin is not None and ends_finite(context.run, search, origin):
            known[key] = None
            context.memory.no_rows[key] = "What is infinite here leaves results and variables finite"
        elif origin is None and search.dismissals.rows:
            context.memory.no_rows[key] = "What is NaN or infinite here counts as fine (`ignored` lists it)"
    batch = known[key]
    if batch is None or not batch.rows:
        refused = refused_rows(context.run)
        if refused.rows:
            known[key] = refused
            return refused
    if batch is None:
        missing = context.run.lacks
        if tells_health_alone(context.run) and HealthSearch(context.run).first() is not None:
            missing = "There is NaN or infinity here, but its values were not recorded."
        if missing:
            raise TfdbgError(f"{missing} Nobody can tell which rows are bad.", hint=_KNOWN)
        hint = "`row N` shows a row." if given_batch(context.run) is not None else ""
        why = context.memory.no_rows.get(key, "Nothing is NaN or infinite here")
        raise TfdbgError(f"{why}, so no row is bad.", hint=hint)
    if not batch.rows:
        lost = f": {printable(batch.lost)}" if batch.lost else ""
        raise TfdbgError(f"No row of a batch could be found behind the origin{lost}.", hint=_KNOWN)
    return batch


def chosen_row(context: Context, options: argparse.Namespace) -> tuple[BatchRows, int]:
    """The row that `row` with these options shows, and its batch.

    That is the one named, the next or last bad one behind the row shown last, or the first bad one.

    Raises:
        TfdbgError: there is none, or the options exclude each other.

    """
    if options.number is not None and (options.next or options.previous):
        raise TfdbgError("A number and a step exclude each other.", hint="Write: row N, or row --next")
    if options.next and options.previous:
        raise TfdbgError("--next and --previous exclude each other.")
    if options.number is not None:
        batch, at = any_batch(context), int(options.number)
        if not 0 <= at < batch.size:
            raise TfdbgError(f"There is no row {at}: the batch has {batch.size}, from 0.")
        return batch, at
    batch, before = bad_batch(context), context.memory.row.get(context.current)
    if before is None or not (options.next or options.previous):
        return batch, batch.rows[0]
    rows = batch.rows if options.next else batch.rows[::-1]
    found = next((row for row in rows if (row > before if options.next else row < before)), None)
    if found is None:
        raise TfdbgError(f"Row {before} is the {'last' if options.next else 'first'} one that is bad, or behind it.")
    return batch, found


def records_of(context: Context, batch: BatchRows, rows: Sequence[int], seconds: float) -> FoundRecords:
    """The records behind `rows` of the `batch` of the run looked at; found once for as many `seconds`."""
    known, key = context.memory.records, (context.current, batch, tuple(rows), seconds)
    if key not in known:
        known[key] = records_behind(context.run, batch, rows, seconds)
    return known[key]


def found_before(context: Context, batch: BatchRows, row: int) -> Record | None:
    """The record behind `row` of the `batch`, if it was found for another command; None if not."""
    known = context.memory.records.items()
    return next(
        (found.records[row] for key, found in known if key[:2] == (context.current, batch) and row in found.records),
        None,
    )
