"""Draws the pictures of the README and the tutorial anew: `python tools/make_pictures.py` (or `make docs`).

python tools/make_pictures.py [--into FOLDER] [STORY]...: those of all stories of tools/stories.py, or of some.

The program is run from a copy in /tmp/tfdbg, so that the paths on the screens are the same on every machine. Each
picture has the text of its screen with it, as a PNG's text "Screen".
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import tempfile
from pathlib import Path

from PIL import Image
from PIL.PngImagePlugin import PngInfo
from screenshot import draw_png
from stories import STORIES, Story
from terminal_session import TerminalSession

PROJECT = Path(__file__).resolve().parent.parent
PICTURES = PROJECT / "docs" / "images"
FRONT, BACK, FONT = "d8d8d8", "16181d", 16


def tell(story: Story, place: Path, into: Path) -> None:
    """Play `story` with the package copied to `place`, and draw its pictures into a folder."""
    environment = {
        "PYTHONPATH": str(place),
        "TF_CPP_MIN_LOG_LEVEL": "3",
        "HOME": str(place),
        "COLUMNS": "",
        "LINES": "",
    }
    session = TerminalSession(
        [sys.executable, "-m", "tfdbg_cli", *story.arguments], story.cols, story.rows, environment
    )
    for step in story.steps:
        session.send(step.keys)
        session.wait(step.shows, 120)
        session.settle()
        if step.picture:
            draw(session, into / f"{step.picture}.png")
    session.child.close(force=True)


def draw(session: TerminalSession, output: Path) -> None:
    """The screen as a PNG of few colours: a third of the bytes."""
    draw_png(session, output, FONT, FRONT, BACK)
    with Image.open(output) as image:
        few = image.quantize(64, dither=Image.Dither.NONE)
    text = PngInfo()
    text.add_itxt("Screen", session.text(), zip=True)
    few.save(output, optimize=True, pnginfo=text)
    print(output, flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--into", type=Path, default=PICTURES, metavar="FOLDER", help="where the pictures go")
    names = [story.name for story in STORIES]
    parser.add_argument("stories", nargs="*", metavar="STORY", help=f"of {', '.join(names)}; all without a name")
    options = parser.parse_args()
    if unknown := sorted({*options.stories} - {*names}):
        parser.error(f"there is no story {unknown[0]!r}; there are {', '.join(names)}")
    into = options.into.resolve()
    into.mkdir(parents=True, exist_ok=True)
    place = Path(tempfile.gettempdir()) / "tfdbg"
    place.mkdir()  # never over what somebody else keeps there
    os.chdir(place)  # `-m` looks for modules here first
    try:
        shutil.copytree(PROJECT / "tfdbg_cli", place / "tfdbg_cli", ignore=shutil.ignore_patterns("__pycache__"))
        for story in STORIES:
            if story.name in (options.stories or names):
                tell(story, place, into)
    finally:
        shutil.rmtree(place)


if __name__ == "__main__":
    main()
