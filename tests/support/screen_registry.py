"""Stand-ins for some commands, so that tests of the screen stand on their own: lt, pt, run_info and a few more.

They show values in the simplest way, and fail where a tensor has no array.
"""

from __future__ import annotations

import argparse

from tfdbg_cli.commands.context import Context
from tfdbg_cli.commands.registry import LIVE, Argument, ArgumentKind, Command, Registry, UiAction
from tfdbg_cli.document.document import Document, Text, text_document
from tfdbg_cli.document.table import Column, Table
from tfdbg_cli.document.text import EMPTY_LINE, Line, Span, Style, line, lines_of
from tfdbg_cli.model.decision import Continue, DebugRun, RunUntil


def _lt(context: Context, options: argparse.Namespace) -> Document:
    tensors = context.run.tensors
    order = sorted(range(len(tensors)), key=lambda i: _key(tensors[i], options.sort), reverse=options.reverse)

    def row(i: int) -> list[Span]:
        tensor = tensors[order[i]]
        shape = "?" if tensor.shape is None else str(list(tensor.shape))
        return [
            Span(str(tensor.nbytes), Style.NUMBER),
            Span(tensor.dtype),
            Span(shape),
            Span(tensor.op_type, Style.OP),
            Span(str(tensor.name), Style.NAME, f"pt {tensor.name}"),
        ]

    def head(title: str, key: str, drop: int = 0, right: bool = False) -> Column:
        again = " -r" if options.sort == key and not options.reverse else ""
        return Column(title, right=right, drop=drop, link=f"lt -s {key}{again}")

    columns = (head("bytes", "size", right=True), head("dtype", "dtype"), Column("shape", drop=2))
    columns += (Column("op type", drop=1), head("tensor", "name"))
    heading = line(Span(f"{len(tensors)} tensors", Style.TITLE))
    table = Table(columns, len(tensors), row)
    return Document("tensors", (Text((heading, EMPTY_LINE)), table), dict, "tensors of this run")


def _key(tensor, sort):
    return {"size": tensor.nbytes or 0, "dtype": tensor.dtype, "name": str(tensor.name)}.get(sort, 0)


def _pt(context: Context, options: argparse.Namespace) -> Document:
    name = options.tensor
    indices = context.run.tensors.named(name.split(":")[0])
    value = context.run.tensors.value(indices[0])
    rows = tuple(Line((Span(f"  {row}", Style.NUMBER),), (i, 0)) for i, row in enumerate(value))
    head = (line(Span(name, Style.TITLE)), line("op ", Span("open", Style.NAME, f"ni {name}")), EMPTY_LINE)
    return Document("tensor", (Text(head), Text(rows)), dict, name)


def _many(context: Context, options: argparse.Namespace) -> Document:
    def row(i: int) -> list[Span]:
        return [Span(str(i), Style.NUMBER), Span(f"layer_{i % 97}/op_{i}", Style.NAME, f"pt layer_{i}:0")]

    return Document("many", (Table((Column("row", right=True), Column("tensor")), options.count, row),), dict)


def _text(kind: str, text: str):
    return lambda context, options: text_document(kind, *lines_of(text))


def _boom(context: Context, options: argparse.Namespace) -> Document:
    raise ZeroDivisionError("a bug of ours")


def _late_boom(context: Context, options: argparse.Namespace) -> Document:
    def row(i: int) -> list[Span]:
        if i > 60 and i % 5 == 3:  # not among the rows that a table samples for its widths
            raise KeyError("late")
        return [Span(str(i))]

    return Document("late", (Table((Column("row", width=6),), 1000, row),), dict)


def _config(context: Context, options: argparse.Namespace) -> Document:
    context.set(options.name, options.value)
    return text_document("written", line(f"{options.name} is {options.value} now."))


def _runs(context: Context, options: argparse.Namespace) -> Document:
    context.select_run(options.number - 1)
    return text_document("runs", line(f"run {options.number} of {len(context.stop.runs)}"))


def _run(context: Context, options: argparse.Namespace):
    return RunUntil(options.filter) if options.filter else DebugRun()


WIDE = "x" * 60 + " wide " + "y" * 120 + " end"


def small_registry() -> Registry:
    registry = Registry()
    sort = Argument(("-s", "--sort"), "by", default="")
    reverse = Argument(("-r", "--reverse"), "reverse", switch=True)
    for command in (
        Command("list_tensors", ("lt",), "List.", _lt, (sort, reverse)),
        Command("print_tensor", ("pt",), "Print.", _pt, (Argument(("tensor",), "which", ArgumentKind.TENSOR),)),
        Command("run_info", ("ri",), "About.", _text("info", "1 fetch\n  loss/Mean:0\n" + WIDE)),
        Command("code", (), "Code.", lambda c, o: text_document("code", line(Span(WIDE, Style.STRING)))),
        Command("text", (), "Lines.", _text("text", "\n".join(f"line {i}" for i in range(100)))),
        Command("many", (), "Many rows.", _many, (Argument(("count",), "how many", type=int),)),
        Command("runs", (), "Runs.", _runs, (Argument(("number",), "which", type=int),)),
        Command("origin", (), "Origin.", _text("origin", "loss/Log")),
        Command("boom", (), "A bug.", _boom),
        Command("late", (), "A late bug.", _late_boom),
        Command(
            "config", (), "Set.", _config, (Argument(("name",), "n", ArgumentKind.SETTING), Argument(("value",), "v"))
        ),
        Command("run", ("r",), "Run.", _run, (Argument(("-f", "--filter"), "until", default=""),), LIVE),
        Command("continue", ("c",), "Go on.", lambda c, o: Continue(), moments=LIVE),
        Command("output", (), "Output.", lambda c, o: UiAction.OUTPUT, moments=LIVE),
        Command("prev", (), "Back.", lambda c, o: UiAction.BACK),
        Command("next", (), "Forward.", lambda c, o: UiAction.FORWARD),
        Command("exit", ("quit",), "Leave.", lambda c, o: UiAction.LEAVE),
        Command("help", ("h",), "Help.", _text("help", "help")),
    ):
        registry.add(command)
    return registry
