"""What is kept with an object: found once, by whichever thread asks first, and gone with it."""

from __future__ import annotations

import gc
import threading
import weakref

import pytest

from tfdbg_cli.capture.tf.memo import Memo, Memos


class Owner:
    """An object that takes attributes."""


class Slotted:
    """One that does, too, and has no dictionary, as a tf.Graph."""

    __slots__ = ("__weakref__", "_tfdbg_memo")


@pytest.mark.parametrize("kind", [Owner, Slotted])
def test_an_answer_is_found_once(kind):
    asked = []
    memo = Memo(lambda owner: asked.append(owner) or len(asked))
    one, other = kind(), kind()
    assert memo.known(one) is None
    assert [memo.of(one), memo.of(one), memo.of(other)] == [1, 1, 2]
    assert memo.known(one) == 1
    assert asked == [one, other]


def test_an_answer_may_be_none():
    asked = []
    memo = Memo(asked.append)
    owner = Owner()
    assert memo.of(owner) is memo.of(owner) is None
    assert asked == [owner]


def test_each_memo_has_its_own_answers():
    owner = Owner()
    assert (Memo(lambda _: 1).of(owner), Memo(lambda _: 2).of(owner)) == (1, 2)


def test_what_raises_is_asked_again():
    answers = iter([ValueError("not yet"), 7])

    def make(_):
        found = next(answers)
        if isinstance(found, Exception):
            raise found
        return found

    memo, owner = Memo(make), Owner()
    with pytest.raises(ValueError, match="not yet"):
        memo.of(owner)
    assert memo.of(owner) == 7


@pytest.mark.parametrize("kind", [Owner, Slotted])
def test_all_threads_get_the_same_answer(kind):
    threads, found = 8, []
    together = threading.Barrier(threads)

    def make(_):
        together.wait(120)  # all of them found nothing yet
        return object()

    memo, owner = Memo(make), kind()
    started = [threading.Thread(target=lambda: found.append(memo.of(owner))) for _ in range(threads)]
    for thread in started:
        thread.start()
    for thread in started:
        thread.join(120)
    assert len(found) == threads
    assert all(one is found[0] for one in found)


def test_an_answer_goes_with_its_object():
    memo = Memo(lambda _: Owner())
    owner = Owner()
    kept = weakref.ref(memo.of(owner))
    del owner
    gc.collect()
    assert kept() is None


def test_of_many_answers_those_found_last_are_kept():
    memos, owner = Memos(keep=2), Owner()
    asked = []

    def found(key):
        return memos.of(owner, key, lambda: asked.append(key) or key.upper())

    assert [found(key) for key in "abac"] == ["A", "B", "A", "C"]
    assert asked == ["a", "b", "c"]
    assert found("b") == "B"
    assert found("a") == "A"
    assert asked == ["a", "b", "c", "a"]


def test_all_threads_get_the_same_of_many_answers():
    """A blind test: each got the answer that it had found itself, and the others the last one of all."""
    threads, found = 3, []
    together = threading.Barrier(threads)

    def make():
        together.wait(120)  # all of them found nothing yet
        return object()

    memos, owner = Memos(keep=2), Owner()
    started = [threading.Thread(target=lambda: found.append(memos.of(owner, "key", make))) for _ in range(threads)]
    for thread in started:
        thread.start()
    for thread in started:
        thread.join(120)
    assert len(found) == threads
    assert all(one is found[0] for one in found)
    assert memos.of(owner, "key", object) is found[0]


def test_one_of_many_answers_may_be_none():
    """A blind test: it was found anew each time."""
    memos, owner, asked = Memos(keep=2), Owner(), []
    assert memos.of(owner, "key", lambda: asked.append(1)) is None
    assert memos.of(owner, "key", lambda: asked.append(2)) is None
    assert asked == [1]


def test_as_many_are_kept_as_are_to_be_although_one_is_found_while_another_is():
    memos, owner = Memos(keep=2), Owner()
    memos.of(owner, "a", lambda: [memos.of(owner, key, lambda key=key: key) for key in "bcd"])
    asked = []
    for key in "da":
        memos.of(owner, key, lambda key=key: asked.append(key))
    assert not asked
    memos.of(owner, "c", lambda: asked.append("c"))
    assert asked == ["c"]
