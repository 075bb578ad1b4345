"""The context of an op in the graph: what made its inputs, whose gradient it is, whether a tf.where hides it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import PurePath

import numpy as np

from tfdbg_cli.analysis.batch.batch_roles import BatchRole, BatchRoles, batch_role_behind
from tfdbg_cli.analysis.causes.hiding import hidden_by
from tfdbg_cli.analysis.graph.making.forward import steep_forward_of
from tfdbg_cli.analysis.graph.making.lineage import InputSeen, Lineage, variable_of
from tfdbg_cli.analysis.graph.making.log_variances import is_half_log_variance, is_log_variance
from tfdbg_cli.analysis.graph.making.makers import Maker, below_moves, maker_of
from tfdbg_cli.analysis.graph.making.of_variables import is_made_of_variables
from tfdbg_cli.analysis.graph.making.variance_axes import VarianceOf, variance_of
from tfdbg_cli.analysis.graph.nodes.roles import is_gradient
from tfdbg_cli.model.calls import RunKind
from tfdbg_cli.model.dtypes import in_double
from tfdbg_cli.model.graph import Graph, Node
from tfdbg_cli.model.runs import Run
from tfdbg_cli.model.sources import Traceback, is_library, library_function
from tfdbg_cli.model.values import NoValue
from tfdbg_cli.ops.kinds import QUOTIENTS

_WHERE = re.compile(r"where|select", re.IGNORECASE)  # functions that make a Select op: tf.where, tf.raw_ops.SelectV2
_OPTIMIZERS = "/optimizers/"  # in the paths of Keras' optimizers
_SCALES_LOSS = "loss_scale_optimizer.py"  # that of Keras, and that of tf_keras
_GROWN = 1e6  # a weight of a model that learns is far smaller
_MOST_ANCESTORS = 2_000
_MOST_BYTES = 1 << 28


@dataclass(frozen=True)
class Surroundings:
    """What the graph says about an op.

    For each input, `makers` says what kind of value it is (None: not known), `made_by` names the node that computed
    it, and `batch` says which part of a batch it is. `slope_of` is the op type whose gradient this op computes
    (empty: none, or not known), `slope_again` whether that op computes a gradient itself, and `gradient` whether this
    op computes a gradient at all. `hidden_by` names a tf.where that hides the result, but not the gradient,
    `hidden_in` the function of a library that made this tf.where, if the program did not call tf.where itself.
    `grown` is the variable of largest magnitude upstream, with that magnitude, if it is suspiciously large, and
    `grown_untrained` whether it is known not to be trained. `scaled` says that the program tests its gradients for
    being finite, as loss scaling does, `log_variance` that the first input
    is the logarithm of a variance, `half_log_variance` that it is half of one, whose exponential is a deviation, and
    `variance_of`, where it is a variance or is divided by the root of one, of what. `gradients` says of each input
    whether it is a gradient, `of_variables` whether nothing but variables and constants is behind it. `logged` says
    that a logarithm is taken of the result, `called_by_optimizer` that the program's own code made the op, called by
    a library's optimizer as a schedule is.
    """

    makers: tuple[Maker | None, ...] = ()
    slope_of: str = ""
    hidden_by: str = ""
    hidden_in: str = ""
    grown: tuple[str, float] | None = None
    grown_untrained: bool = False
    made_by: tuple[str, ...] = ()
    gradient: bool = False
    batch: tuple[BatchRole | None, ...] = ()
    scaled: bool = False
    log_variance: bool = False
    half_log_variance: bool = False
    gradients: tuple[bool, ...] = ()
    of_variables: tuple[bool, ...] = ()
    variance_of: VarianceOf | None = None
    called_by_optimizer: bool = False
    logged: bool = False
    slope_again: bool = False


def surroundings(
    run: Run,
    lineage: Lineage,
    node: Node,
    inputs: tuple[InputSeen, ...],
    bad_nodes: frozenset[str],
    masks: frozenset[int],
    batches: Sequence[BatchRoles] = (),
    *,
    scaled: bool = False,
) -> Surroundings:
    """The Surroundings of `node`, which read `inputs`.

    `bad_nodes` are bad nodes that read an input or the output of `node`, too. `masks` are the rows of tensors with
    intended infinities, `batches` says for each graph which inputs are which part of a batch, and `scaled` is the
    result of `asks_of_gradients`.
    """
    makers = tuple(Maker.MASK if item.index in masks else maker_of(item.node, lineage) for item in inputs)
    graph = lineage.graph_of(node)
    steep = steep_forward_of(graph, lineage, node)
    slope_of = steep.op_type if steep is not None and steep is not node else ""
    hidden = ""
    of_node = [found for name in bad_nodes if is_gradient(graph, name) and (found := graph.find(name)) is not None]
    if steep is not None and (steep is not node or of_node):
        hidden = hidden_by(run, lineage, node, steep, of_node if steep is node else [node])
    hidden_in = library_function(run.tracebacks.get(hidden, ()))
    hidden_in = "" if _WHERE.match(hidden_in) else hidden_in
    below = [below_moves(item.node, lineage) for item in inputs]
    gradients = tuple(one is not None and is_gradient(lineage.graph_of(one), one.name) for one in below)
    made_by = tuple(maker.name if maker is not None else "" for maker in below)
    batch = tuple(batch_role_behind(lineage, item, batches) for item in inputs)
    grown = _grown(run, lineage, inputs)
    exponent = inputs[0].node if node.op_type == "Exp" and inputs else None
    variance, half = is_log_variance(exponent, lineage), is_half_log_variance(exponent, lineage)
    gradient = is_gradient(graph, node.name)
    varying = _variance(node, makers)
    called = _is_called_by_optimizer(run.tracebacks.get(node.name, ()))
    return Surroundings(
        makers=makers,
        slope_of=slope_of,
        slope_again=bool(slope_of) and _is_slope_of_slope(node, lineage),
        hidden_by=hidden,
        hidden_in=hidden_in,
        grown=grown,
        grown_untrained=grown is not None and _is_untrained(run, grown[0]),
        made_by=made_by,
        gradient=gradient,
        batch=batch,
        scaled=scaled,
        log_variance=variance,
        half_log_variance=half,
        gradients=gradients,
        of_variables=tuple(is_made_of_variables(run, item.node, lineage) for item in inputs),
        variance_of=None if varying is None else variance_of(inputs[varying].node, lineage),
        called_by_optimizer=called,
        logged=any(reader.op_type == "Log" for reader, slot in graph.consumers(node.name) if slot == 0),
    )


def _is_slope_of_slope(node: Node, lineage: Lineage) -> bool:
    """Whether the gradient that `node` computes of a power is one of a gradient: 1 came off its exponent twice."""
    exponent = _input_of(node, 1, lineage) if node.op_type == "Pow" else None
    if exponent is None or not _is_one_less(exponent, lineage):
        return False
    before = below_moves(_input_of(exponent, 0, lineage), lineage)
    return before is not None and _is_one_less(before, lineage)


def _input_of(node: Node, position: int, lineage: Lineage) -> Node | None:
    """What makes that input of `node`; a damaged graph need not have it."""
    edges = lineage.edges(node)
    return edges[position].node if position < len(edges) else None


def _is_one_less(node: Node, lineage: Lineage) -> bool:
    """Whether `node` is the exponent of the gradient of a power."""
    return node.op_type == "Sub" and is_gradient(lineage.graph_of(node), node.name)


def _variance(node: Node, makers: tuple[Maker | None, ...]) -> int | None:
    """The position of the input that is a variance, or of a division the root of one; None for none."""
    if node.op_type in QUOTIENTS and makers[1:] == (Maker.DEVIATION,):
        return 1
    return 0 if makers and makers[0] in (Maker.VARIANCE, Maker.MOMENTS) else None


def _is_called_by_optimizer(traceback: Traceback) -> bool:
    """Whether the program's own code stands behind a call of a library's optimizer."""
    optimizer = False
    for frame in traceback:
        own = not is_library(frame.file)
        if own and optimizer:
            return True
        optimizer = optimizer or (not own and _OPTIMIZERS in frame.file.replace("\\", "/"))
    return False


def asks_of_gradients(graphs: Iterable[Graph]) -> bool:
    """Whether a program with these graphs tests gradients for being finite, as Keras' LossScaleOptimizer does."""
    return any(
        node.op_type == "IsFinite" and any(is_gradient(graph, edge.node) for edge in node.inputs)
        for graph in graphs
        for node in graph
    )


def scales_loss(run: Run) -> bool:
    """Whether an optimizer that scales the loss, as Keras' LossScaleOptimizer, called ops of code that runs eagerly.

    It may not have come to testing gradients yet.
    """
    if run.call.kind is not RunKind.EAGER:
        return False
    frames = (frame.file for traceback in run.tracebacks.values() for frame in traceback)
    return any(PurePath(file).name == _SCALES_LOSS for file in frames)


def _grown(run: Run, lineage: Lineage, inputs: tuple[InputSeen, ...]) -> tuple[str, float] | None:
    """The variable of largest magnitude upstream of `inputs`, if that is more than a working model has (`_GROWN`)."""
    waiting = [item.index for item in inputs if item.index is not None]
    met = set(waiting)
    best: tuple[str, float] | None = None
    read = 0
    while waiting and len(met) < _MOST_ANCESTORS and read < _MOST_BYTES:
        index = waiting.pop()
        node = lineage.node(index)
        name = variable_of(node, lineage) if node is not None else None
        if name is not None:
            read += run.tensors[index].nbytes or 0
            size = _magnitude(run, index)
            if size > (best[1] if best else _GROWN):
                best = (name, size)
            continue
        for item in lineage.places(index):
            if item.index is not None and item.index not in met:
                met.add(item.index)
                waiting.append(item.index)
    return best


def _is_untrained(run: Run, variable: str) -> bool:
    return run.variables is not None and run.variables.trainable.get(variable) is False


def _magnitude(run: Run, index: int) -> float:
    value = run.tensors.value(index)
    if isinstance(value, NoValue) or not value.size or value.dtype.kind not in "fV":
        return 0.0
    found = float(np.max(np.abs(in_double(value))))
    return found if np.isfinite(found) else 0.0
