"""`here`, `step`, `over`, `finish`, `until`, `break`, `delete`: stopping code that runs eagerly in its middle."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from typing import Any

from tfdbg_cli.analysis.graph.making.lineage import Lineage
from tfdbg_cli.commands.asked.current_frame import current_frame
from tfdbg_cli.commands.asked.stopping_place import stopping_place
from tfdbg_cli.commands.context import Context
from tfdbg_cli.commands.registry import LIVE, Argument, ArgumentKind, Command, Moment
from tfdbg_cli.commands.syntax import quoted
from tfdbg_cli.commands.views.input_rows import input_data, input_rows
from tfdbg_cli.commands.views.links import node_link
from tfdbg_cli.document.document import Block, Document, Text, text_document
from tfdbg_cli.document.excerpt import excerpt
from tfdbg_cli.document.labels import label_span
from tfdbg_cli.document.summary import chip, summary_data
from tfdbg_cli.document.text import EMPTY_LINE, Line, Span, Style, line
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.model.calls import RunKind
from tfdbg_cli.model.decision import Decision, RunTo, StepOn
from tfdbg_cli.model.names import TensorName
from tfdbg_cli.model.pausing import Breakpoints, Pace, Replaceable
from tfdbg_cli.model.runs import Opened, Run, RunStart
from tfdbg_cli.model.statistics import summarize
from tfdbg_cli.model.units import count_text
from tfdbg_cli.model.values import NoValue, Value

_SECTION = "Step"
_LABEL = 9  # columns of a label
_PAUSED = frozenset({Moment.PAUSED})
_KEYS = (
    ("step", "step"),
    ("over", "over"),
    ("finish", "finish"),
    ("until PLACE", ""),
    ("break PLACE", ""),
    ("locals", "locals"),
)


def paused_of(run: Run) -> Replaceable:
    """The op behind which the program stands in the middle of `run`.

    Raises:
        TfdbgError: it stands behind none.

    """
    if run.paused is None:
        raise TfdbgError("The program does not stand behind an op here.", hint="`step` and `break` lead to one.")
    return run.paused


def _here(context: Context, options: argparse.Namespace) -> Document:
    run = context.run
    paused = paused_of(run)
    node = run.graph.find(paused.node)
    head: list[Line] = []
    if paused.why:
        head.append(line(label_span("Stopped", _LABEL), Span(paused.why, Style.WARNING)))
    op_type = node.op_type if node is not None else ""
    head.append(
        line(
            label_span("Behind", _LABEL),
            Span(paused.node, Style.TITLE, node_link(paused.node)),
            "  ",
            Span(op_type, Style.OP),
        )
    )
    place = current_frame(context).place
    head.append(line(Span(f"  {place.file}:{place.line}", Style.NAME, "locals"), f" in {place.function}"))
    head += [*excerpt(run.sources.lines(place.file) or (), place.line, around=3), EMPTY_LINE]
    seen = Lineage(run).inputs_of_node(node) if node is not None else []
    blocks: list[Block] = [Text(tuple(head))]
    blocks += [input_rows(run, seen, "Given", label_width=_LABEL)] if seen else []
    blocks.append(Text((*_gave(run, paused), EMPTY_LINE, _keys())))

    def data() -> Mapping[str, Any]:
        inputs = [input_data(item) for item in seen]
        outputs = [_output_data(run, paused, name) for name in _outputs(run, paused.node)]
        where = {"file": place.file, "line": place.line, "function": place.function}
        return {
            "node": paused.node,
            "op_type": op_type,
            "why": paused.why,
            **where,
            "inputs": inputs,
            "outputs": outputs,
        }

    return Document("here", tuple(blocks), data, "here")


def _outputs(run: Run, node: str) -> Sequence[TensorName]:
    return [run.tensors[row].name for row in run.tensors.named(node)]


def _gave(run: Run, paused: Replaceable) -> list[Line]:
    lines = []
    for name in _outputs(run, paused.node):
        value, dtype = _given_by(run, paused, name)
        link = Span(str(name), Style.NAME, f"pt {quoted(str(name))}")
        lines.append(line(label_span("Gave", _LABEL), link, "  ", *chip(value, dtype).spans))
    return lines


def _keys() -> Line:
    spans = [part for text, link in _KEYS for part in (Span(text, Style.KEY, link), Span("  "))]
    return line(*spans[:-1])


def _given_by(run: Run, paused: Replaceable, name: TensorName) -> tuple[Value, str]:
    """What the program is given with an output, by the op or by `set`, and its dtype."""
    row = run.tensors.named(name.node, name.slot)[-1]
    value = run.tensors.value(row)
    return value if isinstance(value, NoValue) else paused.value(name), run.tensors[row].dtype


def _output_data(run: Run, paused: Replaceable, name: TensorName) -> Mapping[str, Any]:
    value, dtype = _given_by(run, paused, name)
    summary = None if isinstance(value, NoValue) else summary_data(summarize(value))
    return {"name": str(name), "dtype": dtype, "summary": summary}


def _step(pace: Pace) -> Any:
    def handler(context: Context, options: argparse.Namespace) -> Decision:
        return StepOn(pace)

    return handler


def _step_off(context: Context, options: argparse.Namespace) -> Decision:
    stop = context.stop
    assert not isinstance(stop, Opened)
    context.require_program("Steps need")
    call = stop.call if isinstance(stop, RunStart) else stop.run.call
    if call.kind not in {RunKind.EAGER, RunKind.FUNCTION}:
        raise TfdbgError(
            "`step` is for the stepper, and for code that runs eagerly.", hint="`invoke_stepper` opens the stepper."
        )
    return StepOn(Pace.OP)


def _until(context: Context, options: argparse.Namespace) -> Decision:
    return RunTo(stopping_place(context, options.place))


def _breakpoints(context: Context) -> Breakpoints:
    assert not isinstance(context.stop, Opened)
    context.require_program("Breakpoints need")
    return context.stop.breakpoints


def _break(context: Context, options: argparse.Namespace) -> Document:
    text = (options.place or "").strip()
    if text:
        _breakpoints(context).add(stopping_place(context, text))
    return _listed(context)


def _number(text: str) -> int:
    """The number of a breakpoint, as a user typed it."""
    try:
        return int(text)
    except ValueError:
        hint = "`break` lists them with their numbers; `delete N` drops one, `delete` all."
        raise TfdbgError(f"{text!r} is no number of a breakpoint.", hint=hint) from None


def _delete(context: Context, options: argparse.Namespace) -> Document:
    every = _breakpoints(context)
    if options.number is None:
        dropped = len(every)
        every.clear()
        if dropped:
            return _listed(context, f"{count_text(dropped, 'breakpoint')} dropped. ")
    elif not every.remove(options.number):
        raise TfdbgError(f"There is no breakpoint {options.number}.", hint="`break` lists them.")
    return _listed(context)


def _listed(context: Context, done: str = "No breakpoint is set. ") -> Document:
    every = list(_breakpoints(context))
    data = [{"number": one.number, "place": str(one.place)} for one in every]
    if not every:
        said = line(done, Span("break PLACE [when CONDITION]", Style.KEY), " sets one.")
        return text_document("breakpoints", said, data={"breakpoints": data}, title="break")
    lines = [line(Span("Code that runs eagerly stops behind", Style.TITLE))]
    for one in every:
        number = Span(f"{one.number:>4}", Style.NUMBER)
        lines.append(
            line(
                number,
                "  ",
                Span(str(one.place), Style.NAME),
                "  ",
                Span("delete", Style.KEY, f"delete {one.number}"),
            )
        )
    return text_document("breakpoints", *lines, data={"breakpoints": data}, title="break")


_PLACES = """\
A place is an op type (`Log`), the name of a node, a layer or scope (`dense_1`), each with wildcards if wanted
(`*Grad`), or a line of the program (`train.py:12`; the number alone is a line of the file on show). `when` asks
figures of what the op gives: min, max, mean, std, absmax of the finite elements, and how many are nan, inf, bad, neg,
zero, pos; size and rank. `input.min` and so on ask of what it was given; `output.min` is `min`.

What a tf.function or a session computes is no such place, as its run is made as a whole: `invoke_stepper` goes
through that. Functions that run eagerly (`run_functions_eagerly`, Keras `run_eagerly=True`) are not run as a whole.
"""
COMMANDS = (
    Command(
        "here",
        (),
        "The op behind which the program stands: its line, what it was given and what it gave.",
        _here,
        moments=_PAUSED,
        section=_SECTION,
    ),
    Command(
        "step",
        ("s",),
        "Run on to the next op.",
        _step(Pace.OP),
        moments=_PAUSED,
        section=_SECTION,
        details="""\
In code that runs eagerly. A function or a session's run is one step; the prompt opens before it. `set TENSOR VALUE`
gives the program another value in place of what the op gave.""",
    ),
    Command(
        "step",
        (),
        "From the start or the end of a run, run on to the next op in code that runs eagerly.",
        _step_off,
        moments=LIVE - _PAUSED,
        section=_SECTION,
    ),
    Command(
        "over",
        ("n",),
        "Run on to the next line of the program; what this line calls is part of it.",
        _step(Pace.LINE),
        moments=LIVE,
        section=_SECTION,
        details="""\
tfdbg stands at ops, so lines that compute nothing with TensorFlow are passed: the next stop is at the first op of
another line in this call, or, where the call computes nothing more, of the code that runs after it.""",
    ),
    Command(
        "finish",
        (),
        "Run on until the layer that the op is in, or else the call, is left.",
        _step(Pace.OUT),
        moments=_PAUSED,
        section=_SECTION,
        details="Of a call with a loop whose turns are runs, the turn is left.",
    ),
    Command(
        "until",
        (),
        "Run on to a place in code that runs eagerly.",
        _until,
        (Argument(("place",), "where to stop", ArgumentKind.OP_TYPE, metavar="PLACE [when CONDITION]", nargs="..."),),
        moments=LIVE,
        section=_SECTION,
        details=_PLACES
        + """
Examples:
  until Log
  until train.py:40
  until dense_1 when nan > 0""",
    ),
    Command(
        "break",
        ("b",),
        "Stop at a place in code that runs eagerly, whenever it is passed; without one, list the breakpoints.",
        _break,
        (
            Argument(
                ("place",), "where to stop", ArgumentKind.OP_TYPE, metavar="PLACE [when CONDITION]", nargs="...?"
            ),
        ),
        moments=LIVE,
        section=_SECTION,
        details=_PLACES
        + """
Examples:
  break Log when input.min <= 0
  break train.py:40
  break *Grad when absmax > 1e4""",
        acts=True,
    ),
    Command(
        "delete",
        (),
        "Drop a breakpoint, or all.",
        _delete,
        (
            Argument(
                ("number",),
                "as `break` lists it; without one all",
                type=_number,
                metavar="N",
                nargs="?",
                default=None,
            ),
        ),
        moments=LIVE,
        section=_SECTION,
        acts=True,
    ),
)
