"""Values told apart by a few bytes."""

from __future__ import annotations

import ml_dtypes
import numpy as np

from tfdbg_cli.analysis.variables.contents import digest


def test_what_is_the_same_to_the_last_bit_has_the_same_digest() -> None:
    values = np.arange(6, dtype=np.float32).reshape(2, 3)
    assert digest(values) == digest(values.copy()) == digest(np.asfortranarray(values))
    other = values.copy()
    other[1, 2] = np.nextafter(other[1, 2], 9)
    assert digest(values) != digest(other)
    assert digest(np.array([np.nan])) == digest(np.array([np.nan]))
    assert digest(np.zeros((0, 3))) == digest(np.zeros((0, 3)))


def test_every_kind_of_elements_has_one() -> None:
    assert digest(np.array([1, 2], ml_dtypes.bfloat16)) != digest(np.array([1, 3], ml_dtypes.bfloat16))
    assert digest(np.array([1, 2], ml_dtypes.int4)) != digest(np.array([1, 3], ml_dtypes.int4))
    texts = [np.array(words, object) for words in ([b"ab", b"c"], [b"a", b"bc"], [b"ab", "c"])]
    assert digest(texts[0]) != digest(texts[1]) and digest(texts[0]) == digest(texts[2])


def test_a_large_value_is_read_a_part_at_a_time() -> None:
    parts: list[int] = []
    large = np.zeros((1 << 20) + 1, np.int8)
    assert digest(large, lambda: parts.append(1)) != digest(large[1:])
    assert len(parts) == 2
