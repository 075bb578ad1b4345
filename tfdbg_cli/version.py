"""The version of tfdbg, and of what is installed beside it."""

from __future__ import annotations

import os
import sys

__version__ = "0.1.0"


def installed_version(name: str) -> str | None:
    """The version of the installed distribution `name`, which is not imported; None when it is not installed."""
    # Imported here: it takes 25 ms, a noticeable part of the start of `tfdbg`.
    from importlib import metadata

    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def tensorflow_version() -> str | None:
    """The version of TensorFlow: that of the loaded one, else of the installed one, which stays unloaded."""
    loaded = sys.modules.get("tensorflow")
    version = getattr(loaded, "__version__", None)
    if isinstance(version, str):
        return version
    names = ("tensorflow", "tensorflow-cpu", "tf-nightly")
    return next(filter(None, map(installed_version, names)), None)


def versions() -> dict[str, str]:
    """What a file says of the program that wrote it: the versions of all that had a part in it, and the machine."""
    import numpy as np

    machine = os.uname()
    return {
        "tfdbg": __version__,
        "tensorflow": tensorflow_version() or "",
        "numpy": np.__version__,
        "python": sys.version.split()[0],
        "machine": f"{machine.sysname} {machine.machine}",
    }
