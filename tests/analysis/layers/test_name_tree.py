"""Names of nodes as a tree: levels are found in the sorted names, whatever stands between them."""

from __future__ import annotations

from support.work import CountedList

from tfdbg_cli.analysis.layers.name_tree import Branch, NameTree

NAMES = ["a/b/c", "a/b", "a.x", "a-x/y", "a_1", "a/d_10", "a/d_9", "top"]


def tree() -> NameTree:
    return NameTree(NAMES, lambda name: [NAMES.index(name)] if name in NAMES and name != "top" else [])


def test_levels_hold_nodes_scopes_and_what_is_both() -> None:
    assert [branch.name for branch in tree().children("")] == ["a", "a-x", "a.x", "a_1", "top"]
    assert list(tree().children("a")) == [
        Branch("a/b", True, True),
        Branch("a/d_9", True, False),
        Branch("a/d_10", True, False),
    ]
    assert tree().children("a/b/c") == ()


def test_counts_are_of_all_that_is_inside() -> None:
    assert tree().nodes("") == 8
    assert tree().nodes("a") == 4
    assert tree().nodes("a/b") == 2  # itself and c
    assert tree().tensors("a/b") == 2 and tree().indices("a/b") == [1, 0]
    assert tree().tensors("") == 7
    assert "a" in tree() and "top" not in tree() and "b" not in tree()


def test_a_level_of_very_many_names_looks_at_its_own_alone() -> None:
    names = [f"model/layer_{i % 97}/block_{i % 1013}/op_{i}" for i in range(100_000)]
    found = NameTree(names, lambda name: ())
    found._names = looked = CountedList(found._names)  # type: ignore[assignment]
    assert len(found.children("model")) == 97
    assert found.nodes("model/layer_3") == 1031
    assert looked.looked_at < 97 * 2 * 18 + 100, "each row of the level is found by halving"
