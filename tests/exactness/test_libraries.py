"""Programs of libraries on top of TensorFlow, where they are installed: debugging changes none of their numbers."""

from __future__ import annotations

import pytest

from exactness.apart import assert_same, outcomes
from exactness.catalog import probability
from exactness.programs.backbones import BACKBONES

pytestmark = [pytest.mark.tf, pytest.mark.slow, pytest.mark.timeout(1800)]

_ONEDNN = pytest.mark.parametrize("onednn", [True, False], ids=["oneDNN", "without oneDNN"])
_NEEDS = {"GPflow": "gpflow", "TFP": "tensorflow_probability", "Sonnet": "sonnet"}


@_ONEDNN
@pytest.mark.parametrize("name", BACKBONES)
def test_backbone(name: str, onednn: bool) -> None:
    pytest.importorskip("keras_hub")
    assert_same(outcomes("backbones", f"^{name}$", onednn=onednn, limit=1700))


@_ONEDNN
@pytest.mark.parametrize("name", probability())
def test_probability(name: str, onednn: bool) -> None:
    pytest.importorskip(_NEEDS[name.split()[0]])
    assert_same(outcomes("probability", f"^{name}$", onednn=onednn, limit=1700))
