"""What `tfdbg replay` says of a run made again, by what it shows; no TensorFlow."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from support.made_run import op
from support.masked_run import BAD_LOG, SCORES, masked_run

from tfdbg_cli.cli.replay_verdict import replay_verdict
from tfdbg_cli.formats.bundles.reader import Bundle, FirstBad
from tfdbg_cli.formats.bundles.values import value_digest
from tfdbg_cli.model.calls import Call, RunError, RunKind
from tfdbg_cli.model.names import TensorName
from tfdbg_cli.model.replay import ReplaySpec
from tfdbg_cli.model.runs import Run
from tfdbg_cli.model.tensors import MemoryTensorStore, describe
from tfdbg_cli.model.values import Lack, NoValue, Value

INF = np.array([1, np.inf], np.float32)
FINE = np.array([1, 2], np.float32)
HANDLE = NoValue(Lack.OPAQUE, "A reference.")
Values = dict[str, Value]


def run_of(values: Values, error: RunError | None = None) -> Run:
    tensors = [
        describe(TensorName(name, 0), value, device="", op_type="Log", dtype="float32")
        for name, value in values.items()
    ]
    return Run(Call(1, RunKind.FUNCTION, ()), MemoryTensorStore(tensors, list(values.values())), error=error)


def verdict(then: Values, now: Values, errors: tuple[RunError | None, RunError | None] = (None, None)) -> str:
    """`yes: …` or `no: …` of a bundle whose run gave `then` and gives `now`."""
    first = next(
        (name for name, value in then.items() if not isinstance(value, NoValue) and np.isinf(value).any()), ""
    )
    bad = None
    if first:
        value = then[first]
        assert not isinstance(value, NoValue)
        bad = FirstBad(TensorName(first, 0), 0, "", "Log", value_digest(value, ""))
    bundle = Bundle(Path("b"), run_of(then, errors[0]), ReplaySpec(RunKind.FUNCTION, b""), bad, {})
    same, said = replay_verdict(bundle, run_of(now, errors[1]))
    return f"{'yes' if same else 'no'}: {said}"


@pytest.mark.parametrize(
    ("then", "now", "said"),
    [
        ({"a": FINE}, {"a": FINE}, "yes: every value is finite, as it was."),
        ({"a": FINE}, {"a": INF}, "no: it does not come out as it was: a:0 (Log) is not finite now"),
        ({"a": INF}, {"a": INF}, "yes: a:0 (Log) is the origin, as it was, bit for bit."),
        (
            {"a": INF},
            {"a": FINE},
            "no: it does not come out as it was: a:0 is finite now, and was the origin",
        ),
        (
            {"a": INF},
            {"a": INF[::-1]},
            "no: a:0 (Log) is the origin, as it was, but at other",
        ),
        ({"a": INF}, {"a": INF * 2}, "yes: a:0 (Log) is the origin, as it was; finite"),
        (
            {"a": FINE, "b": INF},
            {"a": INF, "b": INF},
            "no: it does not come out as it was: a:0 (Log) went wrong before",
        ),
        # Independent ops have no order.
        ({"a": INF, "b": INF}, {"b": INF, "a": INF}, "yes: a:0 (Log) is the origin"),
        # The recording was narrowed: what it does not show does not count.
        ({"b": INF}, {"a": INF, "b": INF}, "yes: b:0 (Log) is the origin"),
        (
            {"v": INF, "b": INF},
            {"v": HANDLE, "b": INF},
            "yes: v:0, the first that was not finite, is not shown by a re",
        ),
        (
            {"v": INF, "b": INF},
            {"v": HANDLE, "b": FINE},
            "no: v:0, the first that was not finite, is not shown by a re",
        ),
        ({"v": INF}, {"v": HANDLE}, "no: v:0 was not finite, and a replay does not show it"),
    ],
)
def test_the_verdict(then: Values, now: Values, said: str) -> None:
    assert verdict(then, now).startswith(said)


def test_a_run_whose_results_are_finite_now_does_not_come_out_as_it_was() -> None:
    """A blind test: a kernel of oneDNN made 0 of the NaN behind the origin, and all was said to be as it was."""
    call = Call(1, RunKind.FUNCTION, ("loss:0", "b:0", "c:0"))
    then = replace(run_of({"a": INF, "loss": INF, "b": INF, "c": FINE}), call=call)
    now = replace(run_of({"a": INF, "loss": FINE, "b": FINE, "c": FINE}), call=call)
    said = "a:0 (Log) is the origin, as it was, but b:0 is {}; of what came out 1 more differ so."
    assert _masked(now, then, _bad(then, "a"), judged=True) == f"no: {said.format('finite now, and was not')}"
    assert _masked(then, now, _bad(then, "a"), judged=True) == f"no: {said.format('not finite now, and was')}"


def test_the_verdict_on_errors() -> None:
    first, second = RunError("InvalidArgumentError", "bad", "check"), RunError("InvalidArgumentError", "bad", "other")
    assert verdict({}, {}, (first, first)) == "yes: it fails as it did: InvalidArgumentError in check."
    assert verdict({}, {}, (first, second)).startswith("no: it fails in another way")
    assert verdict({}, {}, (first, None)).startswith("no: it does not come out as it was: it failed")
    assert verdict({}, {}, (None, first)).startswith("no: it does not come out as it was: it fails now")


def _masked(now: Run, then: Run, bad: FirstBad | None, *, judged: bool = False) -> str:
    """The verdict on a run with a mask; what its bundle says went wrong first is `bad`."""
    bundle = Bundle(Path("b"), then, ReplaySpec(RunKind.FUNCTION, b""), bad, {}, judged)
    same, said = replay_verdict(bundle, now)
    return f"{'yes' if same else 'no'}: {said}"


def _bad(run: Run, node: str) -> FirstBad:
    (row,) = run.tensors.named(node)
    value = run.tensors.value(row)
    assert not isinstance(value, NoValue)
    return FirstBad(TensorName(node, 0), 0, "", "", value_digest(value, ""))


@pytest.mark.parametrize("judged", [False, True])
def test_a_mask_is_not_what_went_wrong(judged: bool) -> None:
    """A blind test: the constant of the mask was said to be the first that is not finite, as it was.

    So it was where the fault was gone. Older bundles, which were not judged, name the mask.
    """
    bad, fine = masked_run(BAD_LOG), masked_run()
    told = _bad(bad, "log") if judged else _bad(bad, "mask")
    assert _masked(bad, bad, told, judged=judged) == "yes: log:0 (Log) is the origin, as it was, bit for bit."
    gone = "no: it does not come out as it was: log:0 is finite now, and was the origin; nothing else is wrong."
    mended = masked_run(op("log", "Log", "scores", value=np.log(SCORES)))
    assert _masked(mended, bad, told, judged=judged) == gone
    none = None if judged else _bad(fine, "mask")
    nothing = "yes: nothing is wrong in it, as it was: what is not finite is intended or ignored."
    assert _masked(fine, fine, none, judged=judged) == nothing
    now = "no: it does not come out as it was: log:0 (Log) is not finite now, and all was fine then."
    assert _masked(bad, mended, none, judged=judged) == now


def test_values_that_are_lost_leave_to_the_bundle_what_went_wrong_first() -> None:
    bad = masked_run(BAD_LOG)
    lost = masked_run(op("log", "Log", "scores", value=NoValue(Lack.DAMAGED, "Damaged.")))
    for judged in (False, True):
        said = _masked(bad, lost, _bad(bad, "log"), judged=judged)
        assert said.startswith("yes: log:0 (Log) is the origin, as it was, bit for bit.")
