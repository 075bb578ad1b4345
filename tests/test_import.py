"""What is not needed is not loaded: recordings open without TensorFlow, programs that never stop do without urwid."""

from __future__ import annotations

import subprocess
import sys

import pytest
from support.package_source import modules

HEAVY = ("tensorflow", "tf_keras", "keras", "urwid", "pygments")
LIGHT = ("model", "formats", "analysis", "document", "commands", "debug_data")
_TELL = "import sys; print(' '.join(name for name in {heavy!r} if name in sys.modules))"


def _loaded(*names: str, heavy: tuple[str, ...]) -> str:
    script = "".join(f"import {name}\n" for name in names) + _TELL.format(heavy=heavy)
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_the_package_alone_loads_nothing_heavy() -> None:
    assert _loaded("tfdbg_cli", heavy=(*HEAVY, "numpy")) == ""


def test_the_public_names_are_listed_without_loading_them() -> None:
    script = "import tfdbg_cli; dir(tfdbg_cli); " + _TELL.format(heavy=HEAVY)
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""


@pytest.mark.parametrize("layer", LIGHT)
def test_a_layer_below_the_front_ends_loads_neither_tensorflow_nor_urwid(layer: str) -> None:
    names = [module.name for module in modules() if module.layer == layer]
    assert _loaded(*names, heavy=("tensorflow", "tf_keras", "keras", "urwid")) == ""


def test_the_line_front_end_loads_neither_tensorflow_nor_urwid() -> None:
    names = [module.name for module in modules() if module.layer in ("line", "cli", "launch", "frontends")]
    assert _loaded(*names, heavy=("tensorflow", "tf_keras", "keras", "urwid")) == ""
