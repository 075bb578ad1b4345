import pytest

from tfdbg_cli.model.sources import Frame, LiveSources, is_library, library_function, user_frame


@pytest.mark.parametrize(
    ("path", "library"),
    [
        ("/home/ada/train.py", False),
        ("/usr/lib/python3.11/site-packages/tensorflow/python/framework/ops.py", True),
        ("/opt/venv/lib/python3.12/site-packages/keras/src/layers/layer.py", True),
        ("/opt/venv/lib/python3.12/runpy.py", True),
        ("/usr/lib/python3/dist-packages/numpy/core.py", True),
        ("C:\\Python311\\Lib\\site-packages\\tf_keras\\engine.py", True),
        ("<frozen runpy>", True),
        ("/opt/venv/lib/python3.12/site-packages/tfdbg_cli/examples/classifier.py", False),
        ("/src/tfdbg/tfdbg_cli/capture/session/session.py", True),
        ("/opt/venv/bin/tfdbg", True),
        ("/tmp/ipykernel_1/123.py", False),
        ("numpy/random/mtrand.pyx", True),
        ("mtrand.pyx", True),
        ("/home/ada/fast.pyx", False),
    ],
)
def test_keras_and_other_packages_are_not_the_users_code(path, library):
    """TensorFlow's tfdbg: keras frames were shown as user code."""
    assert is_library(path) is library


def test_notebook_cells_are_the_program_and_generated_code_is_not() -> None:
    assert not is_library("<ipython-input-3-0a1b2c>") and not is_library("/tmp/ipykernel_12/345.py")
    assert is_library("/tmp/__autograph_generated_filex1y2.py")


def test_the_user_frame_is_the_innermost_of_the_program():
    mine, deeper = Frame("/home/a/train.py", 3, "main"), Frame("/home/a/model.py", 9, "loss")
    library = Frame("/x/site-packages/keras/layer.py", 1, "call")
    assert user_frame((mine, library, deeper, library)) == deeper
    assert user_frame((library,)) is None


def test_the_function_that_the_program_called_is_none_of_what_tensorflow_puts_between():
    mine = Frame("/home/a/train.py", 3, "main")
    between = Frame("/x/site-packages/tensorflow/python/util/dispatch.py", 1, "op_dispatch_handler")
    called = Frame("/x/site-packages/tensorflow/python/ops/array_ops.py", 1, "where_v2")
    made = Frame("/x/site-packages/tensorflow/python/ops/gen_math_ops.py", 1, "select_v2")
    assert library_function((called, mine, between, called, made)) == "where_v2"
    assert library_function((made, mine)) == library_function(()) == ""


def test_live_sources_read_through_linecache(tmp_path):
    path = tmp_path / "a.py"
    path.write_text("x = 1\ny = 2\n")
    assert LiveSources().lines(str(path)) == ["x = 1", "y = 2"]
    assert LiveSources().lines(str(tmp_path / "missing.py")) is None
