"""GraphDef messages for programs: of TensorFlow's class where it is loaded, so that it takes them back."""

from __future__ import annotations

import sys
from typing import Any

from tfdbg_cli.formats.messages import schema


def graph_def_class() -> Any:
    """TensorFlow's GraphDef if the process has loaded it, else our own, which has the same fields."""
    loaded = sys.modules.get("tensorflow.core.framework.graph_pb2")
    return getattr(loaded, "GraphDef", schema.GraphDef)
