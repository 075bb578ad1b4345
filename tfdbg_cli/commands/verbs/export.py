"""`export`: tensors and tables for other programs."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence

from tfdbg_cli.commands.asked.tensor_choice import choose, part_shown
from tfdbg_cli.commands.context import Context
from tfdbg_cli.commands.interpreter import execute
from tfdbg_cli.commands.query.argument import QUERY_ARGUMENT
from tfdbg_cli.commands.query.named import asked_query
from tfdbg_cli.commands.query.tensor_rows import TensorRows
from tfdbg_cli.commands.registry import WITH_TENSORS, Argument, ArgumentKind, Command, Registry
from tfdbg_cli.commands.views.given_instead import given_instead
from tfdbg_cli.commands.views.values.exported import (
    SUFFIXES,
    Exported,
    export_json,
    export_table,
    export_tensors,
    require_suffix,
)
from tfdbg_cli.document.document import Document, text_document
from tfdbg_cli.document.text import Line, line
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.model.units import count_text
from tfdbg_cli.model.values import NoValue

_TABLES = (".csv", ".json")


def commands(registry: Registry) -> tuple[Command, ...]:
    """The command `export`; to write the table of another one it needs those in `registry`."""

    def run(context: Context, options: argparse.Namespace) -> Document:
        if options.table:
            return _export_table(context, options, registry)
        return _export_tensors(context, options)

    command = Command(
        "export",
        (),
        "Write tensors, or the table of a command, to a file for other programs.",
        run,
        (
            Argument(("file",), "NAME.npy, .npz, .csv, .json or .safetensors", ArgumentKind.PATH, metavar="FILE"),
            Argument(("tensors",), "tensors; slices may follow", ArgumentKind.TENSOR, metavar="TENSOR", nargs="*"),
            QUERY_ARGUMENT,
            Argument(("-n", "--number"), "which execution, from 0; -1 is the last", metavar="K", type=int),
            Argument(("--table",), "a command whose table is written (.csv, .json)", metavar="COMMAND", default=""),
            Argument(("--force",), "replace a file that is there", switch=True),
        ),
        moments=WITH_TENSORS,
        values=True,
        section="Keep",
        details="""\
The name of the file says the format. Without TENSOR all that -q admits are written, else every one of the run. In a
.csv file one array of up to two axes stands as it lies, several and larger ones with a row for each element. A .npy
or .npz file holds bfloat16 and 8 bit floats as float32, .safetensors as they are; that holds no texts. Types that a
file does not have stand there as others that hold them exactly, such as qint8 as int8, and the answer says so.
A table is written as --json gives it: with whole names, and numbers that are not rounded.

Examples:
  export log.npy 'loss/Log:0[0]'
  export gradients.npz -q 'role=grad'
  export run.safetensors
  export tensors.csv --table 'lt --stats -s worst'
  export layers.json --table layers""",
        acts=True,
    )
    return (command,)


def _export_tensors(context: Context, options: argparse.Namespace) -> Document:
    require_suffix(options.file, SUFFIXES)
    lost: list[str] = []
    names: list[str] = []
    tensors = list(_chosen(context, options, lost, names))
    if not tensors:
        raise TfdbgError("No tensor has a value to export.", hint=lost[0] if lost else "`lt` lists the tensors.")
    said = [export_tensors(tensors, options.file, force=options.force)]
    notes = [f"{count_text(len(lost), 'tensor')} without a value left out. The first: {lost[0]}"] if lost else []
    notes += [*(told.text for told in given_instead(context, names)), *_not_the_programs(context)]
    return _answer(options, said, {"tensors": len(tensors), "notes": notes})


def _chosen(context: Context, options: argparse.Namespace, lost: list[str], names: list[str]) -> Iterator[Exported]:
    """The values that are asked for, the names of their tensors in `names`; what others say goes into `lost`."""
    store = context.run.tensors
    for text in options.tensors:
        choice = choose(context, text)
        index = choice.execution(options.number)
        value = part_shown(store, index, choice.slicing)
        if isinstance(value, NoValue):
            raise TfdbgError(f"{choice.name} has no value: {value.text}")
        names.append(str(choice.name))
        yield Exported(f"{choice.name}{choice.slicing}", store[index].dtype, value)
    if options.tensors:
        return
    for index in _admitted(context, options.query):
        value, tensor = store.value(index), store[index]
        if isinstance(value, NoValue):
            lost.append(f"{tensor.name}: {value.text}")
        else:
            names.append(str(tensor.name))
            times = f" execution {tensor.execution}" if tensor.execution else ""
            yield Exported(f"{tensor.name}{times}", tensor.dtype, value)


def _admitted(context: Context, query: str) -> Sequence[int]:
    everything = range(len(context.run.tensors))
    if not query:
        return everything
    for answer in TensorRows(context).select(asked_query(query), everything):
        if answer is not None:
            return answer.indices
    return ()


def _export_table(context: Context, options: argparse.Namespace, registry: Registry) -> Document:
    if options.tensors or options.query:
        raise TfdbgError("--table writes what a command shows; tensors are named without it.")
    suffix = require_suffix(options.file, _TABLES)
    shown = execute(options.table, context, registry)
    if not isinstance(shown, Document):
        raise TfdbgError(f"{options.table!r} shows no table.", hint="Write: export FILE.csv --table 'lt --stats'")
    if suffix == ".json":
        said = export_json(shown.data(), options.file, force=options.force)
    else:
        said = export_table(shown.data(), options.table, options.file, force=options.force)
    return _answer(options, [said], {"table": options.table, "notes": _not_the_programs(context)})


def _not_the_programs(context: Context) -> list[str]:
    """That what is written is of a run that the program never made; empty of its own runs."""
    return [f"It is of a run with other values: {context.run.what_if_title}."] if context.asks_what_if else []


def _answer(options: argparse.Namespace, said: list[Line], data: dict[str, object]) -> Document:
    notes = data["notes"]
    assert isinstance(notes, list)
    lines = [*said, *(line(note) for note in notes)]
    return text_document("export", *lines, data={"path": options.file, **data}, title=f"export {options.file}")
