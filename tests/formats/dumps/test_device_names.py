from __future__ import annotations

import pytest

from tfdbg_cli.formats.dumps.device_names import device_of, directory_of

PAIRS = [
    ("/job:localhost/replica:0/task:0/device:CPU:0", "_tfdbg_device_,job_localhost,replica_0,task_0,device_CPU_0"),
    ("/job:my_worker/replica:0/task:12/device:GPU:3", "_tfdbg_device_,job_my_worker,replica_0,task_12,device_GPU_3"),
    ("/job:w/replica:0/task:0/device:XLA_GPU:1", "_tfdbg_device_,job_w,replica_0,task_0,device_XLA_GPU_1"),
    ("/cpu:0", "_tfdbg_device_,cpu_0"),
    ("", "_tfdbg_device_"),
]


@pytest.mark.parametrize(("device", "directory"), PAIRS)
def test_there_and_back(device: str, directory: str) -> None:
    assert directory_of(device) == directory
    assert device_of(directory) == device


@pytest.mark.parametrize("directory", ["_tfdbg_device_,,,", "_tfdbg_device_device_", "_tfdbg_device_nonsense"])
def test_odd_names_still_give_a_text(directory: str) -> None:
    assert isinstance(device_of(directory), str)
