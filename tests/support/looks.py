"""A frame of the screen with its looks, as text for a golden file."""

from __future__ import annotations

import string

from support.screen import Driven


def frame_with_looks(screen: Driven, size: tuple[int, int], colors: int) -> str:
    """Each row of the screen, the letters of its looks below it, what the letters mean, and where the cursor is."""
    letters: dict[str, str] = {}
    rows: list[str] = []
    canvas = screen.app.view.render(size, focus=True)
    screen.screen.canvases.append(canvas)
    for runs in screen.looks(colors):
        looks = []
        for spec, text in runs:
            look = f"{spec.foreground} on {spec.background}"
            letter = letters.setdefault(look, _letter(len(letters)))
            looks.append(letter * len(text))
        rows += ["|" + "".join(text for _, text in runs).rstrip(), ":" + "".join(looks)]
    meanings = [f"{letter} = {look}" for look, letter in letters.items()]
    return "\n".join([*rows, *meanings, f"cursor {canvas.cursor}"])


def _letter(number: int) -> str:
    letters = string.ascii_letters + string.digits + string.punctuation
    return letters[number] if number < len(letters) else chr(0xC0 + number)
