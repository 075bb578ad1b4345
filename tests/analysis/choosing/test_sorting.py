"""Sorting in small steps gives what `sorted` gives, whatever is sorted."""

from __future__ import annotations

import gc
import random
from collections.abc import Callable

import pytest

from tfdbg_cli.analysis.choosing.sorting import Key, last_of, sorted_in_steps

_COUNT = 30_000
_CHANCE = random.Random(0)
_NUMBERS = [_CHANCE.randrange(_COUNT) for _ in range(_COUNT)]
KEYS: dict[str, Callable[[int], Key]] = {
    "all different": lambda i: (i * 7919 % _COUNT,),
    "some equal": lambda i: (_NUMBERS[i], i % 3),
    "few different": lambda i: ("MatMul", "Relu", "Add")[i % 3 : i % 3 + 1],
    "nearly all equal": lambda i: (i == 17, 0),
    "all equal": lambda i: ("Add",),
    "few different at first": lambda i: (max(0, i * 7919 % _COUNT - 5000),),
    "different behind many equal": lambda i: (max(i - 20_000, 0),),
    "sorted": lambda i: (i,),
    "backwards": lambda i: (-i,),
}


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("name", KEYS)
@pytest.mark.parametrize("count", [0, 1, 5000, _COUNT])
def test_the_order_is_that_of_sorted(name: str, count: int, reverse: bool) -> None:
    things = range(count)
    found = last_of(sorted_in_steps(things, KEYS[name], reverse=reverse))
    assert list(found) == sorted(things, key=KEYS[name], reverse=reverse)


def test_more_things_take_more_steps_and_not_longer_ones() -> None:
    """No step asks for more keys than the others, and their number grows with that of the things."""
    asked = [0]

    def key(thing: int) -> Key:
        asked[-1] += 1
        return (thing * 7919 % _COUNT,)

    for _ in sorted_in_steps(range(_COUNT), key):
        asked.append(0)
    assert sum(asked) == _COUNT
    assert max(asked) <= 1024
    assert len(asked) > _COUNT / 1024 + 2 * _COUNT / 4096


def test_the_garbage_collector_has_nothing_long_to_go_through() -> None:
    gc.collect()
    gc.freeze()  # what there was before is none of its business, and takes long to go through
    longest = 0
    for number, _ in enumerate(sorted_in_steps(range(_COUNT), lambda i: i * 7919 % _COUNT)):
        if number % 8 == 0:
            lists = [thing for thing in gc.get_objects() if isinstance(thing, list)]
            longest = max([longest, *map(len, lists)])
    assert longest <= 2 * 4096
