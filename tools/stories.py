"""What a person does in the examples to see what the pictures of the documentation show, key by key."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Step:
    """Press `keys`, wait until the screen shows `shows`, and draw it as `picture` if that is named."""

    keys: str
    shows: str
    picture: str = ""


@dataclass(frozen=True)
class Story:
    """A program in a terminal of `cols` by `rows`, and what a person does there."""

    name: str
    cols: int
    rows: int
    arguments: tuple[str, ...]
    steps: tuple[Step, ...]


def _program(name: str, *flags: str) -> tuple[str, ...]:
    return ("run", *flags, "-m", f"tfdbg_cli.examples.{name}")


_IMAGE = ':eval "np.rint(16 * `IteratorGetNext:0`[37]).reshape(8, 8)"<enter>'
_ROW = ":pt -r [0,0] cross_entropy/probabilities:0[63]<enter>"
STORIES = (
    Story(
        "keras",
        100,
        27,
        _program("keras_fit", "--watch"),
        (
            Step("", "passed bad_result", "origin"),
            Step("V", "Row 37 of 50: bad", "row"),
            Step(_IMAGE, "[8,8]", "image"),
            Step("o/later tensors<enter><enter>", "passing filter", "spoiled"),
            Step("<enter>", "numbers"),
            Step("]n", "37/50", "viewer"),
            Step("A", "layers and scopes", "layers"),
            Step("o<enter>", "numbers"),
            Step("vg<enter>", "1 recipient"),
            Step("G<right><right><enter>", "Made by", "node"),
            Step("P", "weighted", "source"),
            Step("?", "follow the chosen link", "keys"),
        ),
    ),
    Story(
        "panes",
        160,
        40,
        _program("keras_fit", "--watch", "--keep", "5"),
        (
            Step("", "1 row of the batch", "panes"),
            Step("<ctrl p>trends", "trends"),
            Step("<enter>", "Last / first", "trends"),
        ),
    ),
    Story("start", 100, 27, _program("keras_fit"), (Step("", "About to run", "run_start"),)),
    Story(
        "loop",
        100,
        27,
        _program("loop_in_branch", "--watch"),
        (
            Step("", "passed bad_result", "loop_origin"),
            Step(":pt refine/true/cool/body/Sum:0[2,0]<enter>", "was produced", "loop_values"),
        ),
    ),
    Story(
        "session",
        100,
        27,
        _program("classifier"),
        (
            Step("", "About to run", "session_start"),
            Step("F", "passed has_inf_or_nan", "session_origin"),
            Step(_ROW, "Highlighted", "probabilities"),
        ),
    ),
)
