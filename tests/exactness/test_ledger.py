"""The ledger of a sweep: what it settled is not tried again, what differed is, and settings are kept apart."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from exactness.ledger import Ledger, Settings

_SETTINGS = Settings("2.21.0", "3.15.1", "2.21.0", onednn=True)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    ledger = Ledger(tmp_path / "ledger", _SETTINGS)
    ledger.add("fits", "one", 40, {"outcome": "same", "way": "watched"})
    ledger.add("fits", "two", 40, {"outcome": "differs", "way": "watched"})
    ledger.add("fits", "three", 40, {"outcome": "does not run", "why": "undebugged it raises"})
    return tmp_path / "ledger"


def test_what_was_the_same_is_settled_for_its_way_and_steps(file: Path) -> None:
    ledger = Ledger(file, _SETTINGS)
    assert ledger.settled("fits", "one", "watched", 40)
    assert not ledger.settled("fits", "one", "captured", 40)
    assert not ledger.settled("fits", "one", "watched", 6)
    assert not ledger.settled("optimizers", "one", "watched", 40)


def test_what_differed_is_tried_again(file: Path) -> None:
    assert not Ledger(file, _SETTINGS).settled("fits", "two", "watched", 40)


def test_what_does_not_run_is_settled_for_every_way(file: Path) -> None:
    assert Ledger(file, _SETTINGS).settled("fits", "three", "captured", 40)


def test_other_settings_are_tried_by_themselves(file: Path) -> None:
    assert not Ledger(file, replace(_SETTINGS, onednn=False)).settled("fits", "one", "watched", 40)


def test_lines_are_added_and_say_of_what_code_they_are(file: Path) -> None:
    Ledger(file, _SETTINGS).add("fits", "four", 40, {"outcome": "same", "way": "watched"})
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    assert [line["name"] for line in lines] == ["one", "two", "three", "four"]
    assert all(line["code"] and line["onednn"] for line in lines)


def test_without_a_file_nothing_is_kept() -> None:
    ledger = Ledger(None, _SETTINGS)
    ledger.add("fits", "one", 40, {"outcome": "same", "way": "watched"})
    assert not ledger.settled("fits", "one", "watched", 40)
