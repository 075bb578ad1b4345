"""Inputs, targets and sample weights are told by where the graph uses them."""

from __future__ import annotations

from support.made_run import Op, made_graph, name, op

from tfdbg_cli.analysis.batch.batch_roles import BatchRole, BatchRoles

TABLE = op("table", "VariableV2")
KERNEL = op("kernel", "VariableV2")


def _roles(*ops: Op) -> list[BatchRole | None]:
    """The roles of the parts of a batch that an iterator gives in the graph of `ops`."""
    graph = made_graph(op("next", "IteratorGetNext"), *ops)
    roles = BatchRoles(graph, frozenset())
    slots = sorted({slot for _, slot in graph.consumers("next")})
    return [roles.role(name(f"next:{slot}")) for slot in slots]


def _loss(prediction: str, target: str, weight: str = "") -> list[Op]:
    found = [op("loss", "SquaredDifference", prediction, target)]
    return [*found, op("weighted", "Mul", "loss", weight)] if weight else found


def test_what_meets_a_parameter_is_an_input_and_what_meets_a_prediction_a_target() -> None:
    dense = op("dense", "MatMul", "next", "kernel")
    assert _roles(KERNEL, dense, *_loss("dense", "next:1")) == [BatchRole.INPUTS, BatchRole.TARGETS]
    assert _roles(KERNEL, dense, *_loss("dense", "next:1", "next:2")) == [
        BatchRole.INPUTS, BatchRole.TARGETS, BatchRole.WEIGHTS,
    ]  # fmt: skip


def test_log_probabilities_of_actions_less_those_of_a_policy_before_are_no_losses() -> None:
    """A blind test: in a PPO loop the policy before was named the sample weights, and the actions the targets."""
    policy = (
        KERNEL,
        op("dense", "MatMul", "next", "kernel"),
        op("log", "LogSoftmax", "dense"),
        op("chosen", "OneHot", "next:1", "four"),
        op("picked", "Mul", "log", "chosen"),
        op("sum", "Sum", "picked", "axis"),
        op("difference", "Sub", "sum", "next:2"),
        op("ratio", "Exp", "difference"),
        op("gain", "Mul", "ratio", "next:3"),
    )
    assert _roles(*policy) == [None] * 4


def test_a_weight_is_multiplied_with_the_losses() -> None:
    dense = op("dense", "MatMul", "next", "kernel")
    shifted = op("shifted", "AddV2", "loss", "next:2")
    assert _roles(KERNEL, dense, *_loss("dense", "next:1"), shifted)[2] is None
    assert _roles(KERNEL, dense, *_loss("dense", "next:1", "next:2"))[2] is BatchRole.WEIGHTS


def test_an_input_that_is_joined_with_an_embedding_of_another_is_no_target() -> None:
    """Model([price, town]): the prices meet what the table made of the towns before they meet a parameter."""
    joined = (
        TABLE,
        KERNEL,
        op("embedded", "GatherV2", "table", "next:1"),
        op("joined", "ConcatV2", "next", "embedded"),
        op("relu", "Relu", "joined"),
        op("dense", "MatMul", "relu", "kernel"),
    )
    assert _roles(*joined, *_loss("dense", "next:2")) == [BatchRole.INPUTS, BatchRole.INPUTS, BatchRole.TARGETS]
    assert _roles(*joined, *_loss("dense", "next:2", "next:3"))[2:] == [BatchRole.TARGETS, BatchRole.WEIGHTS]


def test_a_loss_beside_another_one_with_parameters_of_its_own_stays_a_loss() -> None:
    """Two heads: the sum of both losses, a regularizer and a scale are made of parameters, and are no layers."""
    graph = (
        TABLE,
        KERNEL,
        op("scale", "VariableV2"),
        op("one", "MatMul", "next", "kernel"),
        op("two", "MatMul", "next", "table"),
        op("first", "SquaredDifference", "one", "next:1"),
        op("second", "SquaredDifference", "two", "next:2"),
        op("square", "L2Loss", "table"),
        op("both", "AddV2", "first", "second"),
        op("total", "AddV2", "both", "square"),
        op("scaled", "Mul", "total", "scale"),
    )
    assert _roles(*graph) == [BatchRole.INPUTS, BatchRole.TARGETS, BatchRole.TARGETS]


def test_an_attention_mask_that_is_added_to_scores_is_no_target() -> None:
    """A blind test: it met the scores first, and `origin` asked whether the arguments of the loss were swapped."""
    attention = (
        KERNEL,
        op("queries", "MatMul", "next", "kernel"),
        op("scores", "BatchMatMulV2", "queries", "next"),
        op("mask", "Log", "next:1"),
        op("masked", "AddV2", "scores", "mask"),
        op("shares", "Softmax", "masked"),
        op("mixed", "BatchMatMulV2", "shares", "next"),
    )
    assert _roles(*attention, *_loss("mixed", "next:2")) == [BatchRole.INPUTS, BatchRole.INPUTS, BatchRole.TARGETS]
    assert _roles(*attention, op("loss", "L2Loss", "mixed")) == [None, None]


def test_the_row_splits_of_a_ragged_argument_make_no_target_of_its_values() -> None:
    ragged = (
        KERNEL,
        op("doubled", "Mul", "next", "two"),
        op("rows", "RaggedRange", "next:1"),
        op("summed", "UnsortedSegmentSum", "doubled", "rows", "count"),
        op("squared", "L2Loss", "kernel"),
        op("whole", "Sum", "summed", "axis"),
        op("loss", "AddV2", "whole", "squared"),
        op("logarithm", "Log", "next"),
        op("total", "AddV2", "loss", "logarithm"),
    )
    assert _roles(*ragged) == [None, None]


def test_without_a_loss_nothing_is_told() -> None:
    assert (
        _roles(KERNEL, op("dense", "MatMul", "next", "kernel"), op("sum", "AddV2", "next:1", "next:2")) == [None] * 3
    )


def test_parts_that_were_given_one_by_one_have_roles_though_their_names_are_not_alike() -> None:
    graph = made_graph(
        op("X", "Placeholder"), op("labels", "Placeholder"), KERNEL, op("dense", "MatMul", "X", "kernel"),
        *_loss("dense", "labels"),
    )  # fmt: skip
    parts = [name("X"), name("labels")]
    assert list(map(BatchRoles(graph, frozenset(), parts).role, parts)) == [BatchRole.INPUTS, BatchRole.TARGETS]
    assert list(map(BatchRoles(graph, frozenset()).role, parts)) == [None, None]


def test_while_a_run_goes_on_nothing_is_told_before_its_gradient_begins() -> None:
    """What is taken from the output of a layer looks like the targets until then."""
    parts = [name("X"), name("y")]
    made = (
        op("X", "Placeholder"), op("y", "Placeholder"), KERNEL, op("dense", "MatMul", "X", "kernel"),
        op("shifted", "Sub", "dense", "y"),
    )  # fmt: skip
    gradient = op("gradient_tape/shifted/Neg", "Neg", "shifted")

    def told(*ops: Op, unfinished: bool) -> list[BatchRole | None]:
        roles = BatchRoles(made_graph(*ops), frozenset(), parts, unfinished=unfinished)
        return list(map(roles.role, parts))

    assert told(*made, unfinished=True) == [None, None]
    assert told(*made, gradient, unfinished=True) == told(*made, gradient, unfinished=False)
    assert told(*made, gradient, unfinished=True) == [BatchRole.INPUTS, BatchRole.TARGETS]


def test_what_a_prediction_is_multiplied_with_may_be_a_mask_unless_the_prediction_is_a_logarithm() -> None:
    dense = op("dense", "MatMul", "next", "kernel")
    assert _roles(KERNEL, dense, op("masked", "Mul", "dense", "next:1")) == [None, None]
    entropy = (op("log", "Log", "dense"), op("minus", "Neg", "log"), op("entropy", "Mul", "next:1", "minus"))
    assert _roles(KERNEL, dense, *entropy) == [BatchRole.INPUTS, BatchRole.TARGETS]


def test_what_chooses_between_a_prediction_and_a_constant_is_a_mask_and_between_two_losses_a_target() -> None:
    """A blind test: which actions are legal was told as the targets."""
    dense = op("dense", "MatMul", "next", "kernel")
    masked = op("masked", "SelectV2", "next:1", "dense", "low")
    assert _roles(KERNEL, dense, op("low", "Const"), masked) == [None, None]
    parts = (op("log", "Log", "dense"), op("other", "Log1p", "dense"))
    assert _roles(KERNEL, dense, *parts, op("loss", "SelectV2", "next:1", "log", "other")) == [
        BatchRole.INPUTS,
        BatchRole.TARGETS,
    ]
