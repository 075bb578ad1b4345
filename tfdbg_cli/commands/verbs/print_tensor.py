"""`print_tensor`: the value of a tensor."""

from __future__ import annotations

import argparse
from dataclasses import replace
from typing import Any

from tfdbg_cli.analysis.origin.origin_found import Origin
from tfdbg_cli.commands.asked.result_names import split_of
from tfdbg_cli.commands.asked.tensor_choice import Choice, choose, part_shown
from tfdbg_cli.commands.context import Context
from tfdbg_cli.commands.registry import LOOKING, Argument, ArgumentKind, Command
from tfdbg_cli.commands.syntax import quoted
from tfdbg_cli.commands.views.given_instead import given_instead
from tfdbg_cli.commands.views.links import given_key
from tfdbg_cli.commands.views.lists.tensor_columns import tensor_data
from tfdbg_cli.commands.views.values.executions import ShownExecutions, which
from tfdbg_cli.commands.views.values.feed_page import feed_document
from tfdbg_cli.commands.views.values.value_view import QUICK, VALUE_ARGUMENTS, saved, view, written_data
from tfdbg_cli.commands.views.variable_view import variable_document
from tfdbg_cli.document.document import Document, Text
from tfdbg_cli.document.summary import summary_data, summary_lines
from tfdbg_cli.document.text import EMPTY_LINE, Line, Span, Style, line, lines_of
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.model.names import short_device, tensor_name_of
from tfdbg_cli.model.tensors import Tensor, described_with_size
from tfdbg_cli.model.units import bytes_text, shape_text
from tfdbg_cli.model.values import Array, Lack, NoValue


def _print_tensor(context: Context, options: argparse.Namespace) -> Document:
    try:
        choice = choose(context, options.tensor, options.device)
    except TfdbgError:
        variable = variable_document(context, options.tensor.removesuffix(":0"))
        if variable is not None and not options.write_path:
            return variable
        given = _given(context, options)
        if given is None:
            raise
        return given

    def spell(number: str) -> str:
        return COMMAND.spell(options, number=number, write_path="", force=False)

    asked = which(choice, options.number)
    if asked is None and len(choice.indices) > 1 and not options.write_path:
        executions = ShownExecutions(context, options, choice, range(len(choice.indices)), spell)
        return executions.stacked() if choice.slicing else executions.listing()
    if not isinstance(asked, int | None):
        return ShownExecutions(context, options, choice, asked, spell).stacked()
    index = choice.execution(asked)
    value = part_shown(context.run.tensors, index, choice.slicing)
    head = _head(context, options, choice, index)
    title = f"pt {choice.name}{choice.slicing}"
    if isinstance(value, NoValue):
        return _no_value(context, options, head, index, value, title)
    return _value(context, options, choice, index, value, head, title)


def _given(context: Context, options: argparse.Namespace) -> Document | None:
    """What the run was given under that name, where no tensor shows it; None where it was given no such thing."""
    text, slicing = split_of(context.call, options.tensor)
    if options.device or text.count(":") > 1:  # the second one names a debug op
        return None
    key = given_key(context.call, tensor_name_of(text))
    return None if key is None else feed_document(context, options, f"{key}{slicing}")


def _value(
    context: Context,
    options: argparse.Namespace,
    choice: Choice,
    index: int,
    array: Array,
    head: list[Line],
    title: str,
) -> Document:
    quick = not choice.slicing and (options.numeric_summary or array.size <= QUICK)
    dtype = context.run.tensors[index].dtype
    shown = view(context, options, array, dtype, context.summary(index) if quick else None)
    if len(choice.indices) > 1:  # the text leads to the other executions
        shown = replace(shown, as_text=True)
    begin = None if choice.slicing else _offending(context, index)
    shown = replace(shown, begin=begin, cut=bool(choice.slicing))
    written = saved(options, array, dtype)

    def data() -> dict[str, Any]:
        extra = {"slice": choice.slicing} if choice.slicing else {}
        size = {"nbytes": described_with_size(context.run.tensors, index).nbytes}
        return tensor_data(context, index) | size | extra | shown.data() | written_data(options)

    return Document("tensor", (Text((*head, *written)), *shown.blocks()), data, title)


def _offending(context: Context, index: int) -> tuple[int, ...] | None:
    """The first element that is bad of the tensor at `index`, where `origin` found that it went wrong there."""
    origin = context.memory.origins.get(context.current)
    if not isinstance(origin, Origin) or origin.index != index or not origin.elements:
        return None
    return origin.elements[0].index


def _no_value(
    context: Context, options: argparse.Namespace, head: list[Line], index: int, value: NoValue, title: str
) -> Document:
    if value.lack is Lack.OPAQUE and not options.write_path:
        variable = variable_document(context, context.run.tensors[index].node)
        if variable is not None:
            return variable
    if options.write_path:
        raise TfdbgError(f"There is nothing to write: {value.text}")
    summary = context.summary(index)  # some recordings have it without the value
    shown = {"summary": summary_data(summary), "value": None, "elided": False, "lack": str(value.lack)}
    said = [] if summary is None else [*summary_lines(summary), EMPTY_LINE]
    said += lines_of(value.text, Style.WARNING)
    data = tensor_data(context, index) | shown
    return Document("tensor", (Text((*head, EMPTY_LINE, *said)),), lambda: data, title, lack=value.text)


def _head(context: Context, options: argparse.Namespace, choice: Choice, index: int) -> list[Line]:
    lines = [line(Span("Tensor ", Style.LABEL), Span(f"{choice.name}{choice.slicing}", Style.TITLE))]
    lines.append(_facts(described_with_size(context.run.tensors, index)))
    lines += given_instead(context, [choice.name])
    if len(choice.indices) > 1:
        lines.append(_neighbours(options, choice, choice.indices.index(index)))
    return lines


def _facts(tensor: Tensor) -> Line:
    parts: tuple[tuple[str, Span], ...] = (
        ("dtype", Span(tensor.dtype)),
        ("shape", Span(shape_text(tensor.shape), Style.NUMBER)),
        ("size", Span(bytes_text(tensor.nbytes), Style.NUMBER)),
        ("op", Span(tensor.op_type, Style.OP, f"ni {quoted(tensor.node)}")),
    )
    if tensor.device:  # unknown where values were fetched from the Python graph
        parts = (*parts, ("device", Span(short_device(tensor.device), Style.DEVICE)))
    spans: list[Span | str] = []
    for name, span in parts:
        spans += ["  ", Span(f"{name} ", Style.LABEL), span]
    return line(*spans)


def _neighbours(options: argparse.Namespace, choice: Choice, number: int) -> Line:
    """Which execution this is, with links to the one before and the one after."""
    spans: list[Span | str] = [f"  execution {number} of 0 to {len(choice.indices) - 1}"]
    if number > 0:
        spans += ["  ", Span("← before", Style.KEY, COMMAND.spell(options, number=number - 1))]
    if number + 1 < len(choice.indices):
        spans += ["  ", Span("after →", Style.KEY, COMMAND.spell(options, number=number + 1))]
    return line(*spans, "  ", Span("all", Style.KEY, COMMAND.spell(options, number=None)))


COMMAND = Command(
    "print_tensor",
    ("pt",),
    "Print the value of a tensor, or a slice of it.",
    _print_tensor,
    (
        Argument(
            ("tensor",), "node:slot, or the node alone if it has one output; a slice may follow", ArgumentKind.TENSOR
        ),
        Argument(("-n", "--number"), "which execution, from 0; -1 is the last, 2:5 and all are several", metavar="K"),
        Argument(
            ("--device",),
            "the device, where several hold the tensor",
            ArgumentKind.DEVICE,
            metavar="NAME",
            default="",
        ),
        *VALUE_ARGUMENTS,
    ),
    moments=LOOKING,
    values=True,
    details="""\
Slices are Python's: negative indices, steps and ... work. A tensor produced several times (in a loop) is listed
unless -n says which; of several at once the values stand one below another, single numbers in a table under a
curve, and -w writes one array with the executions as first axis. The last parts of a name are enough while they fit
one tensor only. The program's own np.set_printoptions is respected and never changed; --precision, --suppress,
--edgeitems, --linewidth and --threshold hold for this screen alone.

Examples:
  pt loss/Log:0
  pt 'dense/MatMul:0[0, -3:, ...]' -s
  pt prob -r [-inf,0]
  pt step/while/Add:0 -n -1
  pt 'cell/Mul:0[0]' -n 2:5
  pt w:0 -w w.npy""",
)
