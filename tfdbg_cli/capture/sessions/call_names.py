"""What a call fetches and feeds, by name: the leaves of whatever nesting the program used."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import tensorflow as tf

from tfdbg_cli.capture.sessions.invocation import Invocation
from tfdbg_cli.capture.tf.memo import Memo
from tfdbg_cli.capture.tf.types import Feeds, Fetches, Op, SymbolicTensor, TfGraph
from tfdbg_cli.model.calls import Call, RunKind
from tfdbg_cli.model.names import name_of_part
from tfdbg_cli.process.interruptions import our_errors

_MONITORED = "caller"  # where a monitored session puts what the program fetches, beside what its hooks do


@dataclass(frozen=True, slots=True)
class Fetched:
    """What a call fetches, and which ops it runs.

    `names` has for each of `tensors` what the program calls it by the keys of its dicts and the fields of its named
    tuples, none without any. `unknown` are types of fetches that only TensorFlow can resolve.
    """

    tensors: tuple[SymbolicTensor, ...] = ()
    targets: tuple[Op, ...] = ()
    unknown: tuple[str, ...] = ()
    names: tuple[tuple[str, ...], ...] = ()

    @property
    def results(self) -> list[tuple[str, str]]:
        """The name of each tensor beside each that the program has for it, which is empty where it has none."""
        pairs = zip(self.tensors, self.names, strict=True)
        return [(tensor.name, called) for tensor, names in pairs for called in names or ("",)]

    @property
    def ops(self) -> list[Op]:
        """The ops that give the tensors, and those that are run."""
        return [*(tensor.op for tensor in self.tensors), *self.targets]


def fetched(graph: TfGraph, fetches: Fetches) -> Fetched:
    """The tensors and operations in `fetches`, each once, in the order of the program."""
    tensors: dict[str, SymbolicTensor] = {}
    targets: dict[str, Op] = {}
    unknown: list[str] = []
    names: dict[str, dict[str, None]] = {}
    for name, leaf in _leaves(fetches, ""):
        try:
            element = graph.as_graph_element(leaf, allow_tensor=True, allow_operation=True)
        except (TypeError, ValueError, KeyError):
            unknown.append(type(leaf).__name__)
            continue
        (targets if isinstance(element, tf.Operation) else tensors)[element.name] = element
        names.setdefault(element.name, {}).update({name: None} if name else {})
    called = tuple(tuple(names[name]) for name in tensors)
    return Fetched(tuple(tensors.values()), tuple(targets.values()), tuple(unknown), called)


def elements_of(invocation: Invocation) -> Fetched:
    """What `invocation` fetches and runs; found out once for it, since it is asked several times in each run."""
    return _ELEMENTS.of(invocation)


def fed_to(invocation: Invocation) -> Mapping[str, Any]:
    """What `invocation` is fed, by name; found out once for it."""
    return _FED.of(invocation)


def _leaves(fetches: Fetches, name: str) -> Iterator[tuple[str, object]]:
    """Each leaf of `fetches`, which the program calls `name`, behind its own name."""
    if isinstance(fetches, Mapping):
        # By hand, since tf.nest wants keys that can be sorted, and a monitored session uses its hooks for keys.
        for key, value in fetches.items():
            is_name = isinstance(key, str) and not (key == _MONITORED and not name)
            yield from _leaves(value, name_of_part(name, key) if is_name else name)
    elif isinstance(fetches, list | tuple):
        for key, value in zip(_keys_of(fetches), fetches, strict=True):
            told = bool(name) or isinstance(key, str)  # a place in a list says less than the name of the node
            yield from _leaves(value, name_of_part(name, key) if told else "")
    elif fetches is not None:
        yield from ((name, leaf) for leaf in tf.nest.flatten(fetches, expand_composites=True))


def _keys_of(fetches: Sequence[object]) -> Sequence[str | int]:
    """The names of the fields of a named tuple, places in another sequence."""
    fields = getattr(fetches, "__match_args__", ()) if isinstance(fetches, tuple) else ()
    return fields if fields and len(fields) == len(fetches) else range(len(fetches))


def is_empty(fetches: Fetches) -> bool:
    """Whether nothing is fetched, in however many brackets."""
    if isinstance(fetches, Mapping):
        return all(map(is_empty, fetches.values()))
    return isinstance(fetches, list | tuple) and all(map(is_empty, fetches))


def fed(feeds: Feeds) -> dict[str, Any]:
    """The values in `feeds` by the name of the tensor that each replaces."""
    named: dict[str, Any] = {}
    for key, value in feeds.items():
        named.update(_pairs(key, value))
    return named


def _pairs(key: Any, value: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(key, tf.SparseTensor | tf.compat.v1.SparseTensorValue):
        parts = value if isinstance(value, tuple) else tf.compat.v1.SparseTensorValue(*value)
        for part, name in zip(parts, ("indices", "values", "dense_shape"), strict=True):
            yield from _pairs(getattr(key, name), part)
    elif isinstance(key, tf.RaggedTensor):
        parts = zip(
            (*key.nested_row_splits, key.flat_values), (*value.nested_row_splits, value.flat_values), strict=True
        )
        for part, one_value in parts:
            yield from _pairs(part, one_value)
    elif isinstance(key, tf.IndexedSlices):
        names = ("values", "indices", "dense_shape") if key.dense_shape is not None else ("values", "indices")
        for part, name in zip(value, names, strict=False):
            yield from _pairs(getattr(key, name), part)
    elif isinstance(key, tuple):
        for one_key, one_value in zip(key, value, strict=False):
            yield from _pairs(one_key, one_value)
    else:
        yield _tensor_name(key), value


def _tensor_name(key: Any) -> str:
    if isinstance(key, tf.Variable):  # of one behind a handle TensorFlow feeds the value that it reads first
        return str(key.graph.as_graph_element(key, allow_operation=False).name)
    text = key if isinstance(key, str) else str(getattr(key, "name", key))
    return text if ":" in text else f"{text}:0"


_ELEMENTS: Memo[Fetched] = Memo(lambda invocation: fetched(invocation.session.graph, invocation.fetches))
_FED: Memo[Mapping[str, Any]] = Memo(lambda invocation: fed(invocation.feeds))


def looks_at(invocation: Invocation) -> Hashable:
    """As `Call.looks_at`: the session, what is fetched and what is fed of its graph."""
    elements = elements_of(invocation)
    names = tuple(element.name for element in (*elements.tensors, *elements.targets))
    return None if elements.unknown else (id(invocation.session), names, frozenset(fed_to(invocation)))


def call_of(invocation: Invocation, number: int, thread: str) -> Call:
    """The description of `invocation` for the screen."""
    elements = elements_of(invocation)
    results = elements.results
    notes = tuple(f"A fetch of type {name} is resolved by TensorFlow alone." for name in elements.unknown)
    return Call(
        number,
        RunKind(invocation.kind),
        tuple(tensor for tensor, _ in results),
        fed(invocation.feeds),
        tuple(target.name for target in elements.targets),
        thread,
        notes,
        fetches_text=_text(invocation.arguments[0]),
        feed_keys_text=_text(feeds.keys() if (feeds := invocation.arguments[1]) else feeds),
        looks_at=looks_at(invocation),
        result_names=tuple(called for _, called in results) if any(elements.names) else (),
    )


def _text(of_program: object) -> str:
    """What Python shows of the program's own object; empty where that fails."""
    try:
        return repr(of_program)
    except our_errors():
        return ""
