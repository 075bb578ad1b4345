"""The cause when a tensor was not computed but came from somewhere: a feed, a variable, a constant, a pipeline."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from tfdbg_cli.analysis.batch.batch_roles import BatchRole
from tfdbg_cli.analysis.causes.causes import Cause
from tfdbg_cli.analysis.causes.given_data import Came, GivenData
from tfdbg_cli.analysis.causes.literals import overflown
from tfdbg_cli.analysis.causes.safe_numbers import safe_numbers
from tfdbg_cli.analysis.causes.suggestions import UPDATE
from tfdbg_cli.analysis.graph.flow.last_update import variable_shown
from tfdbg_cli.analysis.graph.making.lineage import InputSeen, Lineage, variable_of
from tfdbg_cli.analysis.graph.nodes.feeds import feed_name
from tfdbg_cli.model.dtypes import in_double, name_of
from tfdbg_cli.model.graph import LOOP_VARIABLE, Node
from tfdbg_cli.model.names import TensorName
from tfdbg_cli.model.runs import Run
from tfdbg_cli.model.statistics import nonfinite_mask
from tfdbg_cli.model.units import count_text
from tfdbg_cli.model.updates import UPDATED_VARIABLE, after_update, updated_variable
from tfdbg_cli.model.values import Array
from tfdbg_cli.model.walks import reached
from tfdbg_cli.ops.effects import updates_variable
from tfdbg_cli.ops.intended_infinities import is_literal_infinity
from tfdbg_cli.ops.kinds import (
    CALLS,
    INCREMENTS,
    INPUTS,
    PIPELINE_OPS,
    PYTHON,
    RECEIVES,
    SAME_VALUE,
    VARIABLE_READS,
)

_CHECK_DATA = (
    "Check the data before it is fed: np.isfinite(batch).all(); replace what is missing (np.nan_to_num), or leave"
    " such rows out."
)
_CHECK_NUMBER = "Look where the program computes it, as by a division by 0 or a logarithm, before it hands it over."
_COMES_ALONG = "Look where the program makes it, before the function is traced: np.isfinite(value).all()."
_COMES_AS_NUMBER = (
    "If the program means it, as to begin a minimum, `ignore` this place; else look where Python computed it, as by a"
    " division by a count that is 0."
)
_FILTER_DATA = (
    "Check or filter the data set: dataset.filter(lambda {parts}: tf.reduce_all(tf.math.is_finite({part}))), or"
    " replace what is missing before. A function that it maps may have made it, as by log(0) or 0 / 0."
)
_CHECK_ARRAYS = (
    "Check them before: np.isfinite({part}).all(); replace what is missing (np.nan_to_num), or leave such rows out."
)
_CHECK_CLASSES = (
    "Look at its values: a class of which there are no samples has a count of 0, by which nothing can be divided."
)
_CHECK_QUEUED = (
    "Check what is put into the queue: tf.debugging.check_numerics before tf.train.batch or enqueue, or replace"
    " what is missing there: tf.where(tf.math.is_finite({part}), {part}, 0.0)."
)
_PARTS = {  # how a function is given what a data set delivers, and which part of it plays this role
    None: ("x, *_", "x"),
    BatchRole.INPUTS: ("x, *_", "x"),
    BatchRole.TARGETS: ("x, y, *_", "y"),
    BatchRole.WEIGHTS: ("x, y, sample_weight", "sample_weight"),
}
_LOOK_INTO_TURNS = (
    "To see the op, let Python go through the dataset, `for batch in dataset:` around a tf.function of one step, or"
    " count the turns in the function: `for _ in tf.range(n): batch = next(iterator)`."
)
WHEN_READ = "when it was read"
_MOST_STEPS = 100
_UNPACKS = "OptionalGetValue"  # what a pipeline delivers, or a step of Keras gives
_LOOK_THERE = "Look at the run of that function: `tfdbg run --watch` stops in it, and `runs` lists what was kept."
_LOOK_EARLIER = (
    "Look at that run: `tfdbg run --until has_inf_or_nan` stops at the op that makes it so, and with `--keep 2` the"
    " run before the one that is found is kept."
)
_GIVE_WHAT_THEIR_FUNCTIONS_GIVE = frozenset({"ReduceDataset"})
_DELIVERIES = PIPELINE_OPS | {"DecodeRaw", "DecodeCSV", "ReadFile"}


def cause_at_source(
    node: Node,
    inputs: Sequence[InputSeen],
    lineage: Lineage,
    bad: Callable[[InputSeen], bool],
    given: GivenData | None = None,
) -> Cause | None:
    """The cause when `node` gives a value that it did not compute; None for an op that computes.

    `bad` says whether an input is itself at fault (it then had been the origin, unless it was excluded); `given` is
    what is known of the value as data.
    """
    if any(bad(item) for item in inputs):
        return None
    variable = variable_of(node, lineage)
    if variable is not None:
        held = inputs[0] if inputs and node.op_type == "ReadVariableOp" else None
        if held is not None and held.value is not None and not nonfinite_mask(held.value).any():
            was_read = held.tensor is not None and held.tensor.op_type == "ReadVariableOp"
            return update_spoils(variable) if was_read else written_meanwhile(variable)
        if held is not None and held.value is None and held.node and lineage.updates_before(node, held.node):
            return cause_of_unknown_moment(variable)
        return cause_of_variable(variable, "" if lineage.is_variable(node) else WHEN_READ)
    fed = feed_name(node)
    if fed is not None:
        return cause_of_feed(fed, given)
    if lineage.takes_out(node):
        return None
    packed = inputs[0].node if node.op_type == _UNPACKS and inputs else None
    if packed is not None and not _is_delivered(packed, lineage):
        return Cause(f"Already in {packed.name}, which a function gave that the program called before.", _LOOK_THERE)
    if node.op_type in _DELIVERIES:
        return _cause_of_delivery(given)
    if node.op_type in PYTHON:
        return Cause("The Python function that this op calls returned it.", "Check that function's result.")
    if node.op_type in RECEIVES:
        return Cause("It came from another process or device, whose part of the run is not in this recording.")
    return None


def _is_delivered(packed: Node, lineage: Lineage) -> bool:
    """Whether a pipeline delivered what is `packed`, maybe in the turn before of a loop that asks for batches."""

    def before(node: Node) -> Iterator[Node]:
        if node.op_type == LOOP_VARIABLE or node.op_type in SAME_VALUE:
            yield from (edge.node for edge in lineage.edges(node) if edge.node is not None)

    return any(node.op_type in PIPELINE_OPS | INPUTS for node in reached([packed], before, most=_MOST_STEPS))


def cause_of_constant(run: Run, node: Node, value: Array) -> Cause:
    """The cause when the constant `node` has a `value` that is not finite."""
    numbers = safe_numbers(name_of(value.dtype))
    told = overflown(run, node, value)
    if told:
        helps = (
            f"Take a number that the dtype holds, such as {numbers['masked']} for a mask, or a wider dtype (tf.cast)."
        )
        return Cause(f"The constant itself is infinite: {told}.", helps)
    if not is_literal_infinity(value):
        return Cause(
            "The constant itself holds it: Python gave it to the graph so.",
            "Look where Python computed it, as by a division by a count that is 0: np.isfinite(value).all().",
        )
    masked, other = numbers["masked"], numbers["masked"].removeprefix("-")
    signs = ((masked, "-inf", np.isneginf(value.real).any()), (other, "inf", np.isposinf(value.real).any()))
    uses = " and ".join(f"{finite} instead of {infinite}" for finite, infinite, held in signs if held)
    return Cause(
        "The constant itself holds it: the program wrote it into the graph.",
        f"If it is a mask and meant so, use {uses}, or look for NaN only: `origin --nan`.",
    )


def cause_of_feed(name: TensorName, given: GivenData | None = None) -> Cause:
    """The cause when the program itself fed something that is not finite; `given` is what is known of it as data."""
    if given is None:
        return Cause(f"Already in the input {name}.", _CHECK_DATA)
    if given.run is not None:
        return Cause(f"Already in {name}, which run #{given.run} computed{given.where}.", _LOOK_EARLIER)
    if given.came is Came.OF_LOOP:
        return _cause_of_delivery(given)
    if given.role is None and given.came is Came.ALONG:
        return Cause(f"Already in {name}, a tensor from outside that the function was traced with.", _COMES_ALONG)
    if given.role is None and given.came is Came.AS_NUMBER:
        return Cause(f"Already in the number {name}, which Python gave to the op.", _COMES_AS_NUMBER)
    if not given.bad.ndim:
        return Cause(f"Already in the number {name}.", _CHECK_NUMBER)
    what = f"{given.role}, {name}" if given.role else f"the input {name}"
    return Cause(f"Already in {what}{given.where}.", given.helps or _CHECK_DATA)


def _cause_of_delivery(given: GivenData | None) -> Cause:
    parts, part = _PARTS[given.role if given is not None else None]
    if given is None:
        filtered = _FILTER_DATA.format(parts=parts, part=part)
        return Cause("Already in the data that the input pipeline delivered.", filtered)
    if given.role is BatchRole.WEIGHTS and given.class_weight:
        return Cause("Already in the weights that fit made of class_weight.", _CHECK_CLASSES)
    key = f"{given.key!r} of " if given.key else ""
    role = f"{key}{given.role} of " if given.role else ""
    part = f"{part}[{given.key!r}]" if given.key and "/" not in given.key else part
    helps = _CHECK_ARRAYS.format(part=part) if given.arrays else _FILTER_DATA.format(parts=parts, part=part)
    data = given.arrays or "the data that the input pipeline delivered"
    if given.came is Came.QUEUED:
        helps, data = _CHECK_QUEUED.format(part=part), "the data that came out of a queue"
    return Cause(f"Already in {role}{data}{given.where}.", given.helps or helps)


_WATCH = (
    "Watch from the start with `run -f has_inf_or_nan`, restore a checkpoint from before, or check what is loaded:"
    " np.isfinite(w).all()."
)
EARLIER = "an earlier run or its initializer made it so"


def cause_of_variable(name: str, moment: str = "") -> Cause:
    """The cause when a variable held it already at the `moment` that is named, or as it is."""
    what = f"was already not finite {moment}" if moment else "is not finite"
    return Cause(
        f"Variable {name} {what}: {EARLIER}.",
        _WATCH,
    )


def written_meanwhile(name: str) -> Cause:
    """The cause when a variable was finite before the run, and not when it was read, by no update that is known."""
    return Cause(
        f"Variable {name} was finite before this run, and not when it was read here: the run itself made it so, by an"
        " update of which no tensor tells.",
        f"`lo {name}` lists what writes it.",
    )


def cause_of_unknown_moment(name: str) -> Cause:
    """The cause when a variable that the run writes was not finite when it was read, and nobody knows since when."""
    return Cause(
        f"Variable {name} was already not finite when it was read: an update of this run, {EARLIER}; what it held"
        " before this run is not known.",
        _WATCH,
    )


def cause_of_update(name: str, op_type: str) -> Cause:
    """The cause when the program gave a value that is not finite to an op that updates the variable `name`."""
    return Cause(
        f"Already in the value that {op_type} is given for variable {name}.",
        "Check that value before the update, np.isfinite(value).all(), and mend what it is loaded or computed from.",
    )


def update_spoils(name: str) -> Cause:
    """The cause when a variable was finite as it was read, and is not after the run."""
    return Cause(
        f"The update itself overflows: variable {name} was finite when it was first read, and is not afterwards.",
        UPDATE,
    )


def cause_of_increment(
    node: Node, inputs: Sequence[InputSeen], value: Array, lineage: Lineage, *, looked_at: bool
) -> Cause | None:
    """The cause where a variable is not finite after finite numbers were added to it, and it is not known before.

    If it is NaN, it was no number before; if it is infinite, the sum may be too large as well. `looked_at` says that
    each update before was looked at as it was made, as a watch does of eager code: then the sum is.
    """
    if node.op_type != UPDATED_VARIABLE or not inputs or not nonfinite_mask(value).any():
        return None
    if inputs[0].value is not None or any(one.value is None or nonfinite_mask(one.value).any() for one in inputs[1:]):
        return None
    graph = lineage.graph_of(node)
    variable = inputs[0].node
    named = node.control_inputs or [writer.name for writer in (lineage.writers(variable) if variable else ())]
    updates = [graph.find(name) for name in named]
    if not updates or any(update is None or update.op_type not in INCREMENTS for update in updates):
        return None
    name = variable_shown(node)
    if np.isnan(in_double(value)).any():
        return cause_of_variable(name, "before this finite update")
    if looked_at and not (variable and _may_begin_bad(variable, lineage)):
        return Cause(
            f"The update itself overflows: {name} was left finite by what wrote it before, and so is its step; the"
            f" sum at {count_text(int(np.isinf(value).sum()), 'element')} is too large for {value.dtype}.",
            UPDATE,
        )
    return Cause(
        f"Variable {name} is not finite after this finite update: the sum is too large, or it was so before;"
        " what it held then is not known.",
        _WATCH,
    )


def _may_begin_bad(variable: Node, lineage: Lineage) -> bool:
    """Whether the run made `variable`, and its first value, of which no watch asks, is not finite or not known."""
    first = lineage.first_value(variable)
    return lineage.is_made_here(variable) and (first is None or bool(nonfinite_mask(first).any()))


def cause_in_hidden_function(node: Node, inputs: Sequence[InputSeen], lineage: Lineage) -> Cause | None:
    """The cause where a function made `node`'s value that an op calls for itself, as those of tf.data do; else None.

    Such an op gives it, or the function updates the variable that `node` shows, or reads though it was finite before.
    """
    if node.op_type in _GIVE_WHAT_THEIR_FUNCTIONS_GIVE:
        return Cause(
            f"The turns of a loop over a dataset made it, in a function that {node.op_type} calls for itself: what is"
            " computed there is not looked at.",
            _LOOK_INTO_TURNS,
        )
    graph, shown = lineage.graph_of(node), node
    if node.op_type in VARIABLE_READS:
        held, variable = (inputs[0].value if inputs else None), variable_of(node, lineage)
        after = None if held is None or variable is None else graph.find(after_update(variable))
        if held is None or after is None or nonfinite_mask(held).any():
            return None
        shown = after
    if shown.op_type != UPDATED_VARIABLE:
        return None
    callers = [found for name in shown.control_inputs if (found := graph.find(name)) is not None]
    if not callers or any(found.op_type in CALLS or updates_variable(found.op_type) for found in callers):
        return None
    return Cause(
        f"Variable {updated_variable(shown.name)} was spoiled in a function that {callers[-1].op_type} calls for"
        " itself, such as the turns of a loop over a dataset: what is computed there is not looked at.",
        _LOOK_INTO_TURNS,
    )


def hidden_by_where(cause: Cause, choice: str) -> Cause:
    """`cause`, of bad data, and that the op `choice` hides them in the forward pass, but not in gradients."""
    text = cause.text.removesuffix(".")
    return Cause(
        f"{text}; {choice}, a tf.where, keeps it from the result, but not from the gradient, where 0 * NaN is NaN.",
        "Replace it before it is computed with, x = tf.where(ok, x, 0.0), and not only what was made of it.",
        cause.blames,
    )
