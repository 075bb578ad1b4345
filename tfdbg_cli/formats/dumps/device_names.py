"""Names of devices in names of directories: `/job:x/device:CPU:0` is `_tfdbg_device_,job_x,device_CPU_0`."""

from __future__ import annotations

DEVICE_PREFIX = "_tfdbg_device_"


def directory_of(device: str) -> str:
    """The directory of `device` in a dump, as DebugNode::DeviceNameToDevicePath of TensorFlow names it."""
    return DEVICE_PREFIX + device.replace(":", "_").replace("/", ",")


def device_of(directory: str) -> str:
    """The device whose directory is called `directory`.

    The way back is not unique. The type and number of a device stand behind `device_`, and the type may hold an
    underscore (`XLA_GPU`); in every other part the first underscore was a colon (a job may be called `my_job`).
    """
    return "/".join(map(_part, directory.removeprefix(DEVICE_PREFIX).split(",")))


def _part(text: str) -> str:
    if text.startswith("device_"):
        kind, mark, number = text.removeprefix("device_").rpartition("_")
        return f"device:{kind}:{number}" if mark else f"device:{number}"
    return text.replace("_", ":", 1)
