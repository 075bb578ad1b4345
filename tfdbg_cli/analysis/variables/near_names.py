"""Variables whose names differ by a number alone: where one is made twice, TensorFlow renames it without a word."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple, TypeVar

from tfdbg_cli.model.names import without_number

Kind = TypeVar("Kind")
# What layers of Keras call their variables: `dense/kernel` and `dense_1/kernel` are two layers.
_OF_LAYERS = frozenset({
    "kernel", "bias", "gamma", "beta", "moving_mean", "moving_variance", "embeddings", "alpha", "recurrent_kernel",
    "depthwise_kernel", "pointwise_kernel", "mean", "variance", "count", "seed_generator_state",
})  # fmt: skip
_UNNAMED = frozenset({"Variable"})  # what TensorFlow calls a variable that was given no name


class NearNames(NamedTuple):
    """The variable called `other` beside the one called `name`, of the same dtype and shape."""

    name: str
    other: str


def near_names(
    variables: Mapping[str, Kind], left_out: Iterable[str] = (), is_idle: Callable[[str], bool] = lambda name: False
) -> Sequence[NearNames]:
    """The variables that look as if they had been made twice.

    `variables` are the variables by name, each with its dtype and shape; slots of optimizers are to be `left_out`.
    A number behind the last part of a name says so (`dense/kernel_1`), and so does one behind its first part where
    all that is in that scope stands in the other one, too, in scopes of its own (`model_1/dense/kernel`) or called as
    no layer of Keras calls its variables (`fc_1/w`), and there is no third one. Elsewhere numbers are what layers of
    one kind have (`dense_1/kernel`): there it takes that one
    of the two `is_idle` and the other is not.
    """
    without = frozenset(left_out)
    names = [name for name in variables if name not in without]
    known = frozenset(names)
    found: list[NearNames] = []
    twins: dict[str, bool] = {}  # by outermost scope
    for name in names:
        parts = name.split("/")
        for at in reversed(range(len(parts))):
            other = _without_number(parts, at)
            if other is None or other not in known or variables[other] != variables[name]:
                continue
            is_last = at == len(parts) - 1
            if (is_last and parts[at].partition("_")[0] not in _UNNAMED) or is_idle(name) is not is_idle(other):
                found.append(NearNames(name, other))
            elif at == 0:
                if parts[0] not in twins:
                    twins[parts[0]] = _is_whole_twin(parts[0], known, variables)
                found += [NearNames(name, other)] if twins[parts[0]] else []
            break
    return found


def _without_number(parts: Sequence[str], at: int) -> str | None:
    """The name with no number behind the part `at`; None where there is none."""
    stem = without_number(parts[at])
    return None if stem in ("", parts[at]) else "/".join((*parts[:at], stem, *parts[at + 1 :]))


def _is_whole_twin(scope: str, names: Iterable[str], variables: Mapping[str, Kind]) -> bool:
    """Whether the outermost `scope` holds scopes, and the one without the number the same; and there is no third."""
    first = without_number(scope)
    tops = {name.split("/")[0] for name in names}
    if sum(first in (top, without_number(top)) for top in tops) != 2:
        return False
    inside = {name.partition("/")[2]: variables[name] for name in names if name.split("/")[0] == scope}
    other = {name.partition("/")[2]: variables[name] for name in names if name.split("/")[0] == first}
    return (
        all(inside)
        and inside == other
        and (all("/" in name for name in inside) or _OF_LAYERS.isdisjoint(name.rpartition("/")[2] for name in inside))
    )
