"""What `tfdbg doctor` says of bundles and saved runs: nothing of whole ones, and what is damaged of others."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from support.sample_run import sample_run

from tfdbg_cli.formats.bundles import layout
from tfdbg_cli.formats.bundles.writer import write_bundle
from tfdbg_cli.formats.dumps import case_layout
from tfdbg_cli.formats.examining import examined
from tfdbg_cli.formats.recording.format import UNCHECKED
from tfdbg_cli.model.calls import RunKind
from tfdbg_cli.model.replay import ReplaySpec

NOTE = "TensorFlow made the same ops as of the plain run."


@pytest.fixture
def bundle(tmp_path: Path) -> Path:
    run = replace(sample_run(), notes=(NOTE,))
    write_bundle(run, ReplaySpec(RunKind.FUNCTION, b"", entry="step", fetches=("a:0",)), tmp_path / "bundle")
    return tmp_path / "bundle"


def _case(bundle: Path) -> Path:
    return bundle / case_layout.CASE_DIRECTORY / case_layout.CASE


def test_what_was_noted_of_the_run_is_no_damage(bundle: Path) -> None:
    found = examined(bundle)
    replayed = f"This is a bundle: `tfdbg replay {bundle}` makes the run again."
    assert (found.facts, found.troubles) == (("1 run.", replayed, NOTE, UNCHECKED), ())


def test_a_folder_of_runs_tells_a_note_once(bundle: Path, tmp_path: Path) -> None:
    for number in (1, 2):
        shutil.copytree(bundle, tmp_path / "runs" / f"run_{number}_{number}")
    found = examined(tmp_path / "runs")
    assert (found.facts, found.troubles) == (("2 runs.", NOTE, UNCHECKED), ())


def test_a_damaged_description_is_wrong(bundle: Path) -> None:
    _case(bundle).write_text("{")
    troubles = [text for text, _ in examined(bundle).troubles]
    assert "Run 1: The file case.json is damaged and was left out." in troubles


def test_an_empty_graph_of_the_program_is_damage(tmp_path: Path) -> None:
    run, bundle = sample_run(), tmp_path / "bundle"
    write_bundle(
        replace(run, python_graph=run.graph), ReplaySpec(RunKind.FUNCTION, b"", entry="", fetches=()), bundle
    )
    assert not examined(bundle).troubles
    (bundle / case_layout.CASE_DIRECTORY / case_layout.PYTHON_GRAPH).write_bytes(b"")
    told = [text for text, _ in examined(bundle).troubles]
    assert "Run 1: The file python_graph.pb is empty: the program's own graph is not known." in told


def test_sources_that_were_changed_are_damage(bundle: Path) -> None:
    (kept, *_) = (bundle / case_layout.CASE_DIRECTORY / case_layout.SOURCES).iterdir()
    kept.write_bytes(b"")
    (told,) = (text for text, _ in examined(bundle).troubles)
    assert told.startswith("Run 1: The copy of ") and told.endswith(" is damaged, and not shown.")


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (lambda place: (place / "graph.pb").write_bytes(b"other"), "graph.pb is damaged"),
        (lambda place: (place / "repetition.json").write_text("{"), "repetition.json is damaged"),
        (lambda place: (place / "repetition.json").unlink(), "lacks repetition.json, which says how its run"),
        (lambda place: (place / "graph.pb").unlink(), "graph.pb cannot be read"),
    ],
)
def test_what_the_run_is_made_again_from_is_looked_at(
    bundle: Path, spoil: Callable[[Path], object], said: str
) -> None:
    spoil(bundle / layout.REPETITION_DIRECTORY)
    ((text, _),) = examined(bundle).troubles
    assert text.startswith("The run cannot be made again: ") and said in text
