"""Every program of this folder by a group and a name, so that a process of its own can be asked for some of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TypeAlias

from exactness.courses import Build
from exactness.programs import small
from exactness.verdict import STEPS


@dataclass(frozen=True)
class Entry:
    """A program of the catalog. `make` imports what it needs; `steps` are those of a long course.

    `goes_on` says that what is planted leaves the numbers finite, None that this is not asked; `rewinds` that the
    whole state of the program is in its variables, so that it need be built but once, see `courses.rewound`; unless
    `plain_first` it is watched before it is called undebugged, so that TensorFlow compiles it but once.
    """

    make: Callable[[], Build]
    steps: int = STEPS
    goes_on: bool | None = True
    rewinds: bool = False
    plain_first: bool = True


Group: TypeAlias = Mapping[str, Entry]


def named() -> Group:
    """Programs whose numbers debugging once changed, and what is near them."""
    return {
        "fit of two Dense layers": Entry(_two_dense),
        "residual of the batch": Entry(_residual),
        "GPT": Entry(partial(_gpt, 1e-3)),
        "GPT with a high rate": Entry(partial(_gpt, 3e-2), 45),
        "GPT of known size": Entry(partial(_gpt, 3e-2, sized=True)),
        "UNet with its own step": Entry(_unet),
        "scalar sum": Entry(lambda: small.scalar_sum),
        "Dense and GELU": Entry(lambda: small.dense_gelu),
        "forward over reverse": Entry(lambda: small.forward_over_reverse, rewinds=True),
        "update skipped": Entry(lambda: small.skipped_update),
        "fed scale": Entry(lambda: small.fed_scale),
        "fused ReLU": Entry(lambda: small.fused_relu, goes_on=None),
    }


def optimizers() -> Group:
    """Every combination that the optimizers of Keras 3 and of tf_keras accept, in steps of the program's own."""
    from exactness.programs.optimizers import combinations

    found = {}
    for one in combinations():
        # A scale of the loss grows without end here, and is kept beside the variables that an optimizer lists.
        scaled = "loss scaling" in one.options
        build = partial(getattr, one, "build_stepwise")
        found[one.name] = Entry(build, goes_on=None if scaled else True, rewinds=not scaled)
    return found


def quick() -> Group:
    """The same combinations in six steps, each network traced once for all of them: a first pass over all."""
    from exactness.programs.optimizers import combinations

    found = {}
    for one in combinations():
        goes_on = None if "loss scaling" in one.options else True
        build = partial(getattr, one, "build_shared")
        found[one.name] = Entry(build, 6, goes_on, rewinds=True, plain_first=False)
    return found


def fits() -> Group:
    """The same combinations in `fit`, which takes three times as long."""
    from exactness.programs.optimizers import combinations

    return {one.name: Entry(partial(getattr, one, "build")) for one in combinations()}


def backbones() -> Group:
    """Networks of keras_hub."""
    from exactness.programs.backbones import BACKBONES, backbone

    return {name: Entry(partial(backbone, name)) for name in BACKBONES}


def probability() -> Group:
    """Programs of GPflow, TensorFlow Probability and Sonnet."""
    from exactness.programs.probability import PROGRAMS

    return {name: Entry(make) for name, make in PROGRAMS.items()}


def written() -> Group:
    """Training as people write it, in loops of their own and of Keras."""
    from exactness.programs import loops, trained

    return {name: Entry(make) for name, make in (*loops.PROGRAMS.items(), *trained.PROGRAMS.items())}


GROUPS: Mapping[str, Callable[[], Group]] = {
    "named": named,
    "optimizers": optimizers,
    "quick": quick,
    "fits": fits,
    "backbones": backbones,
    "probability": probability,
    "written": written,
}


def _residual() -> Build:
    from exactness.programs.fitting import residual

    return residual


def _two_dense() -> Build:
    import keras

    from exactness.programs.fitting import two_dense

    return two_dense(lambda: keras.optimizers.SGD(0.1, momentum=0.9, nesterov=True, global_clipnorm=0.5))


def _gpt(rate: float, *, sized: bool = False) -> Build:
    from exactness.programs.gpt import gpt

    return gpt(rate, sized=sized)


def _unet() -> Build:
    from exactness.programs.unet import unet

    return unet
