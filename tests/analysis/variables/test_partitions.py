"""The parts of partitioned variables, by what a checkpoint calls them all."""

from __future__ import annotations

from tfdbg_cli.analysis.variables.listing import Variable
from tfdbg_cli.analysis.variables.partitions import parts_by_whole


def test_parts_and_their_slots_are_told_by_their_names() -> None:
    names = ["a/wide/part_0", "a/wide/part_1", "a/wide/part_1/Momentum", "part_2", "a/party_1", "b"]
    found = parts_by_whole([Variable(name, "") for name in names], range(len(names)))
    assert found == {"a/wide": [0, 1], "a/wide/Momentum": [2]}
    assert not parts_by_whole([Variable("a/part_0", "")], [])
