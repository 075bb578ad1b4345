"""The pictures of the documentation show what the program shows today."""

from __future__ import annotations

import re
import sys
import tempfile
from pathlib import Path

import pytest
from PIL import Image
from support.warm_session import HeavySession

sys.path.insert(0, str(Path(__file__).parents[2] / "tools"))
import make_pictures

pytestmark = [pytest.mark.terminal, pytest.mark.tf]
PROJECT = Path(__file__).parents[2]


def _screen(picture: Path) -> str:
    """The text of a picture, without the folder that the program was copied to, and what its length moves."""
    with Image.open(picture) as drawn:
        return re.sub(r" +▐", " ▐", re.sub(r"/\S*/tfdbg_cli/", "tfdbg_cli/", drawn.text["Screen"]))


def test_a_story_told_again_shows_the_same_screens(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By the tool itself, whose program begins with TensorFlow imported."""
    monkeypatch.setattr(make_pictures, "TerminalSession", HeavySession)
    monkeypatch.setattr(sys, "argv", ["make_pictures.py", "--into", str(tmp_path), "loop"])
    monkeypatch.chdir(tmp_path)  # the tool goes elsewhere
    with tempfile.TemporaryDirectory(dir="/tmp") as place:  # with a short name, which breaks no line
        monkeypatch.setattr(tempfile, "tempdir", place)
        make_pictures.main()
    drawn = sorted(tmp_path.glob("*.png"))
    assert [picture.name for picture in drawn] == ["loop_origin.png", "loop_values.png"]
    for picture in drawn:
        assert _screen(picture) == _screen(PROJECT / "docs" / "images" / picture.name)
