"""What a trace of a tf.function was made for, argument by argument, as texts that keep no object alive."""

from __future__ import annotations

import enum
import inspect
import itertools
import re
import weakref
from collections.abc import Callable, Mapping
from operator import itemgetter
from typing import Any

import tensorflow as tf

from tfdbg_cli.capture.tf import compat
from tfdbg_cli.capture.tf.types import AtomicFunction
from tfdbg_cli.model.traces import ArgumentSpec, Signature, SpecKind

_LONGEST = 60
_ADDRESS = re.compile(r"0x[0-9a-f]{4,}")
_PLAIN = (str, bytes, bool, type(None))
_NUMBERS = (int, float, complex)


class Objects:
    """Gives every object a number that no other one has, also once it is gone and another one has its address."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[weakref.ref[Any], int]] = {}
        self._numbers = itertools.count(1)

    def number(self, item: Any) -> int:
        """The number of `item`, which takes weak references."""
        known = self._known.get(id(item))
        if known is not None and known[0]() is item:
            return known[1]
        address, number = id(item), next(self._numbers)
        self._known[address] = weakref.ref(item, lambda _: self._forget(address, number)), number
        return number

    def _forget(self, address: int, number: int) -> None:
        known = self._known.get(address)
        if known is not None and known[1] == number:
            self._known.pop(address, None)


def signature_of(atomic: AtomicFunction, python: Callable[..., Any], objects: Objects) -> Signature:
    """The arguments that `atomic`, a trace of `python`, was made for, by the names that the program knows."""
    given = atomic.function_type.parameters
    rest = _name_of_the_rest(python)
    return tuple((_own_name(name, rest), spec_of(one.type_constraint, objects)) for name, one in given.items())


def _name_of_the_rest(python: Callable[..., Any]) -> str:
    """`args`, of a function that takes `*args`; empty of another one."""
    try:
        parameters = inspect.signature(python).parameters.values()
    except (TypeError, ValueError):
        return ""
    return next((one.name for one in parameters if one.kind is inspect.Parameter.VAR_POSITIONAL), "")


def _own_name(name: str, rest: str) -> str:
    """`args[2]` for what TensorFlow calls `args_2`."""
    number = name.removeprefix(f"{rest}_") if rest else ""
    return f"{rest}[{number}]" if number.isdecimal() and name != number else name


def spec_of(kind: Any, objects: Objects) -> ArgumentSpec:
    """What the TraceType `kind` of an argument says of it."""
    if isinstance(kind, tf.TensorSpec):
        return _tensor(kind)
    if isinstance(kind, tf.SparseTensorSpec | tf.RaggedTensorSpec):
        word = "sparse" if isinstance(kind, tf.SparseTensorSpec) else "ragged"
        return ArgumentSpec(SpecKind.OTHER, f"{word} {_tensor(kind).text}")
    match type(kind).__name__:
        case "Literal":
            return _literal(kind.value)
        case "Weakref":
            return _object(kind.placeholder_value(None), objects)
        case "List":
            return _indexed("list", kind.components_tuple.components, objects)
        case "Tuple":
            return _indexed("tuple", kind.components, objects)
        case "NamedTuple":
            return _named(kind, objects)
        case "Attrs":
            return _named(kind.named_attributes, objects)
        case "Dict":
            return _keyed(kind.mapping, objects)
        case "VariableSpec":
            return ArgumentSpec(SpecKind.OTHER, f"variable {_tensor(kind).text}", kind.alias_id or 0)
        case "IteratorSpec" | "DistributedIteratorSpec":
            return _of_elements("iterator", kind, objects)
        case "DatasetSpec" | "DistributedDatasetSpec":
            return _of_elements("dataset", kind, objects)
        case "OptionalSpec":
            return _of_elements("Optional", kind, objects)
    if isinstance(kind, tf.TypeSpec):  # of a composite tensor: of a value on several replicas, an extension type
        return _indexed(kind.value_type.__name__, tuple(tf.nest.flatten(kind, expand_composites=True)), objects)
    return ArgumentSpec(SpecKind.OTHER, _short(_ADDRESS.sub("…", str(kind))))


def _of_elements(word: str, kind: Any, objects: Objects) -> ArgumentSpec:
    return ArgumentSpec(SpecKind.CONTAINER, word, parts=(("", _nest(compat.elements_in(kind), objects)),))


def _nest(nest: Any, objects: Objects) -> ArgumentSpec:
    """What a structure of specs says, such as that of the elements of a dataset."""
    if isinstance(nest, Mapping):
        return _keyed(nest, objects)
    if isinstance(nest, list | tuple):
        return _indexed("list" if isinstance(nest, list) else "tuple", tuple(nest), objects)
    return spec_of(nest, objects)


def _tensor(kind: Any) -> ArgumentSpec:
    dtype, lengths = kind.dtype.name, kind.shape
    if lengths is None or lengths.rank is None:
        return ArgumentSpec(SpecKind.TENSOR, f"{dtype} of any shape", dtype=dtype)
    shape = tuple(lengths.as_list())
    return ArgumentSpec(SpecKind.TENSOR, f"{dtype}[{', '.join(map(str, shape))}]", dtype=dtype, shape=shape)


def _literal(value: Any) -> ArgumentSpec:
    if type(value) in _PLAIN:
        return ArgumentSpec(SpecKind.CONSTANT, _short(repr(value)), hash(value))
    if type(value) in _NUMBERS:
        return ArgumentSpec(SpecKind.NUMBER, _short(repr(value)))
    if isinstance(value, enum.Enum):
        return _member(value, hash(value))
    return ArgumentSpec(SpecKind.CONSTANT, f"<{type(value).__name__}>", hash(value))


def _object(item: Any, objects: Objects) -> ArgumentSpec:
    if item is None:
        return ArgumentSpec(SpecKind.OBJECT, "<an object that is gone>")
    if isinstance(item, tf.DType):
        return ArgumentSpec(SpecKind.CONSTANT, f"tf.{item.name}")
    number = objects.number(item)
    if isinstance(item, enum.Enum):
        return _member(item, number)
    if isinstance(item, type):
        return ArgumentSpec(SpecKind.OBJECT, f"<class {item.__name__}>", number)
    if inspect.isroutine(item):
        return ArgumentSpec(SpecKind.OBJECT, f"<function {getattr(item, '__name__', '?')} at …>", number)
    return ArgumentSpec(SpecKind.OBJECT, f"<{type(item).__name__} at …>", number)


def _member(item: enum.Enum, identity: int) -> ArgumentSpec:
    # What the class says of itself is the program's: its names are read past that.
    name = item.__dict__.get("_name_")
    return ArgumentSpec(SpecKind.MEMBER, _short(f"{type(item).__name__}.{name or '?'}"), identity)


def _indexed(word: str, parts: tuple[Any, ...], objects: Objects) -> ArgumentSpec:
    inner = tuple((f"[{at}]", _nest(one, objects)) for at, one in enumerate(parts))
    return ArgumentSpec(SpecKind.CONTAINER, word, parts=inner)


def _named(kind: Any, objects: Objects) -> ArgumentSpec:
    parts = zip(kind.attribute_names, kind.attributes.components, strict=True)
    inner = tuple((f".{name}", spec_of(one, objects)) for name, one in parts)
    return ArgumentSpec(SpecKind.CONTAINER, str(kind.type_name), parts=inner)


def _keyed(mapping: Mapping[Any, Any], objects: Objects) -> ArgumentSpec:
    inner = ((f"[{_key(key)}]", _nest(one, objects)) for key, one in mapping.items())
    return ArgumentSpec(SpecKind.CONTAINER, "dict", parts=tuple(sorted(inner, key=itemgetter(0))))  # no order counts


def _key(key: Any) -> str:
    return _short(repr(key)) if type(key) in {str, int, float, bool} else f"<{type(key).__name__}>"


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
