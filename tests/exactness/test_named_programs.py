"""Programs whose numbers debugging once changed: plain, captured and watched they give the same ones."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from exactness.courses import Build
from exactness.programs import small
from exactness.verdict import STEPS, THREE, Way, assert_exact

pytestmark = pytest.mark.tf

_FEW = 6


def _two_dense() -> Build:
    import keras

    from exactness.programs.fitting import two_dense

    return two_dense(lambda: keras.optimizers.SGD(0.1, momentum=0.9, nesterov=True, global_clipnorm=0.5))


def _gpt() -> Build:
    from exactness.programs.gpt import gpt

    return gpt(1e-3)


def _quick_gpt() -> Build:
    from exactness.programs.gpt import gpt

    return gpt(3e-2)


def _unet() -> Build:
    from exactness.programs.unet import unet

    return unet


_PROGRAMS: dict[str, Callable[[], Build]] = {
    "fit of two Dense layers": _two_dense,
    "GPT": _gpt,
    "GPT with a high rate": _quick_gpt,
    "UNet with its own step": _unet,
    "scalar sum": lambda: small.scalar_sum,
    "Dense and GELU": lambda: small.dense_gelu,
    "forward over reverse": lambda: small.forward_over_reverse,
    "update skipped": lambda: small.skipped_update,
    "fed scale": lambda: small.fed_scale,
}
_SMALL = ("fit of two Dense layers", "scalar sum", "Dense and GELU", "forward over reverse", "update skipped")


@pytest.mark.slow
@pytest.mark.parametrize("way", THREE)
@pytest.mark.parametrize("name", _PROGRAMS)
def test_long_course(name: str, way: Way) -> None:
    assert_exact(_PROGRAMS[name](), 45 if name == "GPT with a high rate" else STEPS, [way])


@pytest.mark.parametrize("name", _SMALL)
def test_short_course(name: str) -> None:
    assert_exact(_PROGRAMS[name](), _FEW)
