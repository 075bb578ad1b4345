"""`find`: whatever has a name at this stop, by a few letters of it."""

from __future__ import annotations

import argparse

from tfdbg_cli.commands.context import Context
from tfdbg_cli.commands.finding import FoundKind, NameHit, NameSearch
from tfdbg_cli.commands.query.argument import QUERY_ARGUMENT
from tfdbg_cli.commands.query.plain_rows import PlainRows
from tfdbg_cli.commands.registry import EVERYWHERE, Argument, Command, Moment, Registry
from tfdbg_cli.commands.views.lists.found import FoundRows
from tfdbg_cli.document.document import Block, Document, Text
from tfdbg_cli.document.rows import Rows
from tfdbg_cli.document.text import EMPTY_LINE, Span, Style, line
from tfdbg_cli.errors import TfdbgError

_SHOWN = 20


def _facts(context: Context) -> PlainRows[NameHit]:
    """What a query can ask of a hit."""

    def op_type(hit: NameHit) -> str:
        node = context.graph.find(hit.name) if hit.kind in {FoundKind.TENSOR, FoundKind.OP} else None
        return "" if node is None else node.op_type

    return PlainRows("a name", lambda hit: hit.name, {"kind": lambda hit: hit.kind.value, "op": op_type})


def commands(registry: Registry) -> tuple[Command, ...]:
    """The command `find`, which finds those in `registry` too."""

    def find(context: Context, options: argparse.Namespace) -> Document:
        if options.most < 1:
            raise TfdbgError(f"-m counts hits from 1; {options.most} is too few.")
        text = options.text.strip()
        finding = NameSearch(context, registry)
        finding.ask(text)
        finding.work(lambda: False)
        left = _facts(context).left(options.query, finding.hits, command.spell(options, query=""))
        rows = FoundRows(context, registry, left.rows[: options.most])
        for row in range(len(rows.hits)):
            if rows.missing(row):
                list(rows.count(row))
        left_out = (len(left.rows) if options.query else finding.total) - len(rows.hits)
        head = line(Span(f"{finding.total:,} of {finding.names:,} names", Style.TITLE), f" hold {text}")
        blocks: list[Block] = [
            Text((head, *left.head, EMPTY_LINE)),
            Rows(len(rows.hits), lambda i: rows.line(i, context.width)),
        ]
        if left_out > 0:
            more = Span(f"{left_out:,} more: type more letters, or -m N.", Style.HINT)
            blocks.append(Text((EMPTY_LINE, line(more))))

        def data() -> dict[str, object]:
            hits = [rows.data(row) for row in range(len(rows.hits))]
            return {"text": text, "names": finding.names, "total": finding.total, "hits": hits, **left.data}

        return Document("found", tuple(blocks), data, left.title(f"find {text}"))

    command = Command(
        "find",
        (),
        "Find a tensor, layer, op, file, command or run by a few letters of its name.",
        find,
        (
            Argument(("text",), "letters of the name, in order; words that all have to be there", nargs="..."),
            Argument(
                ("-m", "--most"), f"how many to show (default: {_SHOWN})", metavar="N", type=int, default=_SHOWN
            ),
            QUERY_ARGUMENT,
        ),
        moments=EVERYWHERE - {Moment.STEPPING},
        section="Look",
        details="""\
The best hits come first: whole names, beginnings, beginnings of words (behind / and _, at capitals), first letters of
words, the middle of words, letters here and there; of equal ones the shorter name. A capital makes the case
of all letters count. A name is listed once: that of a tensor stands for its op, too, and :0 behind it may be left
out. A result is found by what the program calls it. On the screen Ctrl-P finds as one types.

Examples:
  find mm              MatMul, behind whatever scope
  find grad dense
  find mm -q kind=tensor     of the 300 best hits those that are tensors
  find lt""",
    )
    return (command,)
