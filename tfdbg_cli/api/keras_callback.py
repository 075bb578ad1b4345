"""A callback that debugs what Keras does with a model: `model.fit(…, callbacks=[DebuggerCallback()])`."""

from __future__ import annotations

import os
from typing import Any

from tfdbg_cli.api.process import disable, enable
from tfdbg_cli.api.process_debugger import process_debugger
from tfdbg_cli.commands.asked.watch_decision import watch_decision


class DebuggerCallback:
    """Debugs every run from the beginning of `fit`, `evaluate` or `predict` to its end.

    It serves Keras 3 and tf_keras alike: Keras calls the methods of a callback, of whatever class it is.
    """

    # Attributes that Keras reads of a callback: its batch hooks need no results.
    async_safe = True
    _supports_tf_logs = True
    _chief_worker_only = None

    def __init__(
        self,
        ui_type: str | None = None,
        watch: str | None = None,
        *,
        exclude_node_names: str = "",
        keep: int = 0,
        values: str = "auto",
        bundle: str | os.PathLike[str] | None = None,
        skip_update: bool = False,
        benign: str = "",
    ) -> None:
        """Make a callback.

        Args:
            ui_type: as for `enable`.
            watch: the name of a filter. Instead of stopping before the first step, run until a tensor passes the
                filter, as `run -f` does.
            exclude_node_names: this and the following arguments are those of `set_watch`.
            keep: how many steps before the hit keep their values.
            values: "keep", "replay" or "auto".
            bundle: a new folder for the bad step.
            skip_update: put the weights back as they were before the bad step.
            benign: "skip" or "stop".

        Raises:
            TfdbgError: the arguments of the watch contradict each other.

        """
        self.params: dict[str, Any] = {}
        self.model: Any = None
        self._ui_type = ui_type
        self._watch = watch and watch_decision(
            watch,
            exclude_node_names,
            values=values,
            keep=keep,
            bundle=os.fspath(bundle) if bundle is not None else "",
            skip_update=skip_update,
            benign=benign,
        )
        self._begun = 0

    def set_params(self, params: dict[str, Any]) -> None:
        """Called by Keras with the parameters of `fit`, `evaluate` or `predict`."""
        self.params = params

    def set_model(self, model: Any) -> None:
        """Called by Keras with the model."""
        self.model = model

    def on_train_begin(self, logs: Any = None) -> None:
        """Start debugging with `fit`."""
        self._leave()  # Keras does not call `on_train_end` after an exception
        self._begin()

    def on_test_begin(self, logs: Any = None) -> None:
        """Begin with `evaluate`, or with the validation of `fit`."""
        self._begin()

    def on_predict_begin(self, logs: Any = None) -> None:
        """Begin with `predict`."""
        self._begin()

    def on_train_end(self, logs: Any = None) -> None:
        """Leave TensorFlow as it was."""
        self._leave()

    def on_test_end(self, logs: Any = None) -> None:
        """End with the validation, or with `evaluate`."""
        self._end()

    def on_predict_end(self, logs: Any = None) -> None:
        """End with `predict`."""
        self._end()

    def _begin(self) -> None:
        enable(self._ui_type)
        self._begun += 1
        if self._begun == 1 and self._watch:
            process_debugger().debugger.set_watch(self._watch)

    def _end(self) -> None:
        if self._begun:
            self._begun -= 1
            disable()

    def _leave(self) -> None:
        while self._begun:
            self._end()

    def _nothing(self, *_: Any, **__: Any) -> None:
        """Ignore epochs and batches: their runs are intercepted anyway."""

    on_epoch_begin = on_epoch_end = _nothing
    on_batch_begin = on_batch_end = _nothing
    on_train_batch_begin = on_train_batch_end = _nothing
    on_test_batch_begin = on_test_batch_end = _nothing
    on_predict_batch_begin = on_predict_batch_end = _nothing

    def _implements_train_batch_hooks(self) -> bool:
        return False  # asked by tf_keras, which then keeps the numbers of a batch to itself

    _implements_test_batch_hooks = _implements_predict_batch_hooks = _implements_train_batch_hooks
