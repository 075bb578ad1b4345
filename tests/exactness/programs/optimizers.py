"""Every optimizer of Keras 3 and of tf_keras, with every option and every pair of options, on small networks."""

from __future__ import annotations

import importlib
import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from support.libraries import WITHOUT

from exactness.courses import Plant, Program, stepwise, variables
from exactness.programs.fitting import fitted
from exactness.programs.networks import BATCH, NETWORKS, data_for, network
from exactness.programs.shared_gradients import shared_gradients

_STEPS_AT_HAND = 45  # of a program that takes its steps by itself

LIBRARIES = ("keras", "tf_keras")
OPTIONS: Mapping[str, Mapping[str, Any]] = {
    "plain": {},
    "clipnorm": {"clipnorm": 0.1},
    "global_clipnorm": {"global_clipnorm": 0.1},
    "clipvalue": {"clipvalue": 0.01},
    "weight_decay": {"weight_decay": 0.01},
    "use_ema": {"use_ema": True, "ema_momentum": 0.9, "ema_overwrite_frequency": 5},
    "gradient_accumulation_steps": {"gradient_accumulation_steps": 2},
    "loss_scale_factor": {"loss_scale_factor": 100.0},
    "loss scaling": {},  # the optimizer is wrapped, see `Combination.optimizer_made`
    "momentum": {"momentum": 0.9},
    "nesterov": {"momentum": 0.9, "nesterov": True},
    "amsgrad": {"amsgrad": True},
    "centered": {"centered": True},
    "compiled": {},  # by XLA
}
# In pairs one is of what the optimizer computes, and one of what is done to gradients or to variables around it.
_INNER = ("weight_decay", "nesterov", "amsgrad", "centered")
_AROUND = (
    "clipnorm", "global_clipnorm", "clipvalue", "use_ema", "gradient_accumulation_steps", "loss scaling",
)  # fmt: skip
_LARGE_SCALE = 2.0**126  # with it the first steps overflow, and are left out
OPTIMIZERS = (
    "Adadelta", "Adafactor", "Adagrad", "Adam", "AdamW", "Adamax", "Ftrl", "Lamb", "Lion", "Muon", "Nadam", "RMSprop",
    "SGD", "ScheduleFreeAdamW",
)  # fmt: skip
# The first is the class of them all; the others hold optimizers: one is what "loss scaling" means here.
_NO_OPTIMIZERS = {"Optimizer", "LossScaleOptimizer", "OptimizerMap", "MultiOptimizer"}


@dataclass(frozen=True)
class Combination:
    """An optimizer by its class, the options it is given, and the network it trains."""

    library: str
    optimizer: str
    options: tuple[str, ...]
    network: str

    @property
    def name(self) -> str:
        return f"{self.library}.{self.optimizer}({', '.join(self.options)}) of {self.network}"

    def optimizer_made(self) -> Any:
        """The optimizer. Whatever it raises where it does not know an option."""
        keras = importlib.import_module(self.library)
        given = {key: value for option in self.options for key, value in OPTIONS[option].items()}
        optimizer = getattr(keras.optimizers, self.optimizer)(learning_rate=0.02, **given)
        if "loss scaling" not in self.options:
            return optimizer
        if self.library == "keras":
            return keras.optimizers.LossScaleOptimizer(optimizer, _LARGE_SCALE, 7)
        return keras.mixed_precision.LossScaleOptimizer(optimizer, initial_scale=_LARGE_SCALE, dynamic_growth_steps=7)

    def accepted(self) -> bool:
        """Whether the optimizer knows these options."""
        try:
            self.optimizer_made()
        except (TypeError, ValueError):
            return False
        return True

    def build(self, plant: Plant) -> Program:
        """`fit` of the network with the optimizer."""
        keras = importlib.import_module(self.library)
        model = network(keras, self.network)
        loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
        model.compile(self.optimizer_made(), loss, jit_compile="compiled" in self.options)
        return fitted(keras, model, data_for(self.network, plant), BATCH)

    def build_stepwise(self, plant: Plant) -> Program:
        """The same with a step of its own in the place of `fit`, which takes a second to begin."""
        import tensorflow as tf

        keras = importlib.import_module(self.library)
        model, optimizer = network(keras, self.network), self.optimizer_made()
        of_classes = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
        held = model.trainable_variables
        raw = [v.value for v in held] if self.library == "keras" else held
        optimizer.build(held)
        scaled = getattr(optimizer, "scale_loss", None) or getattr(optimizer, "get_scaled_loss", lambda loss: loss)
        unscaled = getattr(optimizer, "get_unscaled_gradients", lambda gradients: gradients)

        def step(x: Any, y: Any) -> Any:
            with tf.GradientTape() as tape:
                loss = of_classes(y, model(x, training=True))
                to_derive = scaled(loss)
            gradients = tape.gradient(to_derive, raw)
            optimizer.apply_gradients(list(zip(unscaled(gradients), held, strict=True)))
            return loss

        return self._program(model, optimizer, step)(plant)

    def build_shared(self, plant: Plant, *, few: bool = False) -> Program:
        """The same program, the network and its gradients those of all others; where the loss is scaled, its own.

        With `few`, of the variables of each rank only the first and the last are trained: an optimizer does with each
        what it does with any other of its rank.
        """
        if any("loss" in option for option in self.options):
            return self.build_stepwise(plant)
        shared = shared_gradients(self.library, self.network)
        model, optimizer = shared.put_back(), self.optimizer_made()
        held = model.trainable_variables
        chosen = _ends_of_ranks(held) if few else range(len(held))
        trained = [held[at] for at in chosen]
        optimizer.build(trained)

        def step(x: Any, y: Any) -> Any:
            loss, gradients = shared.added(x, y)
            optimizer.apply_gradients([(gradients[at], held[at]) for at in chosen])
            return loss

        return self._program(model, optimizer, step)(plant)

    def _program(self, model: Any, optimizer: Any, step: Callable[[Any, Any], Any]) -> Callable[[Plant], Program]:
        """The program that takes `step` again and again, for data in which something is planted."""
        import tensorflow as tf

        compiled = tf.function(step, autograph=False, jit_compile="compiled" in self.options)

        def planted(plant: Plant) -> Program:
            x, y = data_for(self.network, plant)(_STEPS_AT_HAND)

            def at(number: int) -> Any:
                rows = slice(number * BATCH, (number + 1) * BATCH)
                return compiled(tf.constant(x[rows]), tf.constant(y[rows]))

            return Program(stepwise(at), lambda: variables(model, optimizer), planted)

        return planted


def _ends_of_ranks(held: Sequence[Any]) -> list[int]:
    """The places of the first and the last variable of each rank."""
    ranks = [len(variable.shape) for variable in held]
    backwards = ranks[::-1]
    return sorted({at for rank in ranks for at in (ranks.index(rank), len(ranks) - 1 - backwards.index(rank))})


def optimizers() -> Iterator[tuple[str, str]]:
    """The libraries that are there, with each of their optimizers."""
    for library in LIBRARIES:
        if library in WITHOUT:
            continue
        listed = importlib.import_module(library).optimizers
        names = [name for name in dir(listed) if name[0].isupper() and name not in _NO_OPTIMIZERS]
        yield from ((library, name) for name in names)


def thinkable(library: str, optimizer: str) -> list[Combination]:
    """Every option with every network, every pair of options with Dense layers, known to the optimizer or not."""
    single = itertools.product(((option,) for option in OPTIONS), NETWORKS)
    pairs = ((pair, "Dense") for pair in itertools.product(_INNER, _AROUND))
    return [Combination(library, optimizer, options, trained) for options, trained in (*single, *pairs)]


def combinations() -> Iterator[Combination]:
    """All that the libraries accept of what is thinkable."""
    for library, optimizer in optimizers():
        known: dict[tuple[str, ...], bool] = {}
        for combination in thinkable(library, optimizer):
            if combination.options not in known:
                known[combination.options] = combination.accepted()
            if known[combination.options]:
                yield combination
