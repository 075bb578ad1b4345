"""Which batch of an iterator a tensor came with: iterators over datasets are counted as the program asks them."""

from __future__ import annotations

import re
import threading
import weakref
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import tensorflow as tf

from tfdbg_cli.capture.failures import report
from tfdbg_cli.capture.tf import compat
from tfdbg_cli.capture.tf.memo import Memo
from tfdbg_cli.capture.tf.patching import replace_method
from tfdbg_cli.capture.tf.reentrancy import LOOKING_AT_DATA
from tfdbg_cli.capture.tf.types import Method
from tfdbg_cli.model.walks import reached
from tfdbg_cli.process.interruptions import our_errors
from tfdbg_cli.process.own_frames import WITHOUT_OUR_FRAMES

_MOST = 1024  # tensors that are remembered: those of the last batches
_BATCHES = re.compile(r"Batch|Window|Bucket")  # in the names of kinds of data sets that put several elements together
_MOST_SETS = 1_000
_ASKING = ("__next__", "get_next")
_LOSING_COUNT = ("get_next_as_optional", "_restore_from_tensors")


@dataclass(frozen=True, slots=True)
class Delivery:
    """A batch that an iterator gave: its number `step`, from 0, and the number of its `first` row in the data.

    `first` is None where a batch before it had no number of rows. `iterator` is the id of the iterator's handle.
    `single` says that no data set makes batches there, so that what it gave counts as one element. The tensor is part
    `component` of what it gave; `dataset` is the one of the iterator, as long as the program has it.
    """

    iterator: int
    step: int
    first: int | None
    single: bool = False
    component: int = 0
    dataset: weakref.ref[Any] | None = field(default=None, compare=False, repr=False)


@dataclass(slots=True)
class _Given:
    """How many batches and rows an iterator has given; `rows` is None once a batch had no common first dimension.

    Once it is not `counted` any more, the numbers mean nothing: something asked the iterator unseen.
    """

    batches: int = 0
    rows: int | None = 0
    counted: bool = True
    single: bool = False
    dataset: weakref.ref[Any] | None = None


class _Here(threading.local):
    """Of one thread: the iterator that it is asking for a batch."""

    asked: Any = None


class Deliveries:
    """Counts the batches of iterators over datasets, of those that are made while somebody counts.

    Batches that a graph function takes from an iterator are not seen, so an iterator that was given to a function is
    not counted any more.
    """

    def __init__(self) -> None:
        self._given: Memo[_Given] = Memo(lambda iterator: _Given())
        self._known: OrderedDict[int, Delivery] = OrderedDict()
        self._here = _Here()
        self._lock = threading.Lock()

    def count(self) -> list[Callable[[], None]]:
        """Count from now on; the functions that this returns, all called, end it."""
        kind = compat.OwnedIterator
        losing = [name for name in _LOSING_COUNT if name in vars(kind)]
        return [
            replace_method(kind, "__init__", self._beginning),
            *(replace_method(kind, name, self._giving) for name in _ASKING),
            *(replace_method(kind, name, self._losing) for name in losing),
        ]

    def of(self, tensor_id: int) -> Delivery | None:
        """The batch in which the tensor with that id came; None where it is not known."""
        return self._known.get(tensor_id)

    def arrives(self, tensor_ids: Iterable[int]) -> None:
        """Note that the tensors with these ids are of the batch that this thread is asking an iterator for."""
        asked = self._here.asked
        given = None if asked is None else self._given.known(asked)
        handle = None if asked is None else handle_of(asked)
        if given is not None and given.counted and handle is not None:
            with self._lock:
                self._remember(tensor_ids, handle, given)

    def lend(self, arguments: Iterable[Any]) -> None:
        """Stop counting the iterators among `arguments` of a function, however nested: it may ask them unseen."""
        for iterator in _iterators_in(arguments):
            self._lose(iterator)

    def _beginning(self, original: Method) -> Method:
        def begin(iterator: Any, *arguments: Any, **keywords: Any) -> None:
            with WITHOUT_OUR_FRAMES:
                original(iterator, *arguments, **keywords)
            if tf.executing_eagerly() and not LOOKING_AT_DATA.holds():
                given = self._given.of(iterator)
                given.single, given.dataset = _gives_elements(iterator), _dataset_of(iterator)

        return begin

    def _giving(self, original: Method) -> Method:
        def give(iterator: Any, *arguments: Any, **keywords: Any) -> Any:
            before, self._here.asked = self._here.asked, iterator
            try:
                with WITHOUT_OUR_FRAMES:
                    batch = original(iterator, *arguments, **keywords)
            finally:
                self._here.asked = before
            if not tf.executing_eagerly():  # while a function is traced that captured the iterator
                self._lose(iterator)
            elif (given := self._given.known(iterator)) is not None and given.counted:
                try:
                    with self._lock:
                        self._note(iterator, given, batch)
                except our_errors() as error:
                    given.counted = False
                    report("count the batches of an iterator", error)
            return batch

        return give

    def _losing(self, original: Method) -> Method:
        def lose(iterator: Any, *arguments: Any, **keywords: Any) -> Any:
            self._lose(iterator)
            with WITHOUT_OUR_FRAMES:
                return original(iterator, *arguments, **keywords)

        return lose

    def _lose(self, iterator: Any) -> None:
        given = self._given.known(iterator)
        if given is not None:
            given.counted = False

    def _note(self, iterator: Any, given: _Given, batch: Any) -> None:
        tensors = [one for one in tf.nest.flatten(batch) if type(one) is compat.EagerTensor]
        handle = handle_of(iterator)
        sizes = {compat.shape_of(one)[:1] for one in tensors}
        size = sizes.pop() if len(sizes) == 1 else ()
        if handle is not None:
            self._remember(map(compat.tensor_id, tensors), handle, given)
        given.batches += 1
        given.rows = given.rows + size[0] if size and given.rows is not None else None

    def _remember(self, tensor_ids: Iterable[int], handle: int, given: _Given) -> None:
        """Note that the tensors came in the batch that the iterator gives now; forget those that came long ago."""
        for at, tensor_id in enumerate(tensor_ids):
            self._known[tensor_id] = Delivery(handle, given.batches, given.rows, given.single, at, given.dataset)
        while len(self._known) > _MOST:
            self._known.popitem(last=False)


def _gives_elements(iterator: Any) -> bool:
    """Whether no data set that the one of `iterator` is made of makes batches, as far as its functions are not asked.

    What lies behind `unbatch` are single elements again.
    """
    try:
        dataset = compat.dataset_of(iterator)
        made_of = [] if dataset is None else reached([dataset], _made_of, most=_MOST_SETS)
        kinds = [type(one).__name__ for one in made_of]
    except our_errors() as error:  # data sets of another TensorFlow
        report("ask a data set whether it makes batches", error)
        return False
    return bool(kinds) and not any(map(_BATCHES.search, kinds))


def _dataset_of(iterator: Any) -> weakref.ref[Any] | None:
    """The data set of `iterator`, held weakly; None where it was made of something else."""
    try:
        dataset = compat.dataset_of(iterator)
        return None if dataset is None else weakref.ref(dataset)
    except (AttributeError, TypeError):  # iterators of another TensorFlow
        return None


def _made_of(dataset: Any) -> Sequence[Any]:
    return [] if type(dataset).__name__ == "_UnbatchDataset" else compat.inputs_of(dataset)


def _iterators_in(arguments: Iterable[Any]) -> Iterator[Any]:
    kind = compat.OwnedIterator
    for one in arguments:
        if isinstance(one, kind):
            yield one
        elif isinstance(one, dict):
            yield from _iterators_in(one.values())
        elif isinstance(one, (list, tuple)):
            yield from _iterators_in(one)


def handle_of(iterator: Any) -> int | None:
    """The id of the handle of an iterator of TensorFlow's; None of anything else."""
    if not isinstance(iterator, compat.OwnedIterator):
        return None
    handle = tf.nest.flatten(iterator, expand_composites=True)[0]
    return compat.tensor_id(handle) if type(handle) is compat.EagerTensor else None


DELIVERIES = Deliveries()
