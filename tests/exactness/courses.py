"""A program's course: everything that it recorded in so many steps, and the values behind them, to the last bit."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np

Recorded: TypeAlias = dict[str, Any]  # what was recorded, by a name, as arrays

SEED = 7
_OPTIMIZERS = ("keras.src.optimizers", "tf_keras.src.optimizers", "tf_keras.src.mixed_precision")  # modules
# Counted by TensorFlow, addresses, and lines of calls: of them one tells which course of the program it is.
_COUNTED = re.compile(r"_\d+\b|0x[0-9a-f]+|(?<=, line )\d+")


@dataclass(frozen=True)
class Program:
    """A program in a fresh state: `results` gives those of so many steps, `state` its variables by name.

    `planted`, where there is one, gives the same program, variables and functions, with other data.
    """

    results: Callable[[int], Iterator[Any]]
    state: Callable[[], Mapping[str, Any]] = field(default=dict)
    planted: Callable[[Plant], Program] | None = None


@dataclass(frozen=True)
class Plant:
    """The step, counted from 0, in whose data something is planted that is not finite; None for no step."""

    step: int | None = None

    def __call__(self, step: int) -> bool:
        return self.step == step


NOTHING = Plant()

Build: TypeAlias = Callable[[Plant], Program]


@dataclass(frozen=True)
class Course:
    """What a program recorded in each step, and its state at the end; the exception that ended it, if one did."""

    steps: Sequence[Recorded]
    state: Recorded
    error: tuple[str, str] | None = None

    @property
    def finite(self) -> bool:
        """Whether the last step and the state have no NaN and no infinity."""
        return all(_finite(array) for array in (*self.steps[-1].values(), *self.state.values()))


def stepwise(step: Callable[[int], Any]) -> Callable[[int], Iterator[Any]]:
    """The results of a program that consists of calls of `step`, which is told the number of the step."""
    return lambda steps: (step(at) for at in range(steps))


Courses: TypeAlias = Callable[[int, Plant], Course]  # lets a program take so many steps from its beginning


def course_of(build: Build, steps: int, plant: Plant = NOTHING) -> Course:
    """Build the program with the same seeds as ever, and let it take `steps` steps."""
    seed_all()
    return _taken(build(plant), steps)


def rewound(build: Build, plant: Plant) -> Courses:
    """Courses of one program, whose variables are put back before each: much faster, since it is traced once.

    Its whole state must be in its variables. Something is planted where `plant` says, always, unless the program can
    be given other data.
    """
    seed_all()
    program = build(plant)
    beginning = {name: as_array(variable) for name, variable in program.state().items()}

    def course(steps: int, asked: Plant) -> Course:
        for name, variable in program.state().items():
            variable.assign(beginning[name])
        if asked == plant:
            return _taken(program, steps)
        assert program.planted is not None, "this program is built with its data"
        return _taken(program.planted(asked), steps)

    return course


def _taken(program: Program, steps: int) -> Course:
    taken: list[Recorded] = []
    error = None
    try:
        for result in program.results(steps):
            taken.append(_recorded(result))
    except Exception as raised:  # noqa: BLE001  # whatever it is, it is compared
        error = (type(raised).__name__, _COUNTED.sub("_N", str(raised)))
    return Course(taken, {name: as_array(value) for name, value in program.state().items()}, error)


def seed_all() -> None:
    """Make Python, NumPy, TensorFlow and Keras begin anew."""
    import keras
    import tensorflow as tf

    keras.utils.clear_session(free_memory=False)  # freeing it, here and now, takes half a second
    keras.utils.set_random_seed(SEED)
    if "tf_keras" in sys.modules:  # has numbers of its own once a program seeded it, and else takes Python's
        vars(sys.modules["tf_keras.src.backend"]._SEED_GENERATOR).pop("generator", None)
    tf.random.set_seed(SEED)
    tf.random.set_global_generator(tf.random.Generator.from_seed(SEED))


def variables(*owners: Any) -> dict[str, Any]:
    """The variables of models, optimizers and lists of variables, by names that tell them apart."""
    found: dict[str, Any] = {}
    for owner in owners:
        listed = owner.variables if hasattr(owner, "variables") else owner
        listed = list(listed() if callable(listed) else listed)
        for variable in (*listed, *_unlisted(owner, listed)):
            name = getattr(variable, "path", None) or variable.name
            found[name if name not in found else f"{name} #{len(found)}"] = variable
    return found


def _unlisted(owner: Any, listed: Sequence[Any]) -> Iterator[Any]:
    """Variables of an optimizer that it does not list: the scale of losses in tf_keras, a product of Nadam."""
    import keras
    import tensorflow as tf

    if not type(owner).__module__.startswith(_OPTIMIZERS):
        return
    for held in vars(owner).values():
        if isinstance(held, (tf.Variable, keras.Variable)) and not any(held is one for one in listed):
            yield held
        elif held is not owner:
            yield from _unlisted(held, listed)


def as_array(value: Any) -> Any:
    """A copy of `value`, a tensor, a variable of any Keras, an array or a number."""
    value = getattr(value, "value", value)
    value = value() if callable(value) else value
    return np.array(value.numpy() if hasattr(value, "numpy") else value)


def _recorded(nest: Any) -> Recorded:
    import tensorflow as tf

    leaves = tf.nest.flatten(nest, expand_composites=True)
    paths = _paths(nest)
    names = paths if len(paths) == len(leaves) else [str(at) for at in range(len(leaves))]
    return {name: as_array(leaf) for name, leaf in zip(names, leaves, strict=True) if leaf is not None}


def _paths(nest: Any, before: str = "") -> list[str]:
    if isinstance(nest, Mapping):
        return [path for key in sorted(nest) for path in _paths(nest[key], f"{before}/{key}".lstrip("/"))]
    if isinstance(nest, (list, tuple)):
        return [path for at, inner in enumerate(nest) for path in _paths(inner, f"{before}/{at}".lstrip("/"))]
    return [before or "result"]


def _finite(array: Any) -> bool:
    if array.dtype.kind in "OUSbiu":
        return True
    return bool(np.isfinite(array.astype(np.complex128)).all())
