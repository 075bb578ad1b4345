"""The commands within the node stepper; `invoke_stepper` leads there."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from tfdbg_cli.commands.asked.name_endings import the_one_ending_in
from tfdbg_cli.commands.asked.new_value import evaluated, parted, with_part
from tfdbg_cli.commands.asked.result_names import result_called, split_of
from tfdbg_cli.commands.asked.returned_copy import copied
from tfdbg_cli.commands.asked.variable_meant import variable_meant
from tfdbg_cli.commands.context import Context
from tfdbg_cli.commands.interpreter import execute
from tfdbg_cli.commands.registry import Argument, ArgumentKind, Command, Moment, Outcome, Registry
from tfdbg_cli.commands.syntax import quoted
from tfdbg_cli.commands.views.links import node_link
from tfdbg_cli.commands.views.lists.sorted_nodes import focus_of, legend, list_data, node_table, window
from tfdbg_cli.document.document import Document, Text
from tfdbg_cli.document.summary import chip, summary_data
from tfdbg_cli.document.text import EMPTY_LINE, Line, Span, Style, line
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.model.dtypes import element_type_named, name_of
from tfdbg_cli.model.names import TensorName, node_of, tensor_name_of
from tfdbg_cli.model.runs import RunStart
from tfdbg_cli.model.statistics import summarize
from tfdbg_cli.model.stepping import From, Stepped, Stepper
from tfdbg_cli.model.units import count_text, names_text
from tfdbg_cli.model.values import Array, NoValue

_SHOWN = 8  # names in one line
_WITHIN = frozenset({Moment.STEPPING})


def stepper_of(context: Context) -> Stepper:
    """The stepper at the prompt."""
    assert context.stepper is not None
    return context.stepper


def _list(context: Context, options: argparse.Namespace) -> Document:
    stepper = stepper_of(context)
    count = len(stepper.nodes)
    low = 0 if options.lower_bound is None else options.lower_bound
    high = count if options.upper_bound is None else options.upper_bound
    if not 0 <= low <= high:
        raise TfdbgError(f"-l {low} -u {high} is no range.", hint=f"The nodes are numbered 0 to {count - 1}.")
    rows = range(min(low, count), min(high, count))
    head = line(Span(f"Topologically sorted nodes: {len(rows)} of {count}", Style.TITLE))
    blocks = (Text((head, *legend(), EMPTY_LINE)), node_table(stepper, rows))
    return Document("sorted_nodes", blocks, lambda: list_data(stepper, rows), "nodes", focus=focus_of(stepper, rows))


def _step(context: Context, options: argparse.Namespace) -> Document:
    if options.num_times < 1:
        raise TfdbgError(f"-t {options.num_times} is no number of steps.", hint="Such as: step -t 10")
    stepper = stepper_of(context)
    made: list[Stepped] = []
    problem: TfdbgError | None = None
    for _ in range(options.num_times):
        try:
            made.append(stepper.step())
        except TfdbgError as error:
            problem = error
            break
    context.look_at_steps()
    if not made and problem is not None:
        raise problem
    # Each step is shown in the place of the last one, so its page is that of `step`, however many steps it was.
    return replace(_report(context, made, problem), command="step")


def _cont(context: Context, options: argparse.Namespace) -> Document:
    stepper = stepper_of(context)
    name = _tensor(context, options.target)[0].node
    try:
        made = stepper.cont(
            name,
            invalidate=options.invalidate_from_updated_variables,
            restore=options.restore_variable_values,
        )
    finally:
        context.look_at_steps()
    return _report(context, [made], None)


def _tensor(context: Context, text: str) -> tuple[TensorName, str]:
    """The tensor that `text` means, and the slice behind it: a node, a tensor, a result, or the last parts of one.

    What nobody knows is given back as it is.
    """
    names = [node.name for node in stepper_of(context).nodes]
    known = set(names)
    if text in known:
        return TensorName(text, 0), ""
    name, slicing = split_of(context.call, text)
    asked = tensor_name_of(name)
    if asked.node in known:
        return asked, slicing
    result = result_called(context.call, name)
    if result and node_of(result) in known:
        return tensor_name_of(result), slicing
    found = the_one_ending_in(asked.node, names, "nodes")
    return (TensorName(found, asked.slot) if found in known else asked), slicing


def _computed_with(context: Context, name: TensorName, asked: str) -> TensorName:
    """`name`, or in the place of a copy that is asked for by the program's name what the run computes with."""
    if result_called(context.call, asked) != str(name):
        return name
    nodes = {node.name: node for node in stepper_of(context).nodes}
    return copied(context.call, nodes.get(name.node)) or name


def _report(context: Context, made: Sequence[Stepped], problem: TfdbgError | None) -> Document:
    last = made[-1]
    computed = [name for stepped in made for name in stepped.computed]
    lines = [line(Span(last.target, Style.TITLE, node_link(last.target)), f"  {_computed_text(computed)}")]
    used: dict[From, list[TensorName]] = {}
    for name, origin in last.used.items():
        used.setdefault(origin, []).append(name)
    for origin in From:
        if origin in used:
            lines.append(line(Span(f"  {origin}: ", Style.LABEL), names_text(used[origin], _SHOWN)))
    updated = dict.fromkeys(name for stepped in made for name in stepped.updated)
    if updated:
        lines.append(line(Span("  variables changed (copies): ", Style.LABEL), names_text(updated, _SHOWN)))
    lines += _values(context, last.outputs)
    if problem is not None:
        lines.append(line(Span(f"  {problem!s}", Style.ERROR)))
    return _beside_the_list(
        context, Document("stepped", (Text(tuple(lines)),), lambda: _report_data(context, made, problem), "step")
    )


def _beside_the_list(context: Context, told: Document) -> Document:
    """`told`, the list of nodes below it; a screen keeps it in sight above the list, at the next node."""
    stepper = stepper_of(context)
    head = Text((*told.lines(), EMPTY_LINE))
    blocks = (head, *window(stepper, whole=context.later))
    at = min(stepper.next, len(stepper.nodes) - 1)
    focus = len(head.content) + 1 + at if context.later else None  # behind the head of the table
    return replace(told, blocks=blocks, focus=focus, stays=0)


def _computed_text(computed: Sequence[str]) -> str:
    if not computed:
        return "was known already"
    return "computed" if len(computed) == 1 else f"computed with {count_text(len(computed) - 1, 'other node')}"


def _values(context: Context, outputs: Sequence[TensorName]) -> list[Line]:
    store = context.run.tensors
    lines = []
    for name in outputs:
        for row in store.named(name.node, name.slot):
            value, tensor = store.value(row), store[row]
            link = Span(str(name), Style.NAME, f"pt {quoted(str(name))}")
            lines.append(line("  ", link, "  ", *chip(value, tensor.dtype).spans))
    return lines


def _report_data(context: Context, made: Sequence[Stepped], problem: TfdbgError | None) -> Mapping[str, Any]:
    last = made[-1]
    store = context.run.tensors
    outputs = []
    for name in last.outputs:
        for row in store.named(name.node, name.slot):
            value = store.value(row)
            summary = None if isinstance(value, NoValue) else summary_data(summarize(value))
            outputs.append({"name": str(name), "dtype": store[row].dtype, "summary": summary})
    return {
        "target": last.target,
        "computed": [name for stepped in made for name in stepped.computed],
        "used": {str(name): str(origin) for name, origin in last.used.items()},
        "updated": sorted({name for stepped in made for name in stepped.updated}),
        "outputs": outputs,
        "next": stepper_of(context).next,
        "problem": None if problem is None else str(problem),
    }


def _inject(context: Context, options: argparse.Namespace) -> Document:
    stepper = stepper_of(context)
    target, expression = parted(options.assignment.strip(), "inject_value")
    variable = variable_meant(context.run, target)
    name, slicing = _tensor(context, target) if variable is None else (variable.name, variable.slicing)
    name = _computed_with(context, name, split_of(context.call, target)[0])
    held = None if name.slot else stepper.held(name.node)
    if held is not None:
        return _assign(context, name, slicing, held, expression)
    known = stepper.dtype(name)
    element = element_type_named(known)
    if element is None or element.numpy is None:
        raise TfdbgError(f"{name} is {known}, which no value can be written in.")
    found = evaluated(context, expression, element.numpy, str(name))
    value = _fitted(context, name, slicing, found)
    written = stepper.inject(name, value)
    context.look_at_steps()
    said = "  is overridden from now on; what was computed from it is forgotten."
    lines = [line(Span(str(name), Style.TITLE), said), *_written_before(written)]
    told = Text((*lines, *_values(context, (name,))))
    data = {"name": str(name), "dtype": known, "summary": summary_data(summarize(value))}
    return _beside_the_list(context, Document("injected", (told,), lambda: data, "inject"))


def _assign(context: Context, name: TensorName, slicing: str, held: Array, expression: str) -> Document:
    """Let the copy of the variable `name`, which holds `held`, hold another value."""
    dtype = name_of(held.dtype)
    value = with_part(held, slicing, evaluated(context, expression, held.dtype, str(name)), str(name))
    written = stepper_of(context).assign(name.node, value)
    context.look_at_steps()
    said = "  This copy of the variable holds it from now on; what was read from it is forgotten."
    head = line(Span(name.node, Style.TITLE), said)
    told = Text((head, line("  ", *chip(value, dtype).spans), *_written_before(written)))
    data = {"name": str(name), "dtype": dtype, "summary": summary_data(summarize(value))}
    return _beside_the_list(context, Document("injected", (told,), lambda: data, "inject"))


def _written_before(variables: Sequence[str]) -> list[Line]:
    """That `variables` keep what was computed with the value before, and what can be done."""
    if not variables:
        return []
    names = ", ".join(variables)
    keeps = f"{names} keep{'s' * (len(variables) == 1)} what steps have written there with the value before"
    return [line(Span(f"  {keeps}: `cont -r NODE` puts variables back, and goes there anew.", Style.WARNING))]


def _fitted(context: Context, name: TensorName, slicing: str, value: Array) -> Array:
    """`value` in the shape that the tensor has, if that is known, or put into a part of it.

    Raises:
        TfdbgError: it does not fit.

    """
    rows = context.run.tensors.named(name.node, name.slot)
    old = context.run.tensors.value(rows[0]) if rows else None
    if old is None or isinstance(old, NoValue):
        if slicing:
            raise TfdbgError(f"{name} is not computed yet, so it has no part {slicing}.", hint=f"`cont {name.node}`.")
        return value
    return with_part(old, slicing, value, str(name))


def commands(registry: Registry) -> tuple[Command, ...]:
    """The commands; to show where one is after the stepper `exit` needs the others in `registry`."""

    def leave(context: Context, options: argparse.Namespace) -> Outcome:
        context.end_stepping()
        shown = "run_info" if isinstance(context.stop, RunStart) else "lt"
        outcome = execute(shown, context, registry)
        return replace(outcome, command=shown) if isinstance(outcome, Document) else outcome

    return (
        Command(
            "list_sorted_nodes",
            ("lsn", "lt"),
            "List the nodes in the order of the steps.",
            _list,
            (
                Argument(("-l", "--lower_bound"), "the first node, from 0", metavar="N", type=int),
                Argument(("-u", "--upper_bound"), "the node behind the last", metavar="N", type=int),
            ),
            moments=_WITHIN,
            section="Stepper",
        ),
        Command(
            "step",
            ("st", "s"),
            "Compute the next node.",
            _step,
            (Argument(("-t", "--num_times"), "make N steps", metavar="N", type=int, default=1),),
            moments=_WITHIN,
            section="Stepper",
            acts=True,
        ),
        Command(
            "cont",
            ("ct", "c"),
            "Compute a node, with all that it needs.",
            _cont,
            (
                Argument(("target",), "the node, or a tensor of it", ArgumentKind.NODE, metavar="NODE"),
                Argument(
                    ("-i", "--invalidate_from_updated_variables"),
                    "first forget what was read from variables that changed since",
                    switch=True,
                ),
                Argument(
                    ("-r", "--restore_variable_values"), "first put the variables back as before the run", switch=True
                ),
            ),
            moments=_WITHIN,
            section="Stepper",
            details="""\
What is known is used again: what was overridden, then what was asked for, what was computed on the way, and what the
program gave.""",
            acts=True,
        ),
        Command(
            "inject_value",
            ("inject", "override_value", "override"),
            "Give a tensor or a variable another value; what was computed from it is forgotten.",
            _inject,
            (
                Argument(
                    ("assignment",),
                    "the tensor, with a slice if wanted, and an expression as `eval` takes it",
                    ArgumentKind.TENSOR,
                    metavar="TENSOR EXPRESSION",
                    nargs="...",
                ),
            ),
            moments=_WITHIN,
            section="Stepper",
            details="""\
A variable by its name is the copy that the stepper has of it. `cont -r` puts back what steps wrote, and leaves what
was injected.

Examples:
  inject_value probabilities np.clip(`probabilities:0`, 1e-7, 1)
  inject_value 'logits:0[0, :]' 0
  inject_value 'dense/kernel[3, 5]' 0.1""",
            acts=True,
        ),
        Command(
            "leave_stepper",
            ("exit", "quit", "q"),
            "Leave the stepper; the run then happens as if nothing had been.",
            leave,
            moments=_WITHIN,
            section="Stepper",
        ),
    )
