"""Programs in the manner of TensorFlow's guides, small, on synthetic data: sound, and with a bad value planted."""

from __future__ import annotations

from dataclasses import dataclass

_STEP = "# STEP\n"


@dataclass(frozen=True)
class Plant:
    """A mistake, as people make it: texts of a program, each with what stands in its place.

    `origin` is the op type that first gives what is not finite, `line` a part of the program's line, `cause` of the
    sentence that explains it, `rows` the rows of the batch that did it, None where there is no batch. `names` are
    local names of the call of the program that is running then, when it runs eagerly.
    """

    changes: tuple[tuple[str, str], ...]
    origin: str
    line: str
    cause: str
    rows: tuple[int, ...] | None
    names: tuple[str, ...]


@dataclass(frozen=True)
class GuideProgram:
    """A script without a mistake; what it can make a tf.function of is marked."""

    text: str
    plants: dict[str, Plant]

    def script(self, *, functions: bool, plant: str | None = None) -> str:
        """The script with its steps as functions, or eager; with the mistake `plant`, or none."""
        text = self.text.replace(_STEP, "@tf.function\n") if functions else self.text
        for old, new in self.plants[plant].changes if plant is not None else ():
            assert text.count(old) == 1, old
            text = text.replace(old, new)
        return text


_HEAD = """\
import numpy as np
import tensorflow as tf

tf.random.set_seed(22)
random = np.random.default_rng(7)
"""

# The basic training loop: https://www.tensorflow.org/guide/basic_training_loops
BASIC = GuideProgram(
    _HEAD
    + """
TRUE_W, TRUE_B, NUM_EXAMPLES = 3.0, 2.0, 64
x = tf.constant(np.linspace(-2, 2, NUM_EXAMPLES).astype("f"))
noise = tf.random.normal(shape=[NUM_EXAMPLES])
y = x * TRUE_W + TRUE_B + noise


class MyModel(tf.Module):
    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.w = tf.Variable(5.0)
        self.b = tf.Variable(0.0)

    def __call__(self, x):
        return self.w * x + self.b


def loss(target_y, predicted_y):
    return tf.reduce_mean(tf.square(target_y - predicted_y))


# STEP
def train(model, x, y, learning_rate):
    with tf.GradientTape() as t:
        current_loss = loss(y, model(x))
    dw, db = t.gradient(current_loss, [model.w, model.b])
    model.w.assign_sub(learning_rate * dw)
    model.b.assign_sub(learning_rate * db)


model = MyModel()
weights, biases = [], []


def report(model, loss):
    return f"W = {model.w.numpy():1.6f}, b = {model.b.numpy():1.6f}, loss={loss:2.6f}"


def training_loop(model, x, y):
    for epoch in range(40):
        train(model, x, y, learning_rate=0.1)
        weights.append(model.w.numpy())
        biases.append(model.b.numpy())
        current_loss = loss(y, model(x))
        print(f"Epoch {epoch:2d}:", report(model, current_loss))


print("Starting:", report(model, loss(y, model(x))))
training_loop(model, x, y)
""",
    {
        "exploding": Plant(
            (("learning_rate=0.1", "learning_rate=1000.0"),),
            "Square", "tf.reduce_mean(tf.square(target_y - predicted_y))", "Overflow",
            tuple(row for row in range(64) if row != 34), ("target_y", "predicted_y"),
        ),
    },
)  # fmt: skip

# DCGAN: https://www.tensorflow.org/tutorials/generative/dcgan
GAN = GuideProgram(
    _HEAD
    + """
from tensorflow.keras import layers

train_images = random.uniform(0, 255, (32, 8, 8, 1)).astype("float32")
train_images[13, :4] = 255
train_images = (train_images - 127.5) / 127.5
BATCH_SIZE, noise_dim = 8, 6
train_dataset = tf.data.Dataset.from_tensor_slices(train_images).batch(BATCH_SIZE)


def make_generator_model():
    model = tf.keras.Sequential()
    model.add(layers.Dense(4 * 4 * 4, use_bias=False, input_shape=(noise_dim,)))
    model.add(layers.BatchNormalization())
    model.add(layers.LeakyReLU())
    model.add(layers.Reshape((4, 4, 4)))
    model.add(layers.Conv2DTranspose(1, (3, 3), strides=(2, 2), padding="same", use_bias=False, activation="tanh"))
    return model


def make_discriminator_model():
    model = tf.keras.Sequential()
    model.add(layers.Conv2D(4, (3, 3), strides=(2, 2), padding="same", input_shape=[8, 8, 1]))
    model.add(layers.LeakyReLU())
    model.add(layers.Dropout(0.3))
    model.add(layers.Flatten())
    model.add(layers.Dense(1))
    return model


tf.keras.utils.set_random_seed(4)
generator, discriminator = make_generator_model(), make_discriminator_model()
cross_entropy = tf.keras.losses.BinaryCrossentropy(from_logits=True)


def discriminator_loss(real_output, fake_output):
    real_loss = cross_entropy(tf.ones_like(real_output), real_output)
    fake_loss = cross_entropy(tf.zeros_like(fake_output), fake_output)
    return real_loss + fake_loss


def generator_loss(fake_output):
    return cross_entropy(tf.ones_like(fake_output), fake_output)


generator_optimizer = tf.keras.optimizers.Adam(1e-3)
discriminator_optimizer = tf.keras.optimizers.Adam(1e-3)


# STEP
def train_step(images):
    noise = tf.random.stateless_normal([BATCH_SIZE, noise_dim], seed=(1, 2))
    with tf.GradientTape() as gen_tape, tf.GradientTape() as disc_tape:
        generated_images = generator(noise, training=True)
        real_output = discriminator(images, training=True)
        fake_output = discriminator(generated_images, training=True)
        gen_loss = generator_loss(fake_output)
        disc_loss = discriminator_loss(real_output, fake_output)
    gradients_of_generator = gen_tape.gradient(gen_loss, generator.trainable_variables)
    gradients_of_discriminator = disc_tape.gradient(disc_loss, discriminator.trainable_variables)
    generator_optimizer.apply_gradients(zip(gradients_of_generator, generator.trainable_variables))
    discriminator_optimizer.apply_gradients(zip(gradients_of_discriminator, discriminator.trainable_variables))
    return gen_loss, disc_loss


def train(dataset, epochs):
    for epoch in range(epochs):
        for image_batch in dataset:
            gen_loss, disc_loss = train_step(image_batch)
            print(f"{gen_loss.numpy():.6f} {disc_loss.numpy():.6f}")


train(train_dataset, 2)
print(float(tf.reduce_sum(generator(tf.ones((1, noise_dim)), training=False))))
""",
    {
        # The images are divided by their own deviation, and one of them is blank.
        "blank_image": Plant(
            (
                ("train_images[13, :4] = 255", "train_images[13] = 255"),
                (
                    "        real_output = discriminator(images, training=True)\n",
                    "        spread = tf.math.reduce_std(images, axis=[1, 2, 3], keepdims=True)\n"
                    "        images = (images - tf.reduce_mean(images, axis=[1, 2, 3], keepdims=True)) / spread\n"
                    "        real_output = discriminator(images, training=True)\n",
                ),
            ),
            "RealDiv", "keepdims=True)) / spread", "deviation of 0", (5,), ("images", "spread", "noise", "gen_tape"),
        ),
        # The cross entropy written out, of a discriminator that is very sure.
        "written_out": Plant(
            (
                (
                    "    real_loss = cross_entropy(tf.ones_like(real_output), real_output)\n",
                    "    real_loss = -tf.reduce_mean(tf.math.log(tf.sigmoid(200.0 * real_output)))\n",
                ),
            ),
            "Log", "tf.math.log(tf.sigmoid(200.0 * real_output))", "Log of 0", (6,), ("real_output", "fake_output"),
        ),
    },
)  # fmt: skip

# Translation with attention: https://www.tensorflow.org/text/tutorials/nmt_with_attention (its first version)
TRANSLATION = GuideProgram(
    _HEAD
    + """
tf.keras.utils.set_random_seed(3)
VOCABULARY, UNITS, EMBEDDING, BATCH_SIZE, START = 12, 6, 5, 4, 1
source = random.integers(2, VOCABULARY, (8, 5))
target = np.concatenate([np.full((8, 1), START), random.integers(2, VOCABULARY, (8, 4))], axis=1)
for row, length in enumerate(random.integers(2, 5, 8)):
    source[row, length:] = 0
    target[row, length:] = 0
dataset = tf.data.Dataset.from_tensor_slices((source, target)).batch(BATCH_SIZE, drop_remainder=True)


class Encoder(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.embedding = tf.keras.layers.Embedding(VOCABULARY, EMBEDDING)
        self.gru = tf.keras.layers.GRU(UNITS, return_sequences=True, return_state=True)

    def call(self, x, hidden):
        output, state = self.gru(self.embedding(x), initial_state=hidden)
        return output, state


class BahdanauAttention(tf.keras.layers.Layer):
    def __init__(self, units):
        super().__init__()
        self.W1 = tf.keras.layers.Dense(units)
        self.W2 = tf.keras.layers.Dense(units)
        self.V = tf.keras.layers.Dense(1)

    def call(self, query, values, mask):
        query_with_time_axis = tf.expand_dims(query, 1)
        score = self.V(tf.nn.tanh(self.W1(query_with_time_axis) + self.W2(values)))
        score = tf.where(mask[:, :, tf.newaxis], score, -1e9)
        attention_weights = tf.nn.softmax(score, axis=1)
        context_vector = tf.reduce_sum(attention_weights * values, axis=1)
        return context_vector, attention_weights


class Decoder(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.embedding = tf.keras.layers.Embedding(VOCABULARY, EMBEDDING)
        self.gru = tf.keras.layers.GRU(UNITS, return_sequences=True, return_state=True)
        self.fc = tf.keras.layers.Dense(VOCABULARY)
        self.attention = BahdanauAttention(UNITS)

    def call(self, x, hidden, enc_output, mask):
        context_vector, attention_weights = self.attention(hidden, enc_output, mask)
        x = tf.concat([tf.expand_dims(context_vector, 1), self.embedding(x)], axis=-1)
        output, state = self.gru(x)
        return self.fc(tf.reshape(output, (-1, output.shape[2]))), state, attention_weights


encoder, decoder = Encoder(), Decoder()
optimizer = tf.keras.optimizers.Adam()
loss_object = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True, reduction="none")


def loss_function(real, pred):
    mask = tf.math.logical_not(tf.math.equal(real, 0))
    loss_ = loss_object(real, pred)
    mask = tf.cast(mask, dtype=loss_.dtype)
    loss_ *= mask
    return tf.reduce_mean(loss_)


# STEP
def train_step(inp, targ, enc_hidden):
    loss = 0.0
    with tf.GradientTape() as tape:
        enc_output, enc_hidden = encoder(inp, enc_hidden)
        dec_hidden = enc_hidden
        dec_input = tf.expand_dims([START] * BATCH_SIZE, 1)
        for t in range(1, targ.shape[1]):
            predictions, dec_hidden, _ = decoder(dec_input, dec_hidden, enc_output, tf.not_equal(inp, 0))
            loss += loss_function(targ[:, t], predictions)
            dec_input = tf.expand_dims(targ[:, t], 1)
    batch_loss = loss / int(targ.shape[1])
    variables = encoder.trainable_variables + decoder.trainable_variables
    gradients = tape.gradient(loss, variables)
    optimizer.apply_gradients(zip(gradients, variables))
    return batch_loss


for epoch in range(2):
    enc_hidden = tf.zeros((BATCH_SIZE, UNITS))
    total_loss = 0
    for batch, (inp, targ) in enumerate(dataset):
        batch_loss = train_step(inp, targ, enc_hidden)
        total_loss += batch_loss
        print(f"Epoch {epoch + 1} Batch {batch} Loss {batch_loss.numpy():.6f}")
    print(f"Epoch {epoch + 1} Loss {total_loss.numpy() / 2:.6f}")
""",
    {
        # A mask of -inf, which is meant so, and a sentence without a word.
        "no_words": Plant(
            (("score, -1e9)", "score, -np.inf)"), ("\ndataset = ", "\nsource[6] = 0\ndataset = ")),
            "Softmax", "attention_weights = tf.nn.softmax(score, axis=1)", "-inf", (2,),
            ("query", "values", "mask", "score"),
        ),
        # The loss is divided by the number of words, of which there are none at the last place of a batch.
        "no_targets": Plant(
            (
                ("return tf.reduce_mean(loss_)", "return tf.reduce_sum(loss_) / tf.reduce_sum(mask)"),
                ("\ndataset = ", "\ntarget[4:, 4] = 0\ndataset = "),
            ),
            "RealDiv", "tf.reduce_sum(loss_) / tf.reduce_sum(mask)", "0 / 0", None, ("real", "pred", "loss_", "mask"),
        ),
    },
)  # fmt: skip

# Actor and critic: https://www.tensorflow.org/tutorials/reinforcement_learning/actor_critic
ACTOR_CRITIC = GuideProgram(
    _HEAD
    + """
tf.keras.utils.set_random_seed(42)
eps = np.finfo(np.float32).eps.item()


class Walk:
    def reset(self):
        self.place = np.zeros(3, "float32")
        self.turns = 0
        return self.place

    def step(self, action):
        self.turns += 1
        self.place = np.roll(self.place, 1) + np.float32(action - 0.5)
        done = self.turns >= 4 + action or abs(self.place).max() > 1
        return self.place, float(self.turns), done


env = Walk()


class ActorCritic(tf.keras.Model):
    def __init__(self, num_actions, num_hidden_units):
        super().__init__()
        self.common = tf.keras.layers.Dense(num_hidden_units, activation="relu")
        self.actor = tf.keras.layers.Dense(num_actions)
        self.critic = tf.keras.layers.Dense(1)

    def call(self, inputs):
        x = self.common(inputs)
        return self.actor(x), self.critic(x)


model = ActorCritic(2, 8)
model(tf.zeros((1, 3)))


def env_step(action):
    state, reward, done = env.step(action)
    return state.astype(np.float32), np.array(reward, np.int32), np.array(done, np.int32)


def tf_env_step(action):
    return tf.numpy_function(env_step, [action], (tf.float32, tf.int32, tf.int32))


def run_episode(initial_state, model, max_steps, seed):
    action_probs = tf.TensorArray(dtype=tf.float32, size=0, dynamic_size=True)
    values = tf.TensorArray(dtype=tf.float32, size=0, dynamic_size=True)
    rewards = tf.TensorArray(dtype=tf.int32, size=0, dynamic_size=True)
    initial_state_shape = initial_state.shape
    state = initial_state
    for t in tf.range(max_steps):
        state = tf.expand_dims(state, 0)
        action_logits_t, value = model(state)
        action = tf.random.stateless_categorical(action_logits_t, 1, [seed, t])[0, 0]
        action_probs_t = tf.nn.softmax(action_logits_t)
        values = values.write(t, tf.squeeze(value))
        action_probs = action_probs.write(t, action_probs_t[0, action])
        state, reward, done = tf_env_step(action)
        state.set_shape(initial_state_shape)
        rewards = rewards.write(t, reward)
        if tf.cast(done, tf.bool):
            break
    return action_probs.stack(), values.stack(), rewards.stack()


def get_expected_return(rewards, gamma, standardize=True):
    n = tf.shape(rewards)[0]
    returns = tf.TensorArray(dtype=tf.float32, size=n)
    rewards = tf.cast(rewards[::-1], dtype=tf.float32)
    discounted_sum = tf.constant(0.0)
    discounted_sum_shape = discounted_sum.shape
    for i in tf.range(n):
        reward = rewards[i]
        discounted_sum = reward + gamma * discounted_sum
        discounted_sum.set_shape(discounted_sum_shape)
        returns = returns.write(i, discounted_sum)
    returns = returns.stack()[::-1]
    if standardize:
        returns = (returns - tf.math.reduce_mean(returns)) / (tf.math.reduce_std(returns) + eps)
    return returns


huber_loss = tf.keras.losses.Huber(reduction="sum")


def compute_loss(action_probs, values, returns):
    advantage = returns - values
    action_log_probs = tf.math.log(action_probs)
    actor_loss = -tf.math.reduce_sum(action_log_probs * advantage)
    critic_loss = huber_loss(values, returns)
    return actor_loss + critic_loss


optimizer = tf.keras.optimizers.Adam(learning_rate=0.01)


# STEP
def train_step(initial_state, model, optimizer, gamma, max_steps_per_episode, seed):
    with tf.GradientTape() as tape:
        action_probs, values, rewards = run_episode(initial_state, model, max_steps_per_episode, seed)
        returns = get_expected_return(rewards, gamma)
        action_probs, values, returns = [tf.expand_dims(x, 1) for x in [action_probs, values, returns]]
        loss = compute_loss(action_probs, values, returns)
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    episode_reward = tf.math.reduce_sum(rewards)
    return episode_reward


for i in range(4):
    initial_state = tf.constant(env.reset(), dtype=tf.float32)
    episode_reward = int(train_step(initial_state, model, optimizer, 0.99, 6, tf.constant(i)))
    print(i, episode_reward, float(tf.reduce_sum(model.actor.kernel)))
""",
    {
        # Standardized without an epsilon, and the episode ends at its first step.
        "short_episode": Plant(
            (
                ("(tf.math.reduce_std(returns) + eps)", "tf.math.reduce_std(returns)"),
                ("self.turns >= 4 + action", "self.turns >= 1"),
            ),
            "RealDiv", "/ tf.math.reduce_std(returns)", "deviation of 0", None, ("returns", "rewards", "gamma"),
        ),
        # The policy is so sure that what it does not do has the probability 0, and its logarithm is taken.
        "sure_policy": Plant(
            (
                ("action_probs = action_probs.write(t, action_probs_t[0, action])",
                 "action_probs = action_probs.write(t, action_probs_t[0, 1 - action])"),
                ("action_logits_t, value = model(state)", "action_logits_t, value = model(state * 1e4)"),
            ),
            "Log", "action_log_probs = tf.math.log(action_probs)", "Log of 0", None, ("action_probs", "advantage"),
        ),
    },
)  # fmt: skip

# Debugger V2: https://www.tensorflow.org/tensorboard/debugger_v2, whose program has the mistake
DEBUGGER_V2 = GuideProgram(
    _HEAD
    + """
IMAGE_SIZE, HIDDEN_SIZE, NUM_LABELS, BATCH_SIZE = 8, 16, 10, 20
centres = random.uniform(0, 1, (NUM_LABELS, IMAGE_SIZE * IMAGE_SIZE))
digits = np.arange(200) % NUM_LABELS
images = (centres[digits] + random.normal(0, 0.2, (200, IMAGE_SIZE * IMAGE_SIZE))).astype("float32")
labels = np.eye(NUM_LABELS, dtype="float32")[digits]
train_data = iter(tf.data.Dataset.from_tensor_slices((images, labels)).repeat().batch(BATCH_SIZE))
x_test, y_test = tf.constant(images[:100]), tf.constant(labels[:100])


def get_dense_weights(input_dim, output_dim, seed):
    initial_kernel = tf.random.stateless_truncated_normal([input_dim, output_dim], (seed, 42), stddev=0.1)
    kernel = tf.Variable(initial_kernel)
    bias = tf.Variable(tf.constant(0.1, shape=[output_dim]))
    return kernel, bias


# STEP
def dense_layer(weights, input_tensor, act=tf.nn.relu):
    kernel, bias = weights
    preactivate = tf.matmul(input_tensor, kernel) + bias
    activations = act(preactivate)
    return activations


hidden_weights = get_dense_weights(IMAGE_SIZE**2, HIDDEN_SIZE, 1)
output_weights = get_dense_weights(HIDDEN_SIZE, NUM_LABELS, 2)
variables = hidden_weights + output_weights


# STEP
def model(x):
    hidden_act = dense_layer(hidden_weights, x)
    logits_act = dense_layer(output_weights, hidden_act, tf.identity)
    y = tf.nn.softmax(logits_act)
    return y


# STEP
def loss(probs, labels):
    clipped_probs = tf.clip_by_value(probs, 1e-6, 1.0)
    diff = -labels * tf.math.log(clipped_probs)
    return tf.reduce_mean(diff)


optimizer = tf.keras.optimizers.Adam(learning_rate=0.025)
for i in range(6):
    x_train, y_train = next(train_data)
    with tf.GradientTape() as tape:
        y = model(x_train)
        loss_val = loss(y, y_train)
    grads = tape.gradient(loss_val, variables)
    optimizer.apply_gradients(zip(grads, variables))
    y = model(x_test)
    hits = tf.equal(tf.argmax(y, 1), tf.argmax(y_test, 1))
    accuracy = tf.reduce_mean(tf.cast(hits, tf.float32))
    print("Accuracy at step %d: %s, loss %r" % (i, accuracy.numpy(), loss_val.numpy()))
""",
    {
        "log_of_0": Plant(
            (
                ("    clipped_probs = tf.clip_by_value(probs, 1e-6, 1.0)\n", ""),
                ("tf.math.log(clipped_probs)", "tf.math.log(probs)"),
                ("learning_rate=0.025", "learning_rate=2.5"),
            ),
            "Log", "diff = -labels * tf.math.log(probs)", "Log of 0", tuple(range(20)), ("probs", "labels"),
        ),
        # A norm of the weights' change as a penalty, whose gradient at 0 is not finite.
        "root_at_0": Plant(
            (
                ("        loss_val = loss(y, y_train)\n",
                 "        loss_val = loss(y, y_train) + tf.sqrt(tf.reduce_sum((variables[0] - start) ** 2))\n"),
                ("optimizer = ", "start = tf.identity(variables[0])\noptimizer = "),
            ),
            "SqrtGrad", "grads = tape.gradient(loss_val, variables)", "square root", None,
            ("tape", "start", "loss_val"),
        ),
    },
)  # fmt: skip

PROGRAMS = {
    name.lower(): value for name, value in list(globals().items()) if isinstance(value, GuideProgram)
}  # fmt: skip
