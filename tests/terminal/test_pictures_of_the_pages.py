"""The pictures of the documentation show what the program shows today."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from PIL import Image

pytestmark = [pytest.mark.terminal, pytest.mark.tf]
PROJECT = Path(__file__).parents[2]


def _screen(picture: Path) -> str:
    """The text of a picture, without the folder that the program was copied to, and what its length moves."""
    with Image.open(picture) as drawn:
        return re.sub(r" +▐", " ▐", re.sub(r"/\S*/tfdbg_cli/", "tfdbg_cli/", drawn.text["Screen"]))


def test_a_story_told_again_shows_the_same_screens(tmp_path: Path) -> None:
    with tempfile.TemporaryDirectory(dir="/tmp") as place:  # with a short name, which breaks no line
        tool = PROJECT / "tools" / "make_pictures.py"
        environment = {**os.environ, "TMPDIR": place}
        subprocess.run([sys.executable, tool, "--into", tmp_path, "loop"], check=True, env=environment, timeout=240)
    drawn = sorted(tmp_path.glob("*.png"))
    assert [picture.name for picture in drawn] == ["loop_origin.png", "loop_values.png"]
    for picture in drawn:
        assert _screen(picture) == _screen(PROJECT / "docs" / "images" / picture.name)
