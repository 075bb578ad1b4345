"""Draws the pictures of the README and the tutorial anew: `python tools/make_pictures.py` (or `make docs`).

The program is run from a copy in /tmp/tfdbg, so that the paths on the screens are the same on every machine.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from PIL import Image
from screenshot import draw_png
from terminal_session import TerminalSession

PROJECT = Path(__file__).resolve().parent.parent
PICTURES = PROJECT / "docs" / "images"
FRONT, BACK, FONT = "d8d8d8", "16181d", 16


@dataclass(frozen=True)
class Step:
    """Press `keys`, wait until the screen shows `shows`, and draw it as `picture` if that is named."""

    keys: str
    shows: str
    picture: str = ""


@dataclass(frozen=True)
class Story:
    """A program in a terminal of `cols` by `rows`, and what a person does there."""

    cols: int
    rows: int
    arguments: tuple[str, ...]
    steps: tuple[Step, ...]


KERAS, SESSION, LOOP = (
    ("run", "-m", f"tfdbg_cli.examples.{name}") for name in ("keras_fit", "classifier", "loop_in_branch")
)
LAYER = "one_step_on_data/digits_1/centre_1"
STORIES = (
    Story(
        100,
        27,
        KERAS,
        (
            Step("", "About to run", "run_start"),
            Step(":run -f has_inf_or_nan<enter>", "passed has_inf_or_nan", "origin"),
            Step(':eval "np.rint(16 * `IteratorGetNext:0`[37]).reshape(8, 8)"<enter>', "[8,8]", "image"),
            Step(":lt -f has_inf_or_nan<enter>", "passing filter", "spoiled"),
            Step("v", "numbers"),
            Step("]n", "37/50", "viewer"),
            Step(":ll<enter>", "layers and scopes", "layers"),
            Step(f":ni -t {LAYER}/truediv<enter>", "Made by", "node"),
            Step(":ps keras_fit.py -b 33<enter>", "weighted", "source"),
            Step("?", "follow the chosen link", "keys"),
        ),
    ),
    Story(
        160,
        40,
        KERAS,
        (
            Step("", "About to run"),
            Step(":run -f has_inf_or_nan --keep 5<enter>", "1 row of the batch", "panes"),
            Step(":trends<enter>", "last / first", "trends"),
        ),
    ),
    Story(
        100,
        27,
        LOOP,
        (
            Step("", "About to run"),
            Step(":run -f has_inf_or_nan<enter>", "passed has_inf_or_nan", "loop_origin"),
            Step(":pt refine/true/cool/body/Sum:0[2,0]<enter>", "execution", "loop_values"),
        ),
    ),
    Story(
        100,
        27,
        SESSION,
        (
            Step("", "About to run", "session_start"),
            Step(":run -f has_inf_or_nan<enter>", "passed has_inf_or_nan", "session_origin"),
            Step(":pt -r [0,0] cross_entropy/probabilities:0[63]<enter>", "Highlighted", "probabilities"),
        ),
    ),
)


def tell(story: Story, place: Path) -> None:
    """Play `story` with the package copied to `place`."""
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
            draw(session, PICTURES / f"{step.picture}.png")
    session.child.close(force=True)


def draw(session: TerminalSession, output: Path) -> None:
    """The screen as a PNG of few colours: a third of the bytes."""
    draw_png(session, output, FONT, FRONT, BACK)
    with Image.open(output) as image:
        few = image.quantize(64, dither=Image.Dither.NONE)
    few.save(output, optimize=True)
    print(output.relative_to(PROJECT), flush=True)


def main() -> None:
    PICTURES.mkdir(parents=True, exist_ok=True)
    place = Path(tempfile.gettempdir()) / "tfdbg"
    place.mkdir()  # never over what somebody else keeps there
    os.chdir(place)  # `-m` looks for modules here first
    try:
        shutil.copytree(PROJECT / "tfdbg_cli", place / "tfdbg_cli", ignore=shutil.ignore_patterns("__pycache__"))
        for story in STORIES:
            tell(story, place)
    finally:
        shutil.rmtree(place)


if __name__ == "__main__":
    main()
