"""The kernel's own words in a message of TensorFlow."""

from __future__ import annotations

import pytest

from tfdbg_cli.analysis.error_text import essence, first_line

KERNEL = "Matrix size-incompatible: In[0]: [2,3], In[1]: [1,3]"
LONG = f"""Graph execution error:

Detected at node 'mm' defined at (most recent call last):
    File "train.py", line 6, in <module>
Node: 'mm'
{KERNEL}
\t [[{{{{node mm}}}}]]

Original stack trace for 'mm':
  File "train.py", line 6, in <module>
"""

FUNCTION = """Graph execution error:

Detected at node model/embedding/GatherV2 defined at (most recent call last):
  File "train.py", line 5, in <module>

  File "/venv/keras/src/utils/traceback_utils.py", line 117, in error_handler
    return fn(*args, **kwargs)

"""


@pytest.mark.parametrize(
    ("message", "words"),
    [
        (LONG, KERNEL),
        (f"{KERNEL}\n\t [[{{{{node mm}}}}]]", KERNEL),
        (f"{FUNCTION}{KERNEL}\n\t [[{{{{node mm}}}}]] [Op:__inference_step_259]", KERNEL),
        (f"{FUNCTION}{FUNCTION[FUNCTION.index('Detected') :]}{KERNEL}", KERNEL),
        (f"{FUNCTION}2 root error(s) found.\n  (0) INTERNAL: a", "2 root error(s) found.\n  (0) INTERNAL: a"),
        (f"{KERNEL}\n\t [[{{{{node mm}}}}]]\n\nErrors may have originated from an input operation.\nInput", KERNEL),
        (
            "2 root error(s) found.\n  (0) INTERNAL: a\n  (1) INTERNAL: b",
            "2 root error(s) found.\n  (0) INTERNAL: a\n  (1) INTERNAL: b",
        ),
        ("{{function_node __wrapped__MatMul_device_/job:localhost/device:CPU:0}} " + KERNEL, KERNEL),
        ("{{function_node only}}", "{{function_node only}}"),
        ("plain words\n\nsecond paragraph", "plain words\n\nsecond paragraph"),
        ("", ""),
        ("[[{{node only}}]]", "[[{{node only}}]]"),
        ("Graph execution error:\n\nno node line", "Graph execution error:\n\nno node line"),
    ],
)
def test_essence(message: str, words: str) -> None:
    assert essence(message) == words


def test_of_several_errors_the_first_is_told() -> None:
    """As of two replicas that were given nothing: the count alone tells nobody what went wrong."""
    several = "2 root error(s) found.\n  (0) INVALID_ARGUMENT:  You must feed x\n\t [[{{node x}}]]\n  (1) INTERNAL: b"
    assert first_line(several) == "You must feed x"
    assert first_line(KERNEL) == KERNEL.split("\n")[0] and first_line("") == ""
