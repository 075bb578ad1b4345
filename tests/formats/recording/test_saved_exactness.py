"""What is known of a run's exactness, and that it was not finished, in dumps and in recordings."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.made_run import made_run, op

from tfdbg_cli.errors import WRONG_CONTENT
from tfdbg_cli.formats.container.saving import save_runs
from tfdbg_cli.formats.dumps.case_layout import CASE, CASE_DIRECTORY
from tfdbg_cli.formats.dumps.writer import write_dump
from tfdbg_cli.formats.opening import open_path
from tfdbg_cli.formats.recording.call_fields import exactness_fields, read_exactness
from tfdbg_cli.model.exactness import Exactness, ExecutionWay, Parting

_COUNTS = st.integers(0, 2**62)
_PARTINGS = st.lists(
    st.builds(
        Parting,
        st.text(),
        _COUNTS,
        st.none() | st.floats(0, allow_infinity=False, allow_nan=False),
        st.none() | _COUNTS,
        st.text(),
    )
).map(tuple)
_EXACTNESS = st.builds(
    Exactness,
    st.sampled_from(ExecutionWay),
    _COUNTS,
    _PARTINGS,
    _PARTINGS,
    st.text(),
    st.text(),
    st.text(),
    st.text(),
)


@given(st.none() | _EXACTNESS)
def test_it_comes_back(exactness: Exactness | None) -> None:
    fields = json.loads(json.dumps(exactness_fields(exactness)))
    found = read_exactness(fields)
    assert found == exactness
    assert exactness_fields(found) == exactness_fields(exactness)


@pytest.mark.parametrize("key", ["way", "compared", "differs", "strays", "doubt", "note", "order", "race"])
@pytest.mark.parametrize("wrong", [None, -1, 0.5, [1], {"name": 1}])
def test_what_does_not_fit_is_refused(key: str, wrong: Any) -> None:
    fields = exactness_fields(Exactness(ExecutionWay.TRIED, 3, (Parting("w", 2, 1e300, 4),)))
    assert fields is not None
    with pytest.raises(WRONG_CONTENT):
        read_exactness({**fields, key: wrong})


def test_a_saved_run_tells_it(tmp_path: Path) -> None:
    exactness = Exactness(ExecutionWay.GIVEN, 2, (Parting("loss:0", 1, 0.5, 3),), note="A note.")
    run = replace(made_run(op("x", "Placeholder", value=[1.0])), exactness=exactness, unfinished=True)
    write_dump(run, tmp_path / "dump")
    save_runs([run], tmp_path / "saved")
    for place in (tmp_path / "dump", tmp_path / "saved"):
        (found,) = open_path(str(place)).runs
        assert (found.exactness, found.unfinished) == (exactness, True)
    case = tmp_path / "dump" / CASE_DIRECTORY / CASE
    case.write_text(json.dumps({**json.loads(case.read_text()), "exactness": {"way": "by magic"}}))
    (found,) = open_path(str(tmp_path / "dump")).runs
    assert found.exactness is None
    assert any("case.json is damaged" in note for note in found.notes)
