"""Every kind of function that TensorFlow's own libraries define can be looked into, and none changes for it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tfdbg_cli.model.decision import Continue, DebugRun, RunUntil
from tfdbg_cli.model.runs import Run, RunEnd

pytestmark = pytest.mark.tf

GOOD = np.array([0.5, 1.5, 2.5, 1.0], np.float32)
BAD = np.array([0.5, np.nan, 2.5, 1.0], np.float32)
RUN = DebugRun()
KINDS = (
    "Defun", "Defun with a gradient of its own", "defun with attributes", "PartitionedCall", "If",
    "Case", "While", "If in While", "While in If", "map_fn", "scan", "foldl", "vectorized_map", "custom_gradient",
    "recompute_grad", "tf.function in tf.function", "py_function", "ctc_loss", "Defun in Defun", "RemoteCall",
    "functional While", "functional For", "functional If", "SymbolicGradient", "numpy_function",
    "Dataset.map, filter, reduce", "Dataset.interleave", "one shot iterator", "map_defun", "batch_function",
)  # fmt: skip
# What of these TensorFlow makes in another way with control flow of version 2 than with that of version 1.
OF_A_VERSION = ("If", "While", "If in While", "While in If", "map_fn", "scan", "foldl")


def test_the_kinds_are_all() -> None:
    from support.function_kinds import EVERY

    assert tuple(EVERY) == KINDS


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_a_kind_is_of_a_version_if_its_graphs_differ(tf: Any, kind: str) -> None:
    """Of the others one version is enough, but under `-m slow`."""
    enabled = tf.control_flow_v2_enabled()
    types: list[Counter[str]] = []
    try:
        for enable in (tf.disable_control_flow_v2, tf.enable_control_flow_v2):
            enable()
            with tf.Graph().as_default() as graph:
                _outputs(kind, tf.placeholder(tf.float32, [4], name="x"))
            made = graph.as_graph_def()
            nodes = [*made.node, *(node for one in made.library.function for node in one.node_def)]
            types.append(Counter(node.op for node in nodes))
    finally:
        (tf.enable_control_flow_v2 if enabled else tf.disable_control_flow_v2)()
    assert (types[0] != types[1]) is (kind in OF_A_VERSION)


def _outputs(kind: str, x: Any) -> Sequence[Any]:
    """What the program of this kind gives, and its gradient where it has one."""
    import tensorflow as tf
    from support.function_kinds import EVERY, WITH_GRADIENT

    result = EVERY[kind](x)
    return (result, tf.gradients(result, x)[0]) if kind in WITH_GRADIENT else (result,)


def _watch(kind: str) -> RunUntil:
    """The loss of ctc makes infinities on purpose, and recompute_grad even NaN."""
    return RunUntil("bad_result" if kind == "recompute_grad" else "has_nan")


def _same(one: Sequence[Any], other: Sequence[Any]) -> None:
    for ours, theirs in zip(one, other, strict=True):
        assert np.asarray(ours).tobytes() == np.asarray(theirs).tobytes()


def _is_whole(run: Run) -> None:
    """The run has values, and nothing in it that was not understood."""
    assert len(run.tensors) > 2
    assert run.error is None
    assert run.exactness is None or not run.exactness.differs, run.exactness


@pytest.fixture
def nothing_went_wrong(capfd: pytest.CaptureFixture[str]) -> Any:
    """Mishaps of ours are told on standard error."""
    yield
    told = [row for row in capfd.readouterr().err.splitlines() if row.startswith("tfdbg: could not")]
    assert not told, told


@pytest.mark.parametrize("kind", KINDS)
def test_in_a_function(watched: Callable[..., Any], nothing_went_wrong: None, kind: str) -> None:
    import tensorflow as tf

    step = tf.function(lambda x: _outputs(kind, x), autograph=False)
    plain = [value.numpy() for value in step(tf.constant(GOOD))]
    with watched(RUN) as front:
        _same([value.numpy() for value in step(tf.constant(GOOD))], plain)
    (end,) = front.ends
    _is_whole(end.run)
    with watched(_watch(kind), Continue()) as front:
        _same([value.numpy() for value in step(tf.constant(GOOD))], plain)
        bad = [value.numpy() for value in step(tf.constant(BAD))]
    _same(bad, [value.numpy() for value in step(tf.constant(BAD))])
    assert [end.run.call.number for end in front.ends] == [2]
    assert front.ends[0].hit is not None


@pytest.mark.parametrize(
    ("kind", "version"),
    [
        pytest.param(kind, version, marks=[] if version == 2 or kind in OF_A_VERSION else pytest.mark.slow)
        for kind in KINDS
        for version in (1, 2)
    ],
)
def test_in_a_session(
    tf: Any, debugged: Callable[..., Any], temporary_files: Path, nothing_went_wrong: None, kind: str, version: int
) -> None:
    """With loops and branches of version 2, which are functions, and of version 1, which are none."""
    enabled = tf.control_flow_v2_enabled()
    (tf.enable_control_flow_v2 if version == 2 else tf.disable_control_flow_v2)()
    try:
        with tf.Graph().as_default(), tf.Session() as session:
            x = tf.placeholder(tf.float32, [4], name="x")
            fetches = list(_outputs(kind, x))
            plain = session.run(fetches, {x: GOOD})
            plain_bad = session.run(fetches, {x: BAD})
            wrapped, front = debugged(session, RUN, _watch(kind))
            _same(wrapped.run(fetches, {x: GOOD}), plain)
            _same(wrapped.run(fetches, {x: GOOD}), plain)
            _same(wrapped.run(fetches, {x: BAD}), plain_bad)
    finally:
        (tf.enable_control_flow_v2 if enabled else tf.disable_control_flow_v2)()
    ends: list[RunEnd] = front.ends
    for file in temporary_files.glob("__autograph_generated_file*"):
        file.unlink()
    assert [end.run.call.number for end in ends] == [1, 3]
    _is_whole(ends[0].run)
    assert ends[1].hit is not None
