"""What the files of a checkpoint are called."""

from __future__ import annotations

import re

ENDING = ".index"
STATE = "checkpoint"  # the file in a folder that names its checkpoints
DATA = re.compile(r"^(?P<prefix>.+)\.data-\d{5}-of-\d{5}$")
