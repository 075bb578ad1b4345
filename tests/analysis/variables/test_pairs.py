"""Which variable of one place is which of another one."""

from __future__ import annotations

from tfdbg_cli.analysis.variables.listing import Variable
from tfdbg_cli.analysis.variables.pairs import fits, paired


def _variables(*names: str, key: str = "") -> list[Variable]:
    return [Variable(name, "", "float32", (2,), key=key) for name in names]


def test_one_name_is_a_pair_and_others_are_alone() -> None:
    found = paired(_variables("a", "b"), _variables("b", "c"))
    assert (found.pairs, found.only_first, found.only_second) == (((1, 0),), (0,), (1,))


def test_what_the_program_calls_them_counts_next() -> None:
    saved = [Variable("layer-0/kernel", "", "float32", (2,), key="k", full_name="dense/kernel")]
    assert paired(saved, _variables("dense/kernel")).pairs == ((0, 0),)


def test_a_way_may_be_longer_than_another_one_but_names_are_not_cut() -> None:
    assert paired(_variables("w"), _variables("model/w", key="k")).pairs == ((0, 0),)
    assert paired(_variables("model/w", key="k"), _variables("w")).pairs == ((0, 0),)
    assert not paired(_variables("w"), _variables("model/w")).pairs
    assert not paired(_variables("w"), _variables("a/w", "b/w", key="k")).pairs


def test_shapes_fit_as_far_as_they_are_known() -> None:
    assert fits((2, None), (2, 3)) and fits(None, (1,)) and not fits((2,), (2, 1)) and not fits((2,), (3,))
