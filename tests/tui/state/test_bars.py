import pytest

from tfdbg_cli.document.text import line
from tfdbg_cli.tui.reading.paint import columns
from tfdbg_cli.tui.state.bars import Message, candidates, status

WHERE = line("12/300  4% ")
NAMES = tuple(f"layer_{i}/MatMul:0" for i in range(200))


def texts(lines):
    return [item.text.rstrip() for item in lines]


def test_the_position_stands_at_the_right_whatever_is_said():
    for words in ("", "Enter: pt x:0", "x" * 200, "中" * 100):
        (row,) = status(None, words, WHERE, 60)
        assert columns(row.text) == 60
        assert row.text.endswith("12/300  4% ")


def test_a_long_message_is_wrapped_and_never_wider_than_the_screen():
    message = Message("There is no tensor " + "'" + "a/" * 120 + "'.", error=True, hint="Did you mean b?")
    rows = status(message, "", WHERE, 50)
    assert len(rows) == 3
    assert all(columns(row.text) <= 50 for row in rows)


def test_a_short_message_shares_its_row_with_the_position():
    (row,) = status(Message("Copied 3 characters."), "Enter: pt x:0", WHERE, 60)
    assert row.text.startswith(" Copied 3 characters.")
    assert row.text.endswith("4% ")


@pytest.mark.parametrize("cols", [40, 80, 200])
@pytest.mark.parametrize("picked", [-1, 0, 7, 150, 199])
def test_the_picked_candidate_is_always_in_sight(cols, picked):
    rows = candidates(NAMES, picked, 1000, cols, 3)
    assert len(rows) == 3
    assert all(columns(row.text) <= cols for row in rows)
    assert NAMES[max(0, picked)] in "\n".join(texts(rows))


def test_candidates_say_how_many_there_are_besides():
    last = texts(candidates(NAMES, -1, 1000, 80, 3))[-1]
    assert last.endswith("… 1,191 more")
    assert "more" not in texts(candidates(NAMES[:5], -1, 0, 80, 3))[-1]
    assert candidates((), -1, 0, 80, 3) == []
