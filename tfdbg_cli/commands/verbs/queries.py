"""`queries`: what a query can ask of a row, and the queries that were given names."""

from __future__ import annotations

import argparse

from tfdbg_cli.commands.context import Context
from tfdbg_cli.commands.query.argument import QUERY_ARGUMENT
from tfdbg_cli.commands.query.facts import FACTS
from tfdbg_cli.commands.query.named import keep_query, named_queries
from tfdbg_cli.commands.query.plain_rows import PlainRows
from tfdbg_cli.commands.registry import Argument, Command
from tfdbg_cli.commands.syntax import quoted
from tfdbg_cli.document.definitions import Definitions
from tfdbg_cli.document.document import Block, Document, Text
from tfdbg_cli.document.text import EMPTY_LINE, Span, Style, line
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.paths import queries_file


def _queries(context: Context, options: argparse.Namespace) -> Document:
    if options.query and (options.name or options.forget):
        raise TfdbgError(
            "-q narrows the list; a query is kept or forgotten without it.", hint="Write: queries -q QUERY"
        )
    if options.forget and options.text:
        raise TfdbgError("A query is kept or forgotten, not both.", hint="Write: queries NAME --forget")
    if options.name and not (options.text or options.forget):
        raise TfdbgError("There is no query behind the name.", hint="Write: queries NAME 'QUERY'")
    if options.name:
        keep_query(options.name, options.text)
    kept = named_queries()
    facts = [(", ".join(fact.names), fact.meaning) for fact in FACTS]
    named = [(f"@{name}", text) for name, text in kept.items()]
    left = _ROWS.left(options.query, [*named, *facts], "queries")
    known = {name: text for name, text in kept.items() if (f"@{name}", text) in left.rows}
    blocks: list[Block] = [Text((*left.head, EMPTY_LINE))] if left.head else []
    if known:
        pairs = tuple(
            (Span(f"@{name}", Style.KEY, f"lt -q {quoted('@' + name)}"), Span(text)) for name, text in known.items()
        )
        where = line(Span(f"Kept in {queries_file()}", Style.DIM))
        blocks += [Text((line("Queries with a name:"), EMPTY_LINE)), Definitions(pairs, indent="  ")]
        blocks += [Text((EMPTY_LINE, where, EMPTY_LINE))]
    meanings = tuple(
        (Span(names, Style.KEY), Span(meaning)) for names, meaning in facts if (names, meaning) in left.rows
    )
    if meanings:
        blocks += [Text((line("A row can be asked for:"), EMPTY_LINE)), Definitions(meanings, indent="  ")]
    data = {"queries": known, "path": str(queries_file()), **left.data}
    return Document("queries", tuple(blocks), lambda: data, left.title("queries"))


_ROWS = PlainRows[tuple[str, str]](
    "a fact or a query", lambda row: f"{row[0]} {row[1]}", {"name": lambda row: row[0].removeprefix("@")}
)
COMMAND = Command(
    "queries",
    (),
    "What `lt -q` and the key f can ask of rows; keep queries by name.",
    _queries,
    (
        Argument(("name",), "the name to keep a query by", nargs="?", default=""),
        Argument(("text",), "the query, in quotes", nargs="?", default="", metavar="QUERY"),
        Argument(("--forget",), "forget the query of that name", switch=True),
        QUERY_ARGUMENT,
    ),
    section="Look",
    details="""\
Words are regular expressions that are searched in the name; a capital in one makes the case count, a colon lets it
search `node:slot`. What stands side by side must all hold; `or`, `not` and brackets are as usual, and quotes make
plain text of anything. Texts compare by = != and, with a regular expression, ~ !~; numbers by < <= > >= too. What
only values tell is counted where nothing else decides; for a row of which nobody recorded it neither the query nor
its `not` holds, and the list says for how many. @NAME stands for the query that was kept as NAME.

Examples:
  lt -q 'dense (nan>0 or absmax>1e4)'      in every front end; on the screen f, and no quotes
  lt -q 'shape=[*,128] not role=grad'
  ll -q 'bad>0 size>1MB'
  queries sick 'nan>0 or inf>0'            keep one
  lt -q '@sick role=grad'                  and use it""",
    acts=True,
)
