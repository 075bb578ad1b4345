"""The objects of some classes that are alive, whoever holds them.

`gc.get_objects` gives every object, also those that are being made: `tuple` of a generator raises SystemError in the
program where anybody else holds the tuple while it grows (bugs.python.org/issue15108). So no other thread may run
while all objects are held.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator, Sequence
from itertools import chain, compress, starmap
from typing import Any

from tfdbg_cli.collection import COLLECTOR
from tfdbg_cli.model.walks import reached


def living_objects(*classes: type) -> Sequence[Any]:
    """All objects of `classes`, and of classes derived from them, that Python's collector knows.

    It takes a tenth of a second. Nothing is asked of any object, not even its `__class__`, which may run code of the
    program.
    """
    wanted = {id(kind) for kind in reached(classes, type.__subclasses__)}
    # Another thread may run between two instructions of Python, but not amid this one: all that it calls is written
    # in C. For that alone `_chosen` is made of itertools: amid the plain loop that it stands for, other threads could
    # run into the SystemError above. A collection could run finalizers.
    with COLLECTOR.put_off():
        return list(_chosen(wanted))


def _chosen(kinds: set[int]) -> Iterator[Any]:
    """Of the objects that are alive when it is first asked, those whose class is among `kinds`, by id.

    When it is at its end it holds none of them: they include the iterators here, and would keep one another alive.
    In plain words:

        held = gc.get_objects()
        for one in held:
            if id(type(one)) in kinds:
                yield one
        held.clear()
    """
    held: list[list[Any]] = []  # the list of all objects, while there is one
    objects = chain(
        filter(None, map(held.append, starmap(gc.get_objects, [()]))),  # gives nothing
        chain.from_iterable(held),
        filter(None, starmap(held.clear, [()])),
        [None],  # for which `kinds_of_all` comes to its end, too
    )
    kinds_of_all = map(id, map(type, chain.from_iterable(held)))
    return compress(objects, map(kinds.__contains__, kinds_of_all))
