"""TensorFlow Probability and GPflow, where they are installed: sampling, and a regression that fails."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from zoo.twins import Program, failing, twins

pytestmark = pytest.mark.tf


def test_hamiltonian_monte_carlo() -> None:
    import tensorflow as tf

    tfp = pytest.importorskip("tensorflow_probability")

    def build() -> Program:
        target = tfp.distributions.MultivariateNormalDiag([1.0, -1.0], [0.5, 2.0])
        kernel = tfp.mcmc.HamiltonianMonteCarlo(target.log_prob, step_size=0.3, num_leapfrog_steps=3)
        adaptive = tfp.mcmc.SimpleStepSizeAdaptation(kernel, num_adaptation_steps=6)
        state = tf.Variable([0.0, 0.0])
        count = tf.Variable(0)

        @tf.function
        def step() -> Any:
            seed = tf.stack([count.assign_add(1), 5])
            samples, accepted = tfp.mcmc.sample_chain(
                8,
                current_state=state,
                kernel=adaptive,
                seed=seed,
                trace_fn=lambda _, results: results.inner_results.is_accepted,
            )
            state.assign(samples[-1])
            return samples, accepted

        return Program(step, lambda: [state, count])

    twins(build, 10)


def test_regression_with_gpflow() -> None:
    import tensorflow as tf

    gpflow = pytest.importorskip("gpflow")
    x = np.linspace(0, 1, 8)[:, None]

    def build() -> Program:
        model = gpflow.models.GPR((x, np.sin(6 * x)), gpflow.kernels.SquaredExponential())
        optimizer = tf.keras.optimizers.Adam(0.05)
        optimizer.build(model.trainable_variables)

        @tf.function
        def step() -> Any:
            with tf.GradientTape() as tape:
                loss = model.training_loss()
            gradients = tape.gradient(loss, model.trainable_variables)
            optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))
            return loss, model.predict_f(x[:2])

        return Program(step, lambda: [*model.trainable_variables, *(v.value for v in optimizer.variables)])

    # The optimized graphs are the same, yet one gradient in double precision differs in its last bit.
    twins(build, 10, exact=False)


def test_regression_whose_cholesky_fails() -> None:
    """The covariance of equal points is singular once rounding swallows the noise: the same exception, to the letter.

    TensorFlow's kernel gives NaN for a factor that does not exist; the check makes it an exception.
    """
    import tensorflow as tf

    gpflow = pytest.importorskip("gpflow")
    x = np.array([[0.0], [0.0], [1.0]])
    model = gpflow.models.GPR((x, x), gpflow.kernels.SquaredExponential(), noise_variance=1e-5)
    variance = tf.Variable(1.0, dtype=tf.float64)

    @tf.function
    def loss() -> Any:
        return tf.debugging.check_numerics(model.training_loss(), "the loss")

    def step() -> Any:
        model.kernel.variance.assign(variance.assign(variance * 1e3))
        return loss()

    witness = failing(Program(step, lambda: [variance]))
    run = witness.runs[-1]
    assert run.error is not None and run.error.type_name == "InvalidArgumentError"
    assert run.error.node is not None and run.graph.node(run.error.node).op_type == "CheckNumerics"
