"""Which batch of an iterator a tensor came with: iterators over datasets are counted as the program asks them."""

from __future__ import annotations

import re
import threading
import weakref
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
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

OPTIONAL: Any = tf.OptionalSpec(tf.TensorSpec(())).value_type
"""The class of the optionals that iterators give."""

_MOST = 1024  # tensors that are remembered: those of the last batches
_BATCHES = re.compile(r"Batch|Window|Bucket")  # in the names of kinds of data sets that put several elements together
_MOST_SETS = 1_000
_ASKING = ("__next__", "get_next")
_ASKING_IF_THERE = "get_next_as_optional"
_LOSING_COUNT = ("_restore_from_tensors",)


@dataclass(frozen=True, slots=True)
class Delivery:
    """A batch that an iterator gave: its number `step`, from 0, and the number of its `first` row in the data.

    `first` is None where a batch before it had no number of rows. `iterator` is the id of the iterator's handle.
    `single` says that no data set makes batches there, so that what it gave counts as one element. The tensor is part
    `component` of what it gave, sparse and ragged parts counted; `dataset` is the one of the iterator, as long as the
    program has it.
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

    Once it is not `counted` any more, the numbers mean nothing: something asked the iterator unseen. An optional
    counts as a batch when it is given, its rows when it is opened: until then `rows` is None, and it stays so if
    another batch was given before.
    """

    batches: int = 0
    rows: int | None = 0
    counted: bool = True
    single: bool = False
    dataset: weakref.ref[Any] | None = None


@dataclass(slots=True)
class _Held:
    """The batch that an optional holds, and the counts of its iterator; None for what no counted iterator gave."""

    batch: Delivery | None = None
    given: _Given | None = None


class _Here(threading.local):
    """Of one thread: gives the batch that it is asking an iterator or an optional for; None while it asks none."""

    asked: Callable[[], Delivery | None] | None = None


class Deliveries:
    """Counts the batches of iterators over datasets, of those that are made while somebody counts.

    Batches that a graph function takes from an iterator are not seen, so an iterator that was given to a function is
    not counted any more.
    """

    def __init__(self) -> None:
        self._given: Memo[_Given] = Memo(lambda iterator: _Given())
        self._held: Memo[_Held] = Memo(lambda optional: _Held())
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
            replace_method(kind, _ASKING_IF_THERE, self._giving_if_there),
            replace_method(OPTIONAL, "get_value", self._opening),
            *(replace_method(kind, name, self._losing) for name in losing),
        ]

    def of(self, tensor_id: int) -> Delivery | None:
        """The batch in which the tensor with that id came; None where it is not known."""
        return self._known.get(tensor_id)

    def arrives(self, tensor_ids: Iterable[int]) -> None:
        """Note that the tensors with these ids are of the batch that this thread is asking for."""
        batch = None if self._here.asked is None else self._here.asked()
        if batch is not None:
            with self._lock:
                self._remember(enumerate(tensor_ids), batch)

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
            with WITHOUT_OUR_FRAMES:
                batch = self._asked(partial(self._next, iterator), original, iterator, *arguments, **keywords)
            self._gave(iterator, lambda given: self._note(iterator, given, batch))
            return batch

        return give

    def _giving_if_there(self, original: Method) -> Method:
        def give(iterator: Any, *arguments: Any, **keywords: Any) -> Any:
            with WITHOUT_OUR_FRAMES:
                optional = original(iterator, *arguments, **keywords)
            self._gave(iterator, lambda given: self._note_optional(iterator, given, optional))
            return optional

        return give

    def _opening(self, original: Method) -> Method:
        def open_(optional: Any, *arguments: Any, **keywords: Any) -> Any:
            held = self._held.known(optional)
            if held is None or held.batch is None or held.given is None or not tf.executing_eagerly():
                with WITHOUT_OUR_FRAMES:
                    return original(optional, *arguments, **keywords)
            batch, given = held.batch, held.given
            with WITHOUT_OUR_FRAMES:
                value = self._asked(
                    lambda: batch if given.counted else None, original, optional, *arguments, **keywords
                )
            self._noted(given, lambda given: self._note_opened(batch, given, value))
            return value

        return open_

    def _asked(self, batch: Callable[[], Delivery | None], original: Method, *arguments: Any, **keywords: Any) -> Any:
        """Call `original`, return its result; tensors that arrive in this thread meanwhile are those of `batch`."""
        before, self._here.asked = self._here.asked, batch
        try:
            return original(*arguments, **keywords)
        finally:
            self._here.asked = before

    def _gave(self, iterator: Any, note: Callable[[_Given], None]) -> None:
        """`note` what a counted iterator gave; count no more where a function that is traced asked for it."""
        if not tf.executing_eagerly():  # the function captured the iterator
            self._lose(iterator)
        elif (given := self._given.known(iterator)) is not None:
            self._noted(given, note)

    def _noted(self, given: _Given, note: Callable[[_Given], None]) -> None:
        if not given.counted:
            return
        try:
            with self._lock:
                note(given)
        except our_errors() as error:
            given.counted = False
            report("count the batches of an iterator", error)

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

    def _next(self, iterator: Any) -> Delivery | None:
        """The batch that the iterator gives next; None where it is not counted."""
        given, handle = self._given.known(iterator), handle_of(iterator)
        if given is None or not given.counted or handle is None:
            return None
        return Delivery(handle, given.batches, given.rows, given.single, dataset=given.dataset)

    def _note(self, iterator: Any, given: _Given, value: Any) -> None:
        batch, tensors = self._next(iterator), _tensors_in(value)
        if batch is not None:
            self._remember(_ids(tensors), batch)
        given.batches += 1
        given.rows = _behind(given.rows, tensors.values())

    def _note_optional(self, iterator: Any, given: _Given, optional: Any) -> None:
        held = self._held.of(optional)
        held.batch, held.given = self._next(iterator), given
        given.batches += 1
        given.rows = None

    def _note_opened(self, batch: Delivery, given: _Given, value: Any) -> None:
        tensors = _tensors_in(value)
        self._remember(_ids(tensors), batch)
        if given.batches == batch.step + 1:  # the iterator has given nothing since
            given.rows = _behind(batch.first, tensors.values())

    def _remember(self, tensor_ids: Iterable[tuple[int, int]], batch: Delivery) -> None:
        """Note that the tensors, each behind its component, came in this batch; forget those that came long ago."""
        for at, tensor_id in tensor_ids:
            self._known[tensor_id] = replace(batch, component=at)
        while len(self._known) > _MOST:
            self._known.popitem(last=False)


def _tensors_in(batch: Any) -> dict[int, Any]:
    """The plain tensors of a batch, by their components."""
    return {at: one for at, one in enumerate(tf.nest.flatten(batch)) if type(one) is compat.EagerTensor}


def _ids(tensors: Mapping[int, Any]) -> Iterable[tuple[int, int]]:
    return ((at, compat.tensor_id(tensor)) for at, tensor in tensors.items())


def _behind(first: int | None, tensors: Iterable[Any]) -> int | None:
    """The number of the row behind a batch whose first row has the number `first`; None where it has none."""
    sizes = {compat.shape_of(one)[:1] for one in tensors}
    size = sizes.pop() if len(sizes) == 1 else ()
    return first + size[0] if size and first is not None else None


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
