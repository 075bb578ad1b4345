from __future__ import annotations

import ast
import json
import os
import random
import shutil
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from support.masked_run import BAD_LOG, masked_run
from support.sample_run import sample_run

from tfdbg_cli.analysis.origin.blamed import blamed_in
from tfdbg_cli.commands.views.opening import opening_command
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.formats.bundles import writer as bundle_writer
from tfdbg_cli.formats.bundles.layout import is_bundle
from tfdbg_cli.formats.bundles.reader import read_bundle
from tfdbg_cli.formats.bundles.writer import bundle_size, write_bundle
from tfdbg_cli.formats.examining import examined
from tfdbg_cli.formats.opening import open_path
from tfdbg_cli.formats.recording import writing
from tfdbg_cli.model.calls import RunKind
from tfdbg_cli.model.names import TensorName
from tfdbg_cli.model.replay import InputRole, ReplayInput, ReplaySpec
from tfdbg_cli.model.tensors import EMPTY_STORE, MemoryTensorStore, describe
from tfdbg_cli.model.values import Array

ARRAYS: tuple[tuple[str, Array], ...] = (
    ("float32", np.array([1, np.nan, -np.inf], np.float32)),
    ("float64", np.array(np.frombuffer(b"\x01\0\0\0\0\0\xf8\x7f", np.float64))),  # a NaN with bits of its own
    ("bfloat16", np.array([[1.5, np.inf]], ml_dtypes.bfloat16)),
    ("float8_e4m3fn", np.array([1, np.nan], ml_dtypes.float8_e4m3fn)),
    ("float8_e5m2", np.array([1, np.inf], ml_dtypes.float8_e5m2)),
    ("int4", np.array([-8, 7, 1], ml_dtypes.int4)),
    ("qint8", np.array([-1, 2], np.int8)),
    ("complex64", np.array(1 + 2j, np.complex64)),
    ("bool", np.array([True, False])),
    ("int64", np.array(2**40)),
    ("float32", np.zeros((0, 3), np.float32)),
    ("float16", np.arange(6, dtype=np.float16).reshape(2, 3).T),  # not in C order
    ("string", np.array([b"a\0", "Käse".encode(), b""], object)),
    ("string", np.array(b"one", object)),
    ("string", np.empty((0,), object)),
)
INPUTS = tuple(
    ReplayInput(f"../../etc/{i}", list(InputRole)[i % 3], dtype, array, "node" * (i % 3 == 1))
    for i, (dtype, array) in enumerate(ARRAYS)
)
REPETITION = ReplaySpec(
    RunKind.FUNCTION,
    b"\x0a\x03abc\xff",
    entry="step",
    fetches=("loss/Mean:0", "train"),
    inputs=INPUTS,
    limits=('A table "was" lost.\n', "\x1b[2J"),
    details={"a": "b"},
)


@pytest.fixture
def written(tmp_path: Path) -> Path:
    path = tmp_path / "bundle"
    assert write_bundle(sample_run(), REPETITION, path) == ()
    return path


def test_a_bundle_is_read_as_it_was(written: Path) -> None:
    bundle = read_bundle(written)
    read = bundle.replay_spec
    assert replace(read, inputs=()) == replace(REPETITION, inputs=())
    assert len(read.inputs) == len(INPUTS)
    for was, now in zip(INPUTS, read.inputs, strict=True):
        assert (now.name, now.role, now.dtype, now.node) == (was.name, was.role, was.dtype, was.node)
        assert (now.value.dtype, now.value.shape) == (was.value.dtype, was.value.shape)
        if was.value.dtype.hasobject:
            assert now.value.tolist() == was.value.tolist()
        else:
            assert now.value.tobytes() == was.value.tobytes()
    assert set(bundle.versions) == {"tfdbg", "tensorflow", "numpy", "python", "machine"}


def test_it_says_which_tensor_went_wrong_first(written: Path) -> None:
    bad = read_bundle(written).first_bad
    assert bad is not None
    assert (bad.name, bad.execution, bad.op_type) == (TensorName("spectrum", 0), 0, "Complex")


def test_of_a_run_that_was_judged_it_names_what_is_to_blame_and_no_mask(tmp_path: Path) -> None:
    for name, run, opening in (("bad", masked_run(BAD_LOG), "origin"), ("fine", masked_run(), "lt")):
        write_bundle(run, REPETITION, tmp_path / name, blame=blamed_in)
        bundle = read_bundle(tmp_path / name)
        assert bundle.judged
        assert (bundle.first_bad and bundle.first_bad.name.node) == ("log" if name == "bad" else None)
        assert opening_command(open_path(tmp_path / name)) == opening


def test_a_run_in_which_nothing_is_wrong(tmp_path: Path) -> None:
    write_bundle(replace(sample_run(), tensors=EMPTY_STORE), REPETITION, tmp_path / "bundle")
    assert read_bundle(tmp_path / "bundle").first_bad is None


def test_it_opens_as_a_recording(written: Path) -> None:
    opened = open_path(written)
    (run,) = opened.runs
    assert len(run.tensors) == len(sample_run().tensors)
    assert not [note for note in run.notes if "repetition" in note]


def test_that_of_a_bad_run_opens_on_the_origin_and_any_other_on_its_tensors(written: Path, tmp_path: Path) -> None:
    assert opening_command(open_path(written)) == "origin"
    fine, one = tmp_path / "fine", np.array([1], np.float32)
    tensors = MemoryTensorStore([describe(TensorName("a", 0), one, device="", op_type="Add", dtype="float32")], [one])
    write_bundle(replace(sample_run(), tensors=tensors), REPETITION, fine)
    assert opening_command(open_path(fine)) == "lt"


@pytest.mark.parametrize("damage", ["[1]", "{", '{"first_bad": null}', "[" * 100_000, None])
def test_a_description_that_cannot_be_read_takes_nothing_from_what_was_recorded(written: Path, damage: str) -> None:
    path = written / "repetition" / "repetition.json"
    path.unlink()
    os.mkfifo(path) if damage is None else path.write_text(damage)  # a pipe would wait for ever
    assert opening_command(open_path(written)) == "lt"


def test_there_is_no_pickle_in_it_and_no_name_is_a_path(written: Path) -> None:
    files = {path.relative_to(written / "repetition").as_posix() for path in (written / "repetition").rglob("*")}
    assert files == {
        "repetition.json", "graph.pb", "replay.py", "inputs", *(f"inputs/{i}" for i in range(len(INPUTS)))
    }  # fmt: skip


@pytest.mark.parametrize("kind", [RunKind.FUNCTION, RunKind.SESSION, RunKind.CALLABLE])
def test_the_script_is_short_and_its_text_harmless(tmp_path: Path, kind: RunKind) -> None:
    run = sample_run()
    run = replace(run, call=replace(run.call, kind=kind, function='f"""\\\n; import os; os.abort()  # \x1b[2J'))
    write_bundle(run, replace(REPETITION, kind=kind), tmp_path / "bundle")
    text = (tmp_path / "bundle" / "repetition" / "replay.py").read_text(encoding="utf-8")
    tree = ast.parse(text)
    names = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    assert names == {"json", "pathlib", "numpy", "tensorflow"}
    assert "\x1b" not in text
    assert len(text.splitlines()) < 90


def test_nothing_is_replaced_unasked(written: Path, tmp_path: Path) -> None:
    with pytest.raises(TfdbgError, match="already"):
        write_bundle(sample_run(), REPETITION, written)
    write_bundle(sample_run(), replace(REPETITION, entry="other"), written, replace=True)
    assert read_bundle(written).replay_spec.entry == "other"
    precious = tmp_path / "precious"
    precious.mkdir()
    (precious / "thesis.tex").write_text("…")
    with pytest.raises(TfdbgError, match="already"):
        write_bundle(sample_run(), REPETITION, precious, replace=True)
    assert (precious / "thesis.tex").exists()


def test_it_is_there_whole_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bad = ReplayInput("x", InputRole.GIVEN, "float32", np.array([object()], object))
    with pytest.raises(TfdbgError, match="'x' cannot be written"):
        write_bundle(sample_run(), replace(REPETITION, inputs=(*INPUTS, bad)), tmp_path / "bundle")

    def full(*arguments: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(bundle_writer, "script_of", full)
    with pytest.raises(TfdbgError, match="disk is full"):
        write_bundle(sample_run(), REPETITION, tmp_path / "bundle")
    assert list(tmp_path.iterdir()) == []


def test_room_is_looked_for_before(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    needed = bundle_size(sample_run(), REPETITION)
    assert needed > bundle_size(sample_run(), None) > 0
    writing.require_room(needed, tmp_path / "bundle", 1 << 30)
    with pytest.raises(TfdbgError, match="more than the 10 B of disk"):
        writing.require_room(needed, tmp_path / "bundle", 10)
    monkeypatch.setattr(writing, "free_disk", lambda place: needed + 1)
    writing.require_room(needed, tmp_path / "bundle", 1 << 30)
    with pytest.raises(TfdbgError, match="more than"):
        writing.require_room(needed, tmp_path / "bundle", 0)  # half of what is free


def test_what_is_no_bundle(tmp_path: Path, written: Path) -> None:
    with pytest.raises(TfdbgError, match="There is no"):
        read_bundle(tmp_path / "nowhere")
    with pytest.raises(TfdbgError, match="is no bundle"):
        read_bundle(tmp_path)
    with pytest.raises(TfdbgError, match="is a file"):
        read_bundle(written / "repetition" / "graph.pb")
    assert is_bundle(written)
    (written / "repetition" / "repetition.json").unlink()
    with pytest.raises(TfdbgError, match="lacks repetition"):
        read_bundle(written)
    shutil.rmtree(written / "repetition")
    with pytest.raises(TfdbgError, match="what was recorded of a run, but not what it takes"):
        read_bundle(written)


def change(written: Path, **changes: Any) -> None:
    path = written / "repetition" / "repetition.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))


def test_a_newer_format_is_named(written: Path) -> None:
    change(written, format=2)
    with pytest.raises(TfdbgError, match="format that this one does not know"):
        read_bundle(written)


def test_a_value_that_was_changed_is_noticed(written: Path) -> None:
    path = written / "repetition" / "inputs" / "0"
    path.write_bytes(bytes([1, *path.read_bytes()[1:]]))
    with pytest.raises(TfdbgError, match="is damaged: Its content is not what was written"):
        read_bundle(written)


def test_a_claim_of_much_memory_is_refused_before_it_is_taken(written: Path) -> None:
    fields = json.loads((written / "repetition" / "repetition.json").read_text())
    fields["inputs"][0]["shape"] = [1 << 40, 1 << 20]
    change(written, inputs=fields["inputs"])
    with pytest.raises(TfdbgError, match="takes"):
        read_bundle(written)
    huge = written / "repetition" / "graph.pb"
    with huge.open("wb") as file:
        file.truncate(1 << 33)
    with pytest.raises(TfdbgError, match="more than such a file has"):
        read_bundle(written)


def test_links_lead_nowhere(written: Path, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_bytes(b"\0" * 12)
    target = written / "repetition" / "inputs" / "0"
    target.unlink()
    target.symlink_to(secret)
    with pytest.raises(TfdbgError, match="links"):
        read_bundle(written)


WRONG = (None, 1, -1, "x", [], {}, [1], {"a": 1}, "\ud800", 1e400, True, [[]], "9" * 400, 2**70)


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(found for key, inner in items for found in places(inner, (*path, key)))]


def test_whatever_stands_in_the_description_is_an_error_of_ours_or_fine(written: Path) -> None:
    path = written / "repetition" / "repetition.json"
    original = path.read_text()
    chance = random.Random(4)
    everywhere = [place for place in places(json.loads(original)) if place]
    for place in everywhere:
        fields = json.loads(original)
        at = fields
        for key in place[:-1]:
            at = at[key]
        if chance.random() < 0.2:
            del at[place[-1]]
        else:
            at[place[-1]] = chance.choice(WRONG)
        path.write_text(json.dumps(fields))
        try:
            read_bundle(written)
        except TfdbgError as error:
            assert "bundle" in error.message


def test_damaged_files_are_errors_of_ours(written: Path) -> None:
    chance = random.Random(5)
    files = sorted(path for path in (written / "repetition").rglob("*") if path.is_file() and path.suffix != ".py")
    for path in files:
        original = path.read_bytes()
        for _ in range(6):
            content = bytearray(original)
            if content and chance.random() < 0.7:
                content[chance.randrange(len(content))] ^= 1 << chance.randrange(8)
            else:
                content = bytearray(content[: len(content) // 2]) + b"\0" * (not content)
            path.write_bytes(content)
            if path.name == "repetition.json":
                with suppress(TfdbgError):
                    read_bundle(written)
                continue
            with pytest.raises(TfdbgError):
                read_bundle(written)
        path.unlink()
        with pytest.raises(TfdbgError):
            read_bundle(written)
        path.write_bytes(original)


def test_nobody_else_may_look_into_it(written: Path) -> None:
    """It holds what a program was trained with."""
    assert written.stat().st_mode & 0o777 == 0o700
    for path in written.rglob("*"):
        assert path.stat().st_mode & 0o777 == (0o700 if path.is_dir() else 0o600), path


def test_doctor_sees_a_script_that_ends_too_soon(written: Path) -> None:
    """A blind test: nothing was wrong with a bundle whose replay.py was cut."""
    script = written / "repetition" / "replay.py"
    whole = script.read_text(encoding="utf-8")
    before = examined(written).troubles
    script.write_text(whole.replace("import", "import  ", 1) + "# mine\n", encoding="utf-8")
    assert examined(written).troubles == before, "somebody may have changed it"
    for text, said in ((whole[: len(whole) // 2], "ends before its last lines"), ("", "ends before its last lines")):
        script.write_text(text, encoding="utf-8")
        told, advice = examined(written).troubles[-1]
        assert told == f"The file repetition/replay.py {said}." and advice.startswith(
            "`tfdbg replay` does without it"
        )
    script.unlink()
    assert (
        examined(written).troubles[-1][0]
        == "The file repetition/replay.py cannot be read: No such file or directory."
    )
