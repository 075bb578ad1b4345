"""`set` and `unset`: other values for tensors of a run that is over, for `again` to compute with."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence

from tfdbg_cli.analysis.variables.read_values import is_behind_handle, value_before
from tfdbg_cli.commands.asked.computed_again import base_of, what_if_of
from tfdbg_cli.commands.asked.name_endings import ending_in
from tfdbg_cli.commands.asked.new_value import evaluated, parted, with_part
from tfdbg_cli.commands.asked.python_name import python_name
from tfdbg_cli.commands.asked.result_names import result_called, split_of
from tfdbg_cli.commands.asked.returned_copy import computed_choice, computed_with, said_of
from tfdbg_cli.commands.asked.tensor_choice import Choice, choose, sliced, split_device
from tfdbg_cli.commands.asked.variable_meant import VariableMeant, variable_meant
from tfdbg_cli.commands.context import Context
from tfdbg_cli.commands.registry import WITH_TENSORS, Argument, ArgumentKind, Command
from tfdbg_cli.commands.syntax import quoted
from tfdbg_cli.commands.views.gone_on_with import gone_on_with, require_still_here
from tfdbg_cli.document.document import Document, Text, text_document
from tfdbg_cli.document.summary import chip, summary_data
from tfdbg_cli.document.text import EMPTY_LINE, Line, Span, Style, line
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.model.dtypes import name_of
from tfdbg_cli.model.exactness import same_bits
from tfdbg_cli.model.names import TensorName, parse_tensor_name
from tfdbg_cli.model.pausing import Replaceable
from tfdbg_cli.model.runs import Run
from tfdbg_cli.model.statistics import summarize
from tfdbg_cli.model.units import count_text
from tfdbg_cli.model.updates import BEFORE_UPDATE, OWN_OPS
from tfdbg_cli.model.values import Array, NoValue, Value


def _set(context: Context, options: argparse.Namespace) -> Document:
    if options.delete:
        return _take_back(context, options.delete)
    text = (options.assignment or "").strip()
    if not text:
        return _list(context)
    target, expression = parted(text, "set")
    if context.run.paused is not None:
        return _set_live(context, context.run.paused, target, expression)
    base = base_of(context)
    run = context.runs[base]
    what_if = what_if_of(run, context)
    replaced = context.replaced.setdefault(base, {})
    variable = variable_meant(run, target)
    if variable is not None:
        what_if.require_replaceable(run, variable.name)
        replaced[variable.name] = _value_of_variable(context, variable, expression, replaced.get(variable.name))
        return _list(context, variable.name)
    choice = computed_choice(context, what_if, choose(context, target))
    name = _name_of(choice)
    _require_of_program(run, name)
    what_if.require_replaceable(run, name)
    replaced[name] = _new_value(context, choice, expression, replaced.get(name))
    return _list(context, name)


def _set_live(context: Context, paused: Replaceable, target: str, expression: str) -> Document:
    """Give the program that stands behind an op another value than the op gave, or a variable another value."""
    name, slicing = _meant_live(context, paused, target)
    old = _held(context, paused, name, "…" if slicing or "`" in expression else expression)
    whole = with_part(old, slicing, evaluated(context, expression, old.dtype, str(name)), str(name))
    was = _own_value(context.run, name)[0] if name in _held_back(paused) else old
    paused.replace(name, whole)
    context.memory.variables.pop(context.current, None)  # their values were found out before
    dtype = name_of(old.dtype)
    is_variable = name.node in paused.variables
    goes_on = "  The variable holds it now." if is_variable else "  The program is given it when it goes on."
    lines = [
        line(Span(str(name), Style.TITLE), goes_on),
        line("  was  ", *chip(was, dtype).spans),
        line("  is   ", *chip(whole, dtype).spans),
    ]
    data = {"name": str(name), "dtype": dtype, "summary": summary_data(summarize(whole))}
    return text_document("set_live", *lines, data=data, title="set")


def _meant_live(context: Context, paused: Replaceable, target: str) -> tuple[TensorName, str]:
    """The output or variable that `target` means, which may be a result of the program by its name, and its slice."""
    text, slicing = split_of(context.call, split_device(target)[1])
    known = ending_in(text, paused.variables) or [text]
    name = parse_tensor_name(text) or TensorName(known[0], 0)
    if name.node in paused.variables or name.node in context.run.graph:
        return name, slicing
    if context.run.tensors.named(text):
        return TensorName(text, 0), slicing
    return parse_tensor_name(result_called(context.call, text)) or name, slicing


def _held(context: Context, paused: Replaceable, name: TensorName, wanted: str) -> Array:
    """What `name` holds now.

    Raises:
        TfdbgError: it is neither an output of the op nor a variable of this run; the hint says how to have another
            variable hold what is `wanted`.

    """
    try:
        return paused.value(name)
    except TfdbgError as error:
        known = python_name(context, name.node)
        if known:
            way = f"`py {known}.assign({wanted})` writes the variable of the program."
        else:
            way = "`py NAME.assign(VALUE)` writes any other variable of the program, by its name in Python."
        there = known or context.run.tensors.named(name.node) or name.node in context.run.graph
        said = error.message if there else f"This run has no tensor {name}, and no variable {name.node}."
        raise TfdbgError(said, hint=f"{error.hint} {way}".lstrip()) from None


def _require_of_program(run: Run, name: TensorName) -> None:
    """Refuse what tfdbg itself shows of a variable, which no op reads.

    Raises:
        TfdbgError: it is that; the hint names what can be replaced instead.

    """
    node = run.graph.find(name.node)
    if node is None or node.op_type not in OWN_OPS:
        return
    if node.op_type == BEFORE_UPDATE:
        said = f"{name} shows what a variable held before the run: no op reads it."
        raise TfdbgError(said, hint="Replace what was read from the variable.")
    given = [quoted(str(one)) for one in node.inputs if run.tensors.named(one.node, one.slot)]
    raise TfdbgError(
        f"{name} shows what the run left in a variable: no op reads it, so nothing is computed from it.",
        hint=f"Replace what the update is given: set {given[0]} EXPRESSION"
        if len(given) == 1
        else f"Replace what the update is given, or what was read from the variable: `ni {quoted(name.node)}` tells.",
    )


def _name_of(choice: Choice) -> TensorName:
    name = parse_tensor_name(choice.name)
    assert name is not None
    if len(choice.indices) > 1:
        raise TfdbgError(
            f"{choice.name} was produced {len(choice.indices)} times, in a loop that runs as one.",
            hint="Replace what the loop is given.",
        )
    return name


def _new_value(context: Context, choice: Choice, expression: str, known: Array | None) -> Array:
    """The whole new value of the tensor, of its own type and shape.

    Raises:
        TfdbgError: the expression fails, or its value does not fit.

    """
    old = context.run.tensors.value(choice.indices[0])
    if isinstance(old, NoValue):
        raise TfdbgError(f"{choice.name} has no value that could be replaced: {old.text}")
    given = evaluated(context, expression, old.dtype, choice.name)
    return with_part(old if known is None else known, choice.slicing, given, choice.name)


def _value_of_variable(context: Context, variable: VariableMeant, expression: str, known: Array | None) -> Array:
    """The whole new value of a variable; errors as `_new_value`."""
    old = value_before(context.runs[base_of(context)], variable.name)
    if old is None:
        raise TfdbgError(
            f"What the variable {variable.name.node} held before the run is not known, so no other value is taken.",
            hint="Replace what is computed from it.",
        )
    given = evaluated(context, expression, old.dtype, str(variable.name))
    return with_part(old if known is None else known, variable.slicing, given, str(variable.name))


def _unset(context: Context, options: argparse.Namespace) -> Document:
    return _take_back(context, options.tensor)


def _take_back(context: Context, text: str) -> Document:
    """Take back the tensor that `text` means, or its part, or all where it is empty."""
    paused, replaced = context.run.paused, context.replaced.get(base_of(context), {})
    held = list(replaced) if paused is None else _held_back(paused)
    slicing = split_of(context.call, text)[1] if text else ""
    for name in [_replaced_name(context, text, held)] if text else held:
        rest = _without(context, name, slicing) if slicing else None
        if paused is not None:
            context.memory.variables.pop(context.current, None)
            if rest is None:
                paused.take_back(name)
            else:
                paused.replace(name, rest)
        elif rest is None:
            del replaced[name]
        else:
            replaced[name] = rest
    return _list(context)


def _held_back(paused: Replaceable) -> list[TensorName]:
    """What has another value than its own at the stop."""
    return [*paused.pending, *paused.written]


def _without(context: Context, name: TensorName, slicing: str) -> Array | None:
    """The value in the place of that of `name`, which has its own again in the part `slicing`; None if then in all.

    Raises:
        TfdbgError: the slice does not fit, or holds its own value already, or that is not known.

    """
    paused, base = context.run.paused, base_of(context)
    now = context.replaced[base][name] if paused is None else paused.value(name)
    own = _own_value(context.run if paused is not None else context.runs[base], name)[0]
    if isinstance(own, NoValue):
        raise TfdbgError(
            f"What {name}{slicing} was is not known: {own.text}",
            hint=f"`unset {quoted(str(name))}` takes back all of it.",
        )
    whole = with_part(now, slicing, sliced(own, slicing), str(name))
    if same_bits(whole, now):
        raise TfdbgError(f"{name}{slicing} is not replaced.", hint="`set` lists what is replaced.")
    return None if same_bits(whole, own) else whole


def _replaced_name(context: Context, text: str, replaced: Sequence[TensorName]) -> TensorName:
    """Which of the tensors that are `replaced` the user's `text` means."""
    wanted = split_of(context.call, text)[0]
    found = ending_in(wanted, map(str, replaced)) or ending_in(f"{wanted}:0", map(str, replaced))
    exact = [str(name) for name in replaced if str(name) in (wanted, f"{wanted}:0")]
    found = exact or found
    paused = context.run.paused
    if not found:
        require_still_here(context, wanted)
    if len(found) == 1:
        name = parse_tensor_name(found[0])
    elif paused is not None and wanted.removesuffix(":0") in paused.variables:
        name = TensorName(wanted.removesuffix(":0"), 0)
    else:
        name = _name_of(choose(context, text))
    if name is not None and name not in replaced:
        name = computed_with(context.run, name) or name
    if name is None or name not in replaced:
        known = ", ".join(map(str, replaced))
        raise TfdbgError(f"{name} is not replaced.", hint=f"Replaced: {known}." if known else "No tensor is.")
    return name


def _list(context: Context, just_set: TensorName | None = None) -> Document:
    unset, paused = Span("unset", Style.KEY, "unset"), context.run.paused
    if paused is not None:
        given = {name: paused.value(name) for name in paused.pending}
        held = {name: paused.value(name) for name in paused.written}
        heads = {"When it goes on the program is given": given, "Variables that hold another value": held}
        back = " takes all of this back, until the program goes on." if held else " gives it what the op gave."
        return _listing(context.run, heads, line(unset, back), gone_on_with(context), on_screen=context.later)
    values = context.replaced.get(base_of(context), {})
    foot = line(Span("again", Style.KEY, "again"), " computes what depends on them; ", unset, " drops them.")
    heads = {f"{count_text(len(values), 'tensor')} replaced": values}
    run, before = context.runs[base_of(context)], gone_on_with(context)
    return _listing(run, heads, foot, before, just_set, on_screen=context.later)


def _listing(
    run: Run,
    heads: Mapping[str, Mapping[TensorName, Array]],
    foot: Line,
    before: Sequence[Line] = (),
    just_set: TensorName | None = None,
    *,
    on_screen: bool,
) -> Document:
    """The tensors of `run` that have values in place of their own, and those values, below each of `heads`.

    What is said of stops `before` this one stands between these and the `foot`. On a screen Enter does what the
    `foot` offers; elsewhere it begins at the one that was `just_set`.
    """
    if not any(heads.values()):
        nothing = (line("No tensor is replaced."), *before)
        return text_document("replaced", *nothing, data={"tensors": []}, title="set")
    lines: list[Line] = []
    data = []
    at: int | None = None
    for head, values in heads.items():
        lines += [line(Span(head, Style.TITLE)), EMPTY_LINE] if values else []
        for name, value in values.items():
            was, dtype = _own_value(run, name)
            at = len(lines) if name == just_set else at
            lines.append(line(Span(str(name), Style.NAME, f"pt {quoted(str(name))}")))
            lines.append(line("  was  ", *chip(was, dtype).spans))
            lines.append(line("  is   ", *chip(value, dtype, summarize(value)).spans))
            said = said_of(run, name)
            lines += [line(Span(f"  {said}", Style.DIM))] if said else []
            data.append({"name": str(name), "dtype": dtype, "summary": summary_data(summarize(value))})
        lines += [EMPTY_LINE] if values else []
    lines += [*before, EMPTY_LINE] if before else []
    lines.append(foot)
    focus = len(lines) - 1 if on_screen else at
    return Document("replaced", (Text(tuple(lines)),), lambda: {"tensors": data}, "set", focus=focus)


def _own_value(run: Run, name: TensorName) -> tuple[Value, str]:
    """What the tensor `name` of `run`, or the variable behind that handle, holds there, and its dtype."""
    if run.paused is not None and name in run.paused.written:
        held = run.paused.written[name]
        return held, name_of(held.dtype)
    rows = run.tensors.named(name.node, name.slot)
    if rows and not is_behind_handle(run, name):
        return run.tensors.value(rows[-1]), run.tensors[rows[-1]].dtype
    value = value_before(run, name)
    assert value is not None  # else it was not replaced
    return value, name_of(value.dtype)


COMMANDS = (
    Command(
        "set",
        (),
        "Replace the value of a tensor, for `again` to compute with; in the middle of a run, for the program itself.",
        _set,
        (
            Argument(
                ("assignment",), "the tensor, with a slice if wanted, and an expression", ArgumentKind.TENSOR,
                metavar="TENSOR EXPRESSION", nargs="...?",
            ),
            Argument(
                ("-d", "--delete"), "take TENSOR, or its slice, back", ArgumentKind.TENSOR, metavar="TENSOR",
                default="",
            ),
        ),
        moments=WITH_TENSORS,
        values=True,
        details="""\
Without arguments the replaced tensors are listed. The expression is one of `eval`: NumPy as np, tensors in
backticks. It must have the shape of the tensor or of the slice, or be a single number. The program's own run and
its state stay as they are. A variable by its name is what it held before the run: all that is read from it, and its
updates, follow. That takes a run that can be made again.

Where the program stands behind an op that ran eagerly, the program itself is given the value in place of what that op
gave, or the variable is assigned it; `unset` puts back what it held, until the program goes on: then nothing does.
`py NAME.assign(VALUE)` writes a variable that this run has not come to.

Examples:
  set prob:0 np.clip(`prob:0`, 1e-7, 1)
  set 'logits:0[0, :]' 0
  set 'dense/kernel[3, 5]' 0.1
  set -d prob:0""",
        acts=True,
    ),
    Command(
        "unset",
        (),
        "Take replacements by `set` back.",
        _unset,
        (
            Argument(
                ("tensor",), "the tensor, with a slice if wanted; without it all", ArgumentKind.TENSOR, nargs="?",
                metavar="TENSOR", default="",
            ),
        ),
        moments=WITH_TENSORS,
        acts=True,
    ),
)  # fmt: skip
