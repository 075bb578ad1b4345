"""NaN that comes out of a checkpoint."""

from __future__ import annotations

import numpy as np
from support.made_run import NAN, made_run, op

from tfdbg_cli.analysis.origin.search import OriginSearch


def test_what_was_restored_is_not_computed() -> None:
    made = made_run(
        op("prefix", "Placeholder"), op("names", "Placeholder"),
        op("restored", "RestoreV2", "prefix", "names", value=np.array([1.0, NAN], np.float32)),
    )  # fmt: skip
    origin = OriginSearch(made).first()
    assert origin is not None and origin.cause is not None
    assert origin.cause.text == "Already in the checkpoint that it was restored from."
    assert "tfdbg open CHECKPOINT" in origin.cause.suggestion


def test_the_checkpoint_and_the_key_are_named_where_they_are_known() -> None:
    """A blind test: of a checkpoint with a bad entry the origin named neither the variable nor its key."""
    made = made_run(
        op("prefix", "Placeholder"), op("names", "Placeholder"),
        op("restored", "RestoreV2", "prefix", "names", value=np.array([1.0, NAN], np.float32)),
        feeds={"prefix:0": b"./model", "names:0": np.array([b"w/key", b"v/key"], object)},
    )  # fmt: skip
    origin = OriginSearch(made).first()
    assert origin is not None and origin.cause is not None
    assert origin.cause.text == ("Already in the checkpoint ./model that it was restored from, under the key w/key.")
    assert origin.cause.key == "Already in the checkpoint that it was restored from.", "one cause to a user"
