"""Values that were kept of a hit, and among them those from inside its calls, of the run made once more."""

from __future__ import annotations

import numpy as np
import pytest

from tfdbg_cli.capture.replay.replayed import Replayed
from tfdbg_cli.capture.runs.session.insides_again import insides_of_hit, merged
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.model.calls import RunError
from tfdbg_cli.model.names import TensorName
from tfdbg_cli.model.tensors import MemoryTensorStore, describe
from tfdbg_cli.model.values import Lack, NoValue

pytestmark = pytest.mark.tf
_HANDLE = NoValue(Lack.OPAQUE, "This is a handle; it holds no numbers.")


def _store(*tensors):
    """Tensors as (name, value) or (name, value, execution)."""
    described = [
        describe(TensorName(name, 0), value, device="", op_type="Op", dtype="float32", execution=sum(execution))
        for name, value, *execution in tensors
    ]
    return MemoryTensorStore(described, [value for _, value, *_ in tensors])


def _number(value: float):
    return np.float32([value])


def _shown(store):
    return [(str(store[at].name), store[at].execution, store.value(at)) for at in range(len(store))]


def test_what_is_inside_stands_where_it_ran_and_what_was_kept_keeps_its_values() -> None:
    kept = _store(
        ("iterator", _HANDLE), ("x", _number(1)), ("v", _HANDLE), ("y", _number(2)), ("v/after", _number(3))
    )
    again = _store(("x", _number(1.5)), ("c/log", _number(7)), ("c/log", _number(8), 1), ("y", _number(2.5)))
    assert _shown(merged(kept, again)) == [
        ("iterator:0", 0, _HANDLE),
        ("x:0", 0, _number(1)),
        ("c/log:0", 0, _number(7)),
        ("c/log:0", 1, _number(8)),
        ("v:0", 0, _HANDLE),
        ("y:0", 0, _number(2)),
        ("v/after:0", 0, _number(3)),
    ]


def test_a_value_that_was_not_kept_is_that_of_the_run_made_again() -> None:
    lost = NoValue(Lack.OPAQUE, "fused")
    assert _shown(merged(_store(("x", lost)), _store(("x", _number(4))))) == [("x:0", 0, _number(4))]


def test_other_last_digits_are_told() -> None:
    kept = _store(("y", _number(2)))
    found = insides_of_hit(kept, lambda: Replayed(_store(("c/log", _number(7)), ("y", _number(2.5)))), lambda _: True)
    assert not found.lacks
    assert "made once more" in found.notes[0]
    assert "1 value is not the same to the last bit: y:0" in found.notes[1]


def _fails() -> Replayed:
    raise TfdbgError("The session is closed.")


@pytest.mark.parametrize(
    ("replay", "why"),
    [
        (_fails, "failed with The session is closed."),
        (lambda: Replayed(error=RunError("InternalError", "boom")), "failed with InternalError: boom."),
        (lambda: Replayed(_store(("y", _number(9)))), "gave nothing that the watch asks for."),
    ],
)
def test_a_run_that_shows_another_thing_adds_nothing_and_says_so(replay, why) -> None:
    kept = _store(("y", _number(2)))
    found = insides_of_hit(kept, replay, lambda again: False)
    assert found.tensors is kept
    assert found.notes == (found.lacks,)
    assert why in found.lacks
