"""Where the values of a hit come from, and what the screen says of it: one rule for sessions and functions."""

from __future__ import annotations

import pytest
from support import sample_run

from tfdbg_cli.capture.replay.replayed import Replayed
from tfdbg_cli.capture.runs.watch_policy import Course, Policy, checked, fits, is_hit, passes, policy, replayed_hit
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.model.calls import RunError
from tfdbg_cli.model.decision import Values
from tfdbg_cli.model.runs import Estimate
from tfdbg_cli.model.tensors import EMPTY_STORE

SMALL = Estimate(3, 1000, 0, 2000, "memory")
LARGE = Estimate(3, 5_000_000, 0, 2000, "memory")
UNKNOWN = Estimate(3, None, 3, 2000, "memory")
VALUES = sample_run.sample_run().tensors


def _never():
    raise AssertionError("nobody has to know how large the values are")


def test_values_are_kept_where_the_person_wants_it():
    assert policy(Values.KEEP, "it draws", _never) == Policy(Course.KEEP)
    assert policy(Values.KEEP, "", _never) == Policy(Course.KEEP)


@pytest.mark.parametrize("wanted", [Values.AUTO, Values.REPLAY])
def test_a_run_that_can_be_made_again_is(wanted):
    assert policy(wanted, "", _never) == Policy(Course.REPLAY)


@pytest.mark.parametrize("wanted", [Values.AUTO, Values.REPLAY])
@pytest.mark.parametrize("needed", [SMALL, UNKNOWN])
def test_one_that_cannot_keeps_its_values_and_says_why(wanted, needed):
    found = policy(wanted, "it draws", lambda: needed)
    assert found.course is Course.KEEP
    assert found.notes == ("This run cannot be made again (it draws), so its values were kept instead.",)


def test_without_room_there_are_no_values_and_the_way_out_is_told():
    found = policy(Values.AUTO, "it draws", lambda: LARGE)
    assert found.course is Course.WITHOUT
    reason, note = found.notes
    assert reason == "This run cannot be made again (it draws)."
    assert "4.77 MB" in note
    assert "config set memory_budget" in note
    assert not fits(LARGE)


@pytest.mark.parametrize(
    ("found", "sure", "tensors", "hit"),
    [
        (False, False, VALUES, False),
        (True, True, VALUES, True),
        (True, False, VALUES, False),  # the filter is asked
        (True, False, EMPTY_STORE, True),  # there is nothing to ask it of
        (False, False, EMPTY_STORE, False),
    ],
)
def test_what_counts_as_a_hit(found, sure, tensors, hit):
    assert is_hit(tensors, found=found, sure=sure) is hit


def test_a_hit_made_again_says_that_its_values_are_of_the_same_run():
    found = replayed_hit(lambda: Replayed(VALUES, ("slow",)), lambda _: True, lambda: SMALL, sure=True)
    assert found.tensors is VALUES
    assert found.notes[0].startswith("These values are of the same run made once more")
    assert found.notes[1:] == ("slow",)


def test_values_that_do_not_show_the_hit_are_told_apart():
    found = replayed_hit(lambda: Replayed(VALUES), lambda _: False, lambda: SMALL, sure=True)
    assert "not those of the hit" in found.notes[0]
    # Where the checks were not sure, the filter has not spoken yet.
    unsure = replayed_hit(lambda: Replayed(VALUES), lambda _: False, lambda: SMALL, sure=False)
    assert unsure.notes[0].startswith("These values are of the same run")


def test_a_hit_that_fails_when_it_is_made_again_says_with_what():
    failed = Replayed(VALUES, error=RunError("InvalidArgumentError", "no such row", "gather"))
    found = replayed_hit(lambda: failed, lambda _: False, lambda: SMALL, sure=True)
    assert found.notes[0].startswith("Made once more, the run failed with InvalidArgumentError: no such row")


@pytest.mark.parametrize("failure", [TfdbgError("The state before it could not be held."), ValueError("odd")])
def test_a_hit_that_cannot_be_made_again_is_shown_all_the_same(failure, capsys):
    def replay():
        raise failure

    found = replayed_hit(replay, lambda _: True, lambda: SMALL, sure=True)
    assert len(found.tensors) == 0
    assert found.notes == (f"The run could not be made again, so its values are missing: {failure}",)
    reported = "make a run again" in capsys.readouterr().err
    assert reported is isinstance(failure, ValueError)  # a mistake of ours is told at once


def test_a_hit_whose_values_memory_has_no_room_for_is_not_made_again():
    found = replayed_hit(_never, lambda _: True, lambda: LARGE, sure=True)
    assert len(found.tensors) == 0
    assert found.notes[0].startswith("The values are missing: they would take about 4.77 MB, more than the 1.95 kB")


def test_a_run_passes_by_one_of_its_values():
    run = sample_run.sample_run()
    names = []
    assert not passes(run, lambda datum, value: names.append(datum.node_name) or False)
    assert len(names) == len(run.tensors)
    assert passes(run, lambda datum, value: datum.node_name == names[-1])


@pytest.mark.parametrize(
    "checks, tensors, told",
    [
        (1, 3, "1 check stands for 3 tensors."),
        (1, 1, "1 check stands for 1 tensor."),
        (2, 1, "2 checks stand for 1 tensor."),
        (2, 5, "2 checks stand for 5 tensors."),
        (1167, 1028, "1,167 checks stand for 1,028 tensors."),
    ],
)
def test_one_check_is_told_as_one(checks: int, tensors: int, told: str) -> None:
    assert checked(checks, tensors) == f"The run was checked inside TensorFlow: {told}"
    again = checked(checks, tensors, "when it was made again")
    assert again == f"The run was checked when it was made again: {told}"
