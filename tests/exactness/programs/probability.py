"""Programs of GPflow, TensorFlow Probability and Sonnet: Gaussian processes, sampling, variational inference."""

from __future__ import annotations

from typing import Any

import numpy as np

from exactness.courses import Build, Plant, Program, stepwise, variables
from exactness.programs.planting import PLANTED, hidden


def sparse_process() -> Build:
    """GPflow's SVGP in float64: natural gradients for the variational parameters, Adam for the others."""
    import gpflow

    def build(plant: Plant) -> Program:
        import keras
        import tensorflow as tf

        inducing = np.linspace(0.05, 0.95, 6)[:, None]
        model = gpflow.models.SVGP(
            gpflow.kernels.SquaredExponential(lengthscales=0.3),
            gpflow.likelihoods.Gaussian(0.1),
            inducing,
            num_data=80,
        )
        gpflow.set_trainable(model.q_mu, False)
        gpflow.set_trainable(model.q_sqrt, False)
        natural = gpflow.optimizers.NaturalGradient(gamma=0.1)
        adam = keras.optimizers.Adam(0.01)
        adam.build(model.trainable_variables)

        @tf.function
        def step(x: Any, y: Any) -> Any:
            closure = model.training_loss_closure((hidden(x), y), compile=False)
            natural.minimize(closure, [(model.q_mu, model.q_sqrt)])
            with tf.GradientTape() as tape:
                loss = closure()
            gradients = tape.gradient(loss, model.trainable_variables)
            adam.apply_gradients(zip(gradients, model.trainable_variables, strict=True))
            return loss

        def at(number: int) -> Any:
            x = _sample(plant, number)
            return step(x, np.sin(6 * np.maximum(x, -1)))

        return Program(stepwise(at), lambda: variables(model.variables, adam))

    return build


def process() -> Build:
    """GPflow's GPR in float64, with a prediction in each step."""
    import gpflow

    def build(plant: Plant) -> Program:
        import keras
        import tensorflow as tf

        x = np.linspace(0, 1, 12)[:, None]
        kernel = gpflow.kernels.Matern32(lengthscales=0.4) + gpflow.kernels.Linear(variance=0.2)
        model = gpflow.models.GPR((x, np.sin(6 * x) + 0.2 * x), kernel)
        adam = keras.optimizers.Adam(0.02)
        adam.build(model.trainable_variables)

        @tf.function
        def step(at: Any) -> Any:
            with tf.GradientTape() as tape:
                loss = model.training_loss()
            gradients = tape.gradient(loss, model.trainable_variables)
            adam.apply_gradients(zip(gradients, model.trainable_variables, strict=True))
            return loss, model.predict_f(hidden(at))

        return Program(
            stepwise(lambda number: step(_sample(plant, number))), lambda: variables(model.variables, adam)
        )

    return build


def no_u_turn() -> Build:
    """TensorFlow Probability's NUTS with an adapted step size, started where the step before ended."""
    import tensorflow_probability as tfp

    def build(plant: Plant) -> Program:
        import tensorflow as tf

        state, count = tf.Variable([0.1, -0.2], name="state"), tf.Variable(0, name="count")

        @tf.function
        def step(data: Any) -> Any:
            data = hidden(data)

            def log_probability(z: Any) -> Any:
                return tf.reduce_sum(-0.5 * (data - z[..., :1]) ** 2 * tf.exp(-z[..., 1:])) - tf.reduce_sum(z**2)

            kernel = tfp.mcmc.DualAveragingStepSizeAdaptation(
                tfp.mcmc.NoUTurnSampler(log_probability, step_size=0.1, max_tree_depth=3), num_adaptation_steps=1
            )
            samples, energy = tfp.mcmc.sample_chain(
                2,
                current_state=state,
                kernel=kernel,
                seed=tf.stack([count.assign_add(1), 5]),
                trace_fn=lambda _, results: results.inner_results.target_log_prob,
            )
            state.assign(samples[-1])
            return samples, energy

        return Program(
            stepwise(lambda number: step(tf.cast(_sample(plant, number)[:, 0], tf.float32))),
            lambda: variables([state, count]),
        )

    return build


def variational() -> Build:
    """A variational autoencoder of TensorFlow Probability's distributions; samples follow from a count of steps."""
    import tensorflow_probability as tfp

    def build(plant: Plant) -> Program:
        import keras
        import tensorflow as tf

        of = tfp.distributions
        encoder = keras.Sequential([keras.Input((6,)), keras.layers.Dense(8, "softplus"), keras.layers.Dense(4)])
        decoder = keras.Sequential([keras.Input((2,)), keras.layers.Dense(8, "softplus"), keras.layers.Dense(6)])
        held = [*encoder.trainable_variables, *decoder.trainable_variables]
        count = tf.Variable(0, name="count")
        adam = keras.optimizers.Adam(0.01)
        adam.build(held)

        @tf.function
        def step(x: Any) -> Any:
            x = hidden(x)
            with tf.GradientTape() as tape:
                mean, scale = tf.split(encoder(x), 2, axis=-1)
                posterior = of.MultivariateNormalDiag(mean, tf.nn.softplus(scale) + 1e-3)
                z = posterior.sample(seed=tf.stack([count.assign_add(1), 7]))
                prior = of.MultivariateNormalDiag(tf.zeros(2), tf.ones(2))
                likelihood = of.Independent(of.StudentT(3.0, decoder(z), 0.5), 1).log_prob(x)
                loss = -tf.reduce_mean(likelihood - of.kl_divergence(posterior, prior))
            gradients = tape.gradient(loss, [v.value for v in held])
            adam.apply_gradients(zip(gradients, held, strict=True))
            return loss

        def at(number: int) -> Any:
            x = np.random.RandomState(number).normal(size=(8, 6)).astype(np.float32)
            if plant(number):
                x[0, 0] = PLANTED
            return step(tf.constant(x))

        return Program(stepwise(at), lambda: variables(encoder, decoder, adam, [count]))

    return build


def sonnet() -> Build:
    """A convolution and an LSTM of Sonnet, with batch normalization and Sonnet's own RMSProp."""
    import sonnet as snt

    def build(plant: Plant) -> Program:
        import tensorflow as tf

        convolution, norm = snt.Conv1D(6, 3), snt.BatchNorm(True, True)
        recurrent, head = snt.LSTM(8), snt.Linear(2)
        optimizer = snt.optimizers.RMSProp(0.01, momentum=0.9)
        modules = [convolution, norm, recurrent, head]

        def given(x: Any) -> Any:
            x = tf.nn.relu(norm(convolution(hidden(x)), is_training=True))
            steps, _ = snt.dynamic_unroll(recurrent, tf.transpose(x, [1, 0, 2]), recurrent.initial_state(4))
            return head(steps[-1])

        @tf.function
        def step(x: Any, y: Any) -> Any:
            with tf.GradientTape() as tape:
                loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=given(x)))
            held = [v for module in modules for v in module.trainable_variables]
            optimizer.apply(tape.gradient(loss, held), held)
            return loss

        def at(number: int) -> Any:
            x = np.random.RandomState(number).normal(size=(4, 5, 3)).astype(np.float32)
            if plant(number):
                x[0, 0, 0] = PLANTED
            return step(tf.constant(x), tf.constant([0, 1, 1, 0]))

        return Program(stepwise(at), lambda: variables(*modules, optimizer))

    return build


def _sample(plant: Plant, number: int) -> Any:
    """Eight numbers between 0 and 1, `[8, 1]`, in float64."""
    x = np.random.RandomState(number).uniform(size=(8, 1))
    if plant(number):
        x[0, 0] = PLANTED
    return x


PROGRAMS = {
    "GPflow SVGP": sparse_process,
    "GPflow GPR": process,
    "TFP NUTS": no_u_turn,
    "TFP variational": variational,
    "Sonnet": sonnet,
}
