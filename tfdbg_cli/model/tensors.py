"""Tensors of a run: a light description first, the value only when somebody looks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from pathlib import Path
from typing import Any, Protocol, cast, runtime_checkable

from tfdbg_cli.model.names import TensorName
from tfdbg_cli.model.statistics import Summary, summarize, summarize_in_steps
from tfdbg_cli.model.values import Array, Lack, NoValue, Value

Shape = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Tensor:
    """One output of a node on one device, produced for the `execution`-th time (0-based) in a run.

    `shape` and `nbytes` are None when they cannot be known without the value (a damaged file).
    `nbytes` is the size of the values, not of the file they lie in. `time_us` counts microseconds from
    the epoch; None when the capture keeps no times (the store's order is then the order of execution). `device` and
    `op_type` are empty where nobody knows them.
    """

    name: TensorName
    device: str
    execution: int
    dtype: str
    shape: Shape | None
    nbytes: int | None
    time_us: int | None
    op_type: str

    @property
    def node(self) -> str:
        return self.name.node

    @property
    def slot(self) -> int:
        return self.name.slot


class TensorStore(Protocol):
    """The tensors of one run in the order of their execution, over all devices.

    Indexing must be cheap enough to call for every visible row; `value` may read from disk.
    """

    def __len__(self) -> int: ...

    def __getitem__(self, index: int) -> Tensor: ...

    def value(self, index: int) -> Value:
        """The array at `index`, or why there is none. Damage is a NoValue, never an exception."""
        ...

    def named(self, node: str, slot: int | None = None) -> Sequence[int]:
        """Indices of the tensors of `node` (only output `slot`), in order of execution."""
        ...

    def nodes(self) -> Sequence[str]:
        """Names of the nodes that have a tensor here, each once, in order of first execution."""
        ...


@runtime_checkable
class TellsDevices(Protocol):
    """A store that knows where a tensor was made without looking at it, as its row would."""

    def device(self, index: int) -> str:
        """The device of the tensor at `index`."""
        ...


@runtime_checkable
class TellsSummaries(Protocol):
    """A store that may know what a tensor holds in numbers, without its value: one of a recording, say."""

    def summary(self, index: int) -> Summary | None:
        """The numbers of the tensor at `index`, as they were recorded; None where they were not."""
        ...


@runtime_checkable
class TellsParts(Protocol):
    """A store that can read a part of a large value alone: one whose files lie far away, say."""

    def part(self, index: int, key: Any) -> Any:
        """What `value(index)[key]` gives, or why there is no value. Raises IndexError as that does."""
        ...


@runtime_checkable
class Releases(Protocol):
    """A store that maps files: what was looked at takes memory until it is given back."""

    def release(self) -> None:
        """Give the memory back; whoever looks again reads the file again."""
        ...


@runtime_checkable
class TellsOrder(Protocol):
    """A store that may sort its tensors without describing each, such as a recording of very many tensors."""

    def order(self, key: str, reverse: bool) -> Sequence[int] | None:
        """All indices by `key` (a name of `lt -s`), ties in order of execution; None if the caller has to sort."""
        ...


@dataclass(frozen=True, slots=True)
class FactColumn:
    """One attribute of all tensors of a store: that of tensor `i` is `values[which[i]]`.

    `values` may hold equal values more than once; `which` is a 1-D integer array with an entry for each tensor.
    """

    values: Sequence[Any]
    which: Array


@runtime_checkable
class TellsColumns(Protocol):
    """A store that may give an attribute of all its tensors at once, such as a recording of very many tensors."""

    def column(self, fact: str) -> FactColumn | None:
        """The attribute of `Tensor` called `fact`; None if each tensor has to be asked."""
        ...


@runtime_checkable
class TellsFinite(Protocol):
    """A store that can check very many tensors for NaN and infinities faster than by reading their values."""

    def finite(self, indices: Sequence[int]) -> Iterator[tuple[Sequence[int], float]]:
        """Yield, in steps, indices of tensors known to be all finite, with the share of `indices` done (0 to 1).

        Nothing is known of an index that is not among them: the caller has to read that value.
        """
        ...


@runtime_checkable
class TellsFiles(Protocol):
    """A store that is read from files: results computed from it may be cached as long as the files are unchanged."""

    def files(self) -> tuple[int, Sequence[Path]]:
        """The number of the run in them, and the files. Raises OSError where they cannot be listed."""
        ...


@runtime_checkable
class TellsValued(Protocol):
    """A store that knows which of its tensors have no value, such as a recording of statistics."""

    def valued(self) -> Sequence[int]:
        """The indices of the tensors that may have one."""
        ...


@runtime_checkable
class TellsRepeats(Protocol):
    """A store that knows whether its run produced some tensor more than once: in loops, or on several devices."""

    def repeats(self) -> bool:
        """Whether some `node:slot` stands in the store more than once."""
        ...


@runtime_checkable
class ReadsFiles(Protocol):
    """A store that reads some values from files, which may be deleted before it is."""

    def in_file(self, index: int) -> bool:
        """Whether the value at `index` is read from a file."""
        ...


def in_file(store: TensorStore, index: int) -> bool:
    """`store.in_file(index)` if the store has it (`ReadsFiles`), else False."""
    return _tells(type(store), ReadsFiles) and cast(ReadsFiles, store).in_file(index)


@runtime_checkable
class TellsMemory(Protocol):
    """A store that keeps some values in memory for its whole life, several of which may share one buffer."""

    def memory(self, index: int) -> int | None:
        """The address of the value at `index` if it is kept in memory, contiguous; None if it is not."""
        ...


def memory_of(store: TensorStore, index: int) -> int | None:
    """`store.memory(index)` if the store has it (`TellsMemory`), else None."""
    return cast(TellsMemory, store).memory(index) if _tells(type(store), TellsMemory) else None


def repeats(store: TensorStore) -> bool | None:
    """Whether a tensor stands in `store` more than once; None if that takes looking at the tensors of each node."""
    if _tells(type(store), TellsRepeats):
        return cast(TellsRepeats, store).repeats()
    return False if len(store.nodes()) == len(store) else None


def finite_in_steps(store: TensorStore, indices: Sequence[int]) -> Iterator[tuple[Sequence[int], float]]:
    """`store.finite(indices)` if the store has it (`TellsFinite`), else no steps."""
    if _tells(type(store), TellsFinite):
        yield from cast(TellsFinite, store).finite(indices)


def part_of(store: TensorStore, index: int, key: Any) -> Any:
    """`store.value(index)[key]`, or a NoValue; a store that can do so reads no more than that part.

    Raises:
        IndexError: there is no such part.

    """
    if _tells(type(store), TellsParts):
        return cast(TellsParts, store).part(index, key)
    value = store.value(index)
    return value if isinstance(value, NoValue) else value[key]


def summary_of(store: TensorStore, index: int) -> Summary | None:
    """What the tensor at `index` holds, in numbers: as recorded, else of its value; None where there is no array."""
    recorded = recorded_summary(store, index)
    if recorded is not None:
        return recorded
    value = store.value(index)
    return None if isinstance(value, NoValue) else summarize(value)


def summary_in_steps(store: TensorStore, index: int) -> Iterator[Summary | None]:
    """What `summary_of` gives: None while it goes on, then the answer; a large value is counted in slices."""
    summary = recorded_summary(store, index)
    if summary is None and not isinstance(value := store.value(index), NoValue):
        yield from summarize_in_steps(value)
        return
    yield summary


def recorded_summary(store: TensorStore, index: int) -> Summary | None:
    """The numbers of the tensor at `index` as they were recorded; None where they were not."""
    return cast(TellsSummaries, store).summary(index) if _tells(type(store), TellsSummaries) else None


def release(store: TensorStore) -> None:
    """Give back the memory of what was looked at in mapped files, where there are any."""
    if _tells(type(store), Releases):
        cast(Releases, store).release()


def valued_rows(store: TensorStore) -> Sequence[int]:
    """The indices of the tensors of `store` that may have values: all, unless it tells otherwise."""
    return cast(TellsValued, store).valued() if _tells(type(store), TellsValued) else range(len(store))


@cache
def _tells(kind: type, facts: type) -> bool:
    """Whether the store class `kind` implements the protocol `facts`. Cached: it is asked per row, and slow."""
    return issubclass(kind, facts)


def devices_of(store: TensorStore) -> Callable[[int], str]:
    """What tells the device of a tensor of `store` by its index, at the least cost."""
    return (
        cast(TellsDevices, store).device if _tells(type(store), TellsDevices) else lambda index: store[index].device
    )


class FoundByNode:
    """A base for stores that know all tensor names from the start: an index from node to its tensors."""

    def __init__(self, names: Iterable[TensorName], alike: FoundByNode | None = None) -> None:
        """Find the tensors `names`; `alike` has the same ones in the same order, if that is known."""
        self._by_node: dict[str, list[int]] = {} if alike is None else alike._by_node
        self._slots: list[int] = [] if alike is None else alike._slots
        if alike is not None:
            return
        for index, name in enumerate(names):
            self._by_node.setdefault(name.node, []).append(index)
            self._slots.append(name.slot)

    def named(self, node: str, slot: int | None = None) -> Sequence[int]:
        found = self._by_node.get(node, [])
        return found if slot is None else [index for index in found if self._slots[index] == slot]

    def nodes(self) -> Sequence[str]:
        return self._nodes

    @cached_property
    def _nodes(self) -> Sequence[str]:
        return list(self._by_node)


class MemoryTensorStore(FoundByNode):
    """Tensors whose values are held in memory."""

    def __init__(self, tensors: Sequence[Tensor], values: Sequence[Value]) -> None:
        if len(tensors) != len(values):
            raise ValueError(f"{len(tensors)} tensors but {len(values)} values")
        super().__init__(tensor.name for tensor in tensors)
        self._tensors = tensors
        self._values = values

    def __len__(self) -> int:
        return len(self._tensors)

    def __getitem__(self, index: int) -> Tensor:
        return self._tensors[index]

    def value(self, index: int) -> Value:
        return self._values[index]


def describe(
    name: TensorName,
    value: Value,
    *,
    device: str,
    op_type: str,
    dtype: str,
    execution: int = 0,
    time_us: int | None = None,
) -> Tensor:
    """The description of a tensor whose value is at hand."""
    if isinstance(value, NoValue):
        return Tensor(name, device, execution, dtype, None, None, time_us, op_type)
    return Tensor(name, device, execution, dtype, value.shape, nbytes_of(value), time_us, op_type)


def nbytes_of(array: Array) -> int:
    """Bytes of the values: for strings the sum of their lengths in UTF-8, else the array's own size."""
    if array.dtype.kind not in "OSUT":
        return array.nbytes
    # NumPy pads each to the longest, takes four bytes for a character, or counts the addresses of objects.
    texts = (item.encode("utf-8", "surrogatepass") if isinstance(item, str) else item for item in array.flat)
    return sum(len(item) for item in texts if isinstance(item, bytes))


def described_with_size(store: TensorStore, index: int) -> Tensor:
    """The description of a tensor whose value is looked at: that tells the size of strings, which a store may not."""
    tensor = store[index]
    if tensor.nbytes is not None or tensor.dtype != "string":
        return tensor
    value = store.value(index)
    return tensor if isinstance(value, NoValue) else replace(tensor, nbytes=nbytes_of(value))


EMPTY_STORE = MemoryTensorStore((), ())


def gone(text: str) -> NoValue:
    """The value of a tensor that is no longer kept; `text` says why."""
    return NoValue(Lack.GONE, text)
