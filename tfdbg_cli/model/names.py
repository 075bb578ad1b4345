"""Names of tensors and devices, and the slices a user may write behind those of tensors."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from itertools import chain, count
from types import EllipsisType
from typing import NamedTuple

from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.model.whole_numbers import whole_number

Axis = int | slice | EllipsisType | list[int] | list[bool] | None
Index = tuple[Axis, ...]

_SLOT = re.compile(r":0\Z")  # that TensorFlow puts behind the name of each variable
_NUMBER = re.compile(r"_\d+$")
_SLICED = re.compile(r"^(?P<name>[^\[\]]+?)(?P<slice>\[.*\])?$", re.DOTALL)


class TensorName(NamedTuple):
    """One output of one node: `node:slot`, as `tf.Tensor.name` writes it."""

    node: str
    slot: int

    def __str__(self) -> str:
        return f"{self.node}:{self.slot}"


def parse_tensor_name(text: str) -> TensorName | None:
    """Read `node:slot` or `node:slot:DebugOp`; None when `text` carries no slot (a node name)."""
    parts = text.split(":")
    slot = whole_number(parts[1]) if len(parts) in (2, 3) and parts[0] else None
    return None if slot is None else TensorName(parts[0], slot)


def tensor_name_of(text: str) -> TensorName:
    """`text` as a tensor name, a node name meaning its output 0."""
    return parse_tensor_name(text) or TensorName(text, 0)


def node_of(text: str) -> str:
    """The node in a node name, a tensor name or a control input (`^node`)."""
    return text.removeprefix("^").split(":", 1)[0]


def node_of_variable(name: str) -> str:
    """The name of a variable, such as `dense/kernel:0` or a path of Keras, as that of a node.

    Behind the colon of a tensor name stands a slot: one that the program wrote into the name becomes a dot.
    """
    return _SLOT.sub("", name).replace(":", ".")


def free_name(wanted: str, is_taken: Callable[[str], bool], *, beyond: int = 0) -> str:
    """`wanted`, or where that is taken `wanted_1`, `wanted_2` and so on: the first that is not.

    Of these the first `beyond` are known to be taken.
    """
    numbered = (f"{wanted}_{number}" for number in count(max(beyond, 1)))
    return next(name for name in chain([] if beyond else [wanted], numbered) if not is_taken(name))


def without_number(name: str) -> str:
    """`name` without the number that TensorFlow puts behind a name that is taken: `a` for `a_1`, and for `a`."""
    return _NUMBER.sub("", name)


def split_slice(text: str) -> tuple[str, str]:
    """Split `name[slice]` into `name` and `[slice]` (empty without one).

    Raises:
        TfdbgError: the brackets do not close.

    """
    match = _SLICED.match(text.strip())
    if match is None:
        raise TfdbgError(
            f"Cannot read {text!r} as a tensor name.",
            hint="Write node:slot, or node:slot[slice] such as dense/MatMul:0[0, -1, ...].",
        )
    return match["name"], match["slice"] or ""


def parse_index(text: str) -> Index:
    """Read a NumPy index such as `[0, -3:, ..., None]` or `[[0, 2], 1]`; an empty text means everything.

    Raises:
        TfdbgError: not integers, slices, `...`, `None`, `newaxis`, or lists of integers or of True and False.

    """
    inner = text.strip()
    if inner.startswith("[") and inner.endswith("]"):
        inner = inner[1:-1]
    if not inner.strip():
        return ()
    return tuple(_parse_axis(part.strip(), text) for part in re.split(r",(?![^\[]*\])", inner))


def _parse_axis(part: str, whole: str) -> Axis:
    if part == "...":
        return Ellipsis
    if part in {"None", "newaxis", "np.newaxis"}:
        return None
    try:
        if part.startswith("[") and part.endswith("]"):
            return _parse_list(part[1:-1])
        if ":" in part:
            bounds = [int(bound) if bound.strip() else None for bound in part.split(":")]
            if len(bounds) > 3:
                raise ValueError(part)
            return slice(*bounds)
        return int(part)
    except ValueError:
        raise TfdbgError(
            f"Cannot read the slice {whole!r}.",
            hint="Use integers, start:stop:step, ..., lists and negative indices, such as [0, -3:, [0, 2]]; `eval` "
            "takes conditions, too.",
        ) from None


def _parse_list(inner: str) -> list[int] | list[bool]:
    """Raises ValueError for what is neither a list of integers nor one of True and False."""
    words = [word.strip() for word in inner.split(",")] if inner.strip() else []
    if words and all(word in {"True", "False"} for word in words):
        return [word == "True" for word in words]
    return [int(word) for word in words]


def short_device(device: str) -> str:
    """`CPU:0` for /job:localhost/replica:0/task:0/device:CPU:0; with the task where it is another job's."""
    match = re.fullmatch(r"/job:localhost/replica:0/task:0/(?:device:)?(.+)", device)
    return match[1] if match else device


def device_matches(device: str, text: str) -> bool:
    """Whether `text` (CPU:1, cpu:1, /device:CPU:1 or the whole name) means `device`."""
    whole, part = (re.sub(r"device:", "", name.lower()).strip("/") for name in (device, text))
    return whole == part or whole.endswith("/" + part)


def nearest(name: str, known: Iterable[str], most: int = 3) -> list[str]:
    """The names most like `name`, best first: those that contain it, then those spelled alike or ending so."""
    names = list(dict.fromkeys(known))
    lowered = name.lower()
    holding = sorted((n for n in names if lowered in n.lower()), key=lambda n: (len(n), n))[:most]
    if len(holding) >= most or (holding and len(names) > 20_000):
        return holding
    from tfdbg_cli.model.alike_names import spelled_alike

    return (holding + [n for n in spelled_alike(name, names, most) if n not in holding])[:most]


def name_of_part(whole: str, key: object) -> str:
    """What a program calls the part at `key` of a value that it calls `whole`: `logs.loss`, `logs['a b']`, `logs[1]`.

    `whole` is empty for the value that a call gave.
    """
    if isinstance(key, str) and key.isidentifier():
        return f"{whole}.{key}" if whole else key
    return f"{whole}[{key!r}]"


def did_you_mean(name: str, *known: Iterable[str]) -> str:
    """A hint that names the nearest of each of `known`, three at most, or an empty text."""
    near = list(dict.fromkeys(chain.from_iterable(nearest(name, names) for names in known)))[:3]
    return f"Did you mean {' or '.join(near)}?" if near else ""
