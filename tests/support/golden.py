"""Golden files: what a screen looked like when a person last agreed with it.

`TFDBG_GOLDEN=1 pytest …` writes them anew; look at `git diff` then.
"""

from __future__ import annotations

import os
from pathlib import Path

_ROOT = Path(__file__).parents[1] / "golden"


def check_golden(name: str, text: str) -> None:
    """Compare `text` with tests/golden/`name`.txt, `name` being such as "commands/lt"."""
    path = _ROOT / f"{name}.txt"
    text = "".join(row.rstrip() + "\n" for row in text.rstrip("\n").split("\n"))
    if os.environ.get("TFDBG_GOLDEN"):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return
    assert path.exists(), f"{path} is missing; run with TFDBG_GOLDEN=1 to write it, and read it"
    assert text == path.read_text(encoding="utf-8"), f"{name} looks different; TFDBG_GOLDEN=1 accepts it"
