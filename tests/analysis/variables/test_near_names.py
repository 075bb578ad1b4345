"""Variables that look as if they had been made twice."""

from __future__ import annotations

from collections.abc import Iterable

from tfdbg_cli.analysis.variables.near_names import near_names


def _near(names: str, idle: Iterable[str] = (), left_out: Iterable[str] = ()) -> list[tuple[str, str]]:
    """Those among `names`, all of one shape unless it stands behind the name."""
    kinds = {name: shape for name, _, shape in (text.partition("=") for text in names.split())}
    return [tuple(pair) for pair in near_names(kinds, left_out, set(idle).__contains__)]  # type: ignore[misc]


def test_a_number_behind_a_name_of_the_same_shape() -> None:
    assert _near("char_embeddings char_embeddings_2") == [("char_embeddings_2", "char_embeddings")]
    assert _near("a/kernel=[3] a/kernel_1=[4] b/kernel_1=[3]") == []


def test_numbers_of_layers_mean_nothing() -> None:
    assert _near("dense/kernel dense_1/kernel dense_2/kernel") == []
    assert _near("net/dense/kernel net/dense_1/kernel") == []


def test_a_layer_that_nothing_reads_beside_one_that_is_read() -> None:
    assert _near("dense/kernel dense_1/kernel", idle=["dense_1/kernel"]) == [("dense_1/kernel", "dense/kernel")]
    assert _near("dense/kernel dense_1/kernel", idle=["dense/kernel", "dense_1/kernel"]) == []


def test_a_whole_model_that_was_built_twice() -> None:
    twice = "net/dense/kernel net/dense/bias net_1/dense/kernel net_1/dense/bias"
    assert _near(twice) == [("net_1/dense/kernel", "net/dense/kernel"), ("net_1/dense/bias", "net/dense/bias")]
    assert _near(f"{twice} net_2/dense/kernel net_2/dense/bias") == [], "a series of blocks"
    assert _near(f"{twice} net_1/dense_1/kernel") == [], "another model"


def test_a_scope_that_was_entered_again() -> None:
    assert _near("fc/w fc/b fc_1/w fc_1/b") == [("fc_1/w", "fc/w"), ("fc_1/b", "fc/b")]
    assert _near("fc/w=[2] fc_1/w=[3]") == [] and _near("fc/w fc_1/w fc_2/w") == []
    assert _near("fc/kernel fc/bias fc_1/kernel fc_1/bias") == [], "two layers of Keras"


def test_slots_and_variables_without_names_are_left_out() -> None:
    assert _near("w/Adam w/Adam_1", left_out=["w/Adam", "w/Adam_1"]) == []
    assert _near("Variable Variable_1") == []
