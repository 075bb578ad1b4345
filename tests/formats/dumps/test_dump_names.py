"""The parts of a dump file's name are those that the pattern tells, found without it in nearly all names."""

from __future__ import annotations

import os
import re
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tfdbg_cli.formats.dumps import listing
from tfdbg_cli.formats.dumps.device_names import DEVICE_PREFIX
from tfdbg_cli.formats.dumps.listing import GRAPH_PREFIX, DumpName, list_dump, parse_dump_name

_PATTERN = re.compile(r"(.*)_(\d{1,9})_([A-Za-z][A-Za-z0-9]*)_(\d{1,18})(?:-(\d{1,9}))?", re.DOTALL)
_PARTS = st.one_of(
    st.text("ab_-09", max_size=6),
    st.sampled_from(["DebugIdentity", "Debug", "0", "1700000000000000", "5-1", "٣", ""]),
)


@given(st.lists(_PARTS, min_size=1, max_size=6).map("_".join))
@example("op_0_DebugIdentity_1700000000003400")
@example("op_0_DebugIdentity_1700000000003400-2")
@example("op_0_DebugIdentity_1234567890123456789")
@example("op_1234567890_DebugIdentity_1")
@example("_0_D_1")
@example("0_D_1")
@example("a\n_0_D_1")
@example("op_0_D_1\n")
@example("op_٣_D_٣")
def test_parts_are_those_of_the_pattern(name: str) -> None:
    match = _PATTERN.fullmatch(name)
    expected = match and DumpName(match[1], int(match[2]), match[3], int(match[4]), int(match[5] or 0))
    assert parse_dump_name(name) == expected


_NAMES = st.from_regex(
    r"(_tfdbg_graph_)?[a-z_]{0,4}_[0-2]_(DebugIdentity|DebugNanCount)_[0-9]{1,20}(-1)?", fullmatch=True
)

_FIRST_OUTPUTS = st.from_regex(r"(a|٣|_tfdbg_graph_|\n)?(_0_DebugIdentity_([0-9]{1,20}|٣)?){1,2}", fullmatch=True)


def test_names_of_another_kind_do_not_slow_the_others_down(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / f"{DEVICE_PREFIX}job_localhost"
    folder.mkdir()
    odd = [f"{GRAPH_PREFIX}hash0_5", "split_1_DebugIdentity_7"]
    for name in (*odd, *(f"op{i}_0_DebugIdentity_{i}" for i in range(50))):
        (folder / name).touch()
    apart: list[str] = []
    one_by_one = listing._list_file

    def noted(entry: os.DirEntry[str], *rest: Any) -> None:
        apart.append(entry.name)
        one_by_one(entry, *rest)

    monkeypatch.setattr(listing, "_list_file", noted)
    assert len(list_dump(tmp_path).tensors) == 51
    assert sorted(apart) == sorted(odd)


@given(st.sets(_NAMES | st.text("_01aD", min_size=1, max_size=8), max_size=6) | st.sets(_FIRST_OUTPUTS, max_size=3))
@example({"a_0_DebugIdentity_5", "b_0_DebugIdentity_6"})
@example({"5_0_DebugIdentity_b_0_DebugIdentity_7", "x"})
def test_a_folder_lists_what_the_names_say_of_each(names: set[str]) -> None:
    """A folder of the most frequent kind of names is taken apart as a whole, others name by name."""
    with TemporaryDirectory() as root:
        scope = Path(root, f"{DEVICE_PREFIX}job_localhost", "scope")
        scope.mkdir(parents=True)
        for name in names:
            (scope / name).touch()
        listed = list_dump(Path(root))
    found = {(file.node, file.slot, file.debug_op, file.time_us, file.repeat) for file in listed.tensors}
    told = [parse_dump_name(name) for name in names if not name.startswith(GRAPH_PREFIX)]
    assert found == {(f"scope/{each.base}", *each[1:]) for each in told if each is not None}
    assert sum(map(len, listed.graphs.values())) == sum(name.startswith(GRAPH_PREFIX) for name in names)
