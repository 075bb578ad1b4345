"""What was called, as JSON and back."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from tfdbg_cli.errors import WRONG_CONTENT
from tfdbg_cli.formats.recording.call_fields import call_fields, read_call
from tfdbg_cli.model.batch_place import BatchPlace, Order
from tfdbg_cli.model.calls import Call, CallArgument, RunKind

CALL = Call(
    3, RunKind.FUNCTION, ("a:0", "c:0"), targets=("b",), thread="main", notes=("traced",), function="step",
    loop="a.py:1",
    arguments=(CallArgument("x", "float32", (None, 3)),),
    came={
        "x": BatchPlace(6, Order.ARRAYS, 36, 0, "fit"),
        "iterator": BatchPlace(
            1, Order.PIPELINE, None, None, "", True, 3, class_weight=True, parts=(2, 1), keys=("a", "b/c", ""),
            single=True,
        ),
    },
    runs_within={"eager/f_0": 2}, result_names=("loss", ""), for_gradient=1,
    carried={"state": 2}, unchanged=("table",),
)  # fmt: skip


def written(call: Call) -> dict[str, Any]:
    fields: dict[str, Any] = json.loads(json.dumps(call_fields(call)))
    return fields


def test_a_call_comes_back() -> None:
    assert read_call(written(CALL), {}) == CALL


@pytest.mark.parametrize("field", ["runs_within", "carried"])
@pytest.mark.parametrize("within", [5, {"f": 2}, [["f"]], [[2, 2]], [["f", "2"]], [["f", 2, 2]]])
def test_runs_that_do_not_fit_are_refused(field: str, within: Any) -> None:
    with pytest.raises(WRONG_CONTENT):
        read_call({**written(CALL), field: within}, {})


def test_recordings_that_know_nothing_of_batches_can_be_read() -> None:
    fields = written(CALL)
    del fields["came"]
    assert read_call(fields, {}) == replace(CALL, came={})
    fields = written(replace(CALL, came={"x": CALL.came["x"]}))
    del fields["came"][0]["steps"], fields["came"][0]["class_weight"], fields["came"][0]["parts"]
    assert read_call(fields, {}).came == {"x": CALL.came["x"]}


@pytest.mark.parametrize(
    "came",
    [
        5,
        ["x"],
        [{"name": "x"}],
        [{"name": "x", "step": -1, "order": "arrays", "first": None, "epoch": None, "loop": "", "handle": False}],
        [{"name": "x", "step": 1, "order": "sideways", "first": None, "epoch": None, "loop": "", "handle": False}],
    ],
)
def test_what_does_not_fit_is_refused(came: Any) -> None:
    with pytest.raises(WRONG_CONTENT):
        read_call({**written(CALL), "came": came}, {})
