from tfdbg_cli.document.shrinking import Shrinking
from tfdbg_cli.document.text import Span, Style

MADE_AT = Shrinking(
    Span("Made at  "), Span("/home/ada/work/train.py:8", Style.NAME, "ps /home/ada/work/train.py"), Span(" in f")
)


def test_a_path_keeps_its_end_and_its_link():
    (line,) = MADE_AT.lines(30)
    assert line.text == "Made at  …work/train.py:8 in f"
    assert len(line.text) <= 30
    assert line.spans[1].link == "ps /home/ada/work/train.py"


def test_with_room_nothing_is_lost():
    whole = "Made at  /home/ada/work/train.py:8 in f"
    assert MADE_AT.lines(None)[0].text == MADE_AT.lines(80)[0].text == whole
