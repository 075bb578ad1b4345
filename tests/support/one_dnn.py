"""Whether TensorFlow takes kernels from oneDNN, which changes op types and last digits (see `conftest.py`)."""

from __future__ import annotations

import os

ON = os.environ.get("TF_ENABLE_ONEDNN_OPTS") == "1"


def run_as(op_type: str) -> str:
    """The op type that runs in the place of `op_type`, of those that oneDNN rewrites."""
    return f"_Mkl{op_type}" if ON else op_type
