"""The tool that draws the pictures of the documentation."""

import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

pytestmark = pytest.mark.terminal
TOOL = Path(__file__).parents[2] / "tools" / "screenshot.py"
PROGRAM = "import sys; print('\\x1b[1;31mred\\x1b[0m & <plain> 中'); print(sys.stdin.readline().upper())"


def shoot(output):
    command = [sys.executable, str(TOOL), "--size", "30x5", "--wait", "plain", "--keys", "typed<enter>", str(output)]
    subprocess.run([*command, sys.executable, "-c", PROGRAM], check=True, timeout=120)


def test_an_svg_holds_the_text_of_the_screen(tmp_path):
    shoot(tmp_path / "a.svg")
    drawing = ElementTree.parse(tmp_path / "a.svg").getroot()
    texts = ["".join(node.itertext()).strip() for node in drawing.iter("{http://www.w3.org/2000/svg}text")]
    assert texts[0] == "red"
    assert "& <plain> 中" in texts[1]
    assert "TYPED" in texts


def test_a_png_has_the_size_of_the_screen(tmp_path):
    image = pytest.importorskip("PIL.Image")
    shoot(tmp_path / "a.png")
    with image.open(tmp_path / "a.png") as drawn:
        assert drawn.width > 30 * 8
        assert len(drawn.getcolors(100_000)) > 3
