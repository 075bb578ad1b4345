import pytest

from tfdbg_cli.document.lazy_lines import LazyLines
from tfdbg_cli.document.text import Line, line


class Numbers(LazyLines):
    def __init__(self) -> None:
        self.made: list[int] = []

    def __len__(self) -> int:
        return 1_000_000

    def line_at(self, index: int) -> Line:
        self.made.append(index)
        return line(str(index))


def test_only_the_lines_looked_at_are_made():
    numbers = Numbers()
    assert [numbers[0].text, numbers[-1].text] == ["0", "999999"]
    assert [item.text for item in numbers[5:11:2]] == ["5", "7", "9"]
    assert numbers.made == [0, 999_999, 5, 7, 9]


@pytest.mark.parametrize("index", [1_000_000, -1_000_001])
def test_there_is_nothing_outside(index):
    with pytest.raises(IndexError):
        Numbers()[index]
