"""What helps: sentences for the table of causes, with the words in braces that causes.py fills in.

Numbers are words too ({small}, {tiny}, {step}, {masked}), since they depend on the dtype: see `safe_numbers`.
"""

from __future__ import annotations

PROBABILITY = (
    "If {a} is a softmax or sigmoid, give its logits to tf.nn.log_softmax or"
    " tf.nn.softmax_cross_entropy_with_logits; otherwise use tf.math.log(tf.maximum(x, {small}))."
)
LOGITS = (
    "Give the logits to tf.nn.softmax_cross_entropy_with_logits or tf.nn.log_softmax instead of the probabilities"
    " (Keras: no softmax in the last layer, and from_logits=True in the loss)."
)
LEFT_OUT = (
    "Leave out what is masked: tf.math.xlogy(p, p) is 0 at 0; or mask the logits with a large finite number, such as"
    " {masked}, and take tf.nn.log_softmax of them."
)
BINARY_LOGITS = (
    "Give the logits to tf.nn.sigmoid_cross_entropy_with_logits or tf.math.log_sigmoid instead of the probabilities"
    " (Keras: no sigmoid in the last layer, and from_logits=True in the loss)."
)
SWAPPED = (
    "The logarithm is taken of the targets, and not of what the model predicts: are the arguments of the loss"
    " swapped? Keras calls loss(y_true, y_pred). If it is meant, as in a divergence, use tf.math.xlogy(p, p), which"
    " is 0 at 0, or tf.math.log(tf.maximum(x, {small}))."
)
FED = "Check what is fed as {a}, or use tf.math.log(tf.maximum(x, {small})); for counts take tf.math.log1p(x)."
AWAY_FROM_ZERO_LOG = (
    "Keep {a} away from 0: tf.math.log(tf.maximum(x, {small})), or tf.math.xlogy(p, x) where 0 * log(0) is to be 0."
)
POSITIVE = "Make {a} positive before the logarithm: tf.nn.softplus(x), or tf.maximum(x, {small})."
EIGENVALUES = (
    "Add a small multiple of the identity to the matrix, x + 1e-3 * tf.eye(n), which adds as much to each of them; or"
    " keep them above 0: tf.maximum(x, {steep})."
)
SAFE_DIVIDE = "Use tf.math.divide_no_nan(x, y), or add a small eps such as {steep} to the denominator."
EMPTY_MASK = (
    "Use tf.math.divide_no_nan(x, y), which gives 0 there; and look whether the data may be so, as a row or a batch"
    " of which everything is masked."
)
LOG_OF_QUOTIENT = (
    "A logarithm is taken of the quotient: take one of each side, tf.math.log(tf.maximum(x, {steep})) -"
    " tf.math.log(tf.maximum(y, {steep})); that of p / (1 - p), where p is a sigmoid, is its logit."
)
SAFE_RECIPROCAL = (
    "Use tf.math.divide_no_nan(1.0, x), which is 0 there, or keep {a} away from 0: tf.maximum(x, {steep})."
)
EMPTY_MAXIMUM = (
    "Say what is to stand for a row of which nothing is open: tf.where(tf.reduce_any(kept, axis), tf.reduce_max(x,"
    " axis), 0.0); or leave one element of each row open."
)
REMAINDER = (
    "Nothing remains of a division by 0: say what is to stand there, tf.where(y == 0, 0.0, tf.math.floormod(x,"
    " tf.where(y == 0, 1.0, y)))."
)
SAFE_FLOOR_DIVIDE = "Use tf.floor(tf.math.divide_no_nan(x, y)), which is 0 where y is 0."
RECTIFIED = (
    "A relu gives exactly 0 for every negative number: take tf.nn.softplus(x) + {small} in its place, which does not."
)
LOG_VARIANCE = (
    "Clip the logarithm of the variance, as by tf.clip_by_value(x, -10.0, 10.0), or let the layer give the deviation"
    " itself: tf.nn.softplus(x) + {small}, whose logarithm then stands for half of it."
)
FROM_ONE = "Steps are counted from 0: compute with step + 1. A small eps would give a huge number at the first step."
BELOW_ONE = (
    "Keep {a} above -1: tf.math.log1p(tf.maximum(x, -1 + {step})); for log1p(-p) of a sigmoid p take"
    " tf.math.log_sigmoid(-logits)."
)
OFF_THE_ORIGIN = (
    "The angle of a point at (0, 0) has no slope: move it first, x = tf.where((x == 0) & (y == 0), {steep}, x), or"
    " leave such points out."
)
ABOVE_ZERO = (
    "Clip it above 0, where 1/sqrt is infinite: tf.maximum(x, {steep}); a variance computed as E[x²]-E[x]² goes below"
    " 0 by rounding: use tf.nn.moments."
)
ABOVE_ONE = "Keep its argument above 1: tf.math.acosh(tf.maximum(x, 1 + {step}))."
DIVISIBLE = (
    "Keep {b} away from 0: tf.maximum(y, {steep}), by which {dtype} can divide in gradients too, or divide in float32"
    " (tf.cast)."
)
INVERTIBLE = (
    "Keep {a} away from 0: tf.maximum(x, {small}), which {dtype} can invert, or compute this in float32 (tf.cast)."
)
INVERTIBLE_SLOPE = (
    "Keep the argument away from 0: x + {steep}, so that {dtype} can hold the gradient too, or compute this in"
    " float32 (tf.cast)."
)
UNIT = (
    "Use tf.math.l2_normalize(x, axis, epsilon={tiny}), which leaves a vector of zeros as it is, in place of x /"
    " tf.norm(x); of what else is divided by it, tf.sqrt(tf.reduce_sum(x * x, axis) + {tiny})."
)
STANDARD = (
    "What never changes, such as a feature, has no deviation, nor has one number alone: add a small eps inside the"
    " root, x / tf.sqrt(variance + 1e-3), as tf.nn.batch_normalization and keras.layers.Normalization do."
)
STANDARD_VECTOR = (
    "Features that are all the same, such as those of a padding token, have no deviation, nor has one alone: add a"
    " small eps inside the root, x / tf.sqrt(variance + 1e-3), as keras.layers.LayerNormalization does."
)
STANDARD_ROW = (
    "A row whose numbers are all the same, such as an image of one colour, has no deviation: add a small eps inside"
    " the root, x / tf.sqrt(variance + 1e-3), or take tf.image.per_image_standardization, which bounds it."
)
RMS = (
    "Add a small eps: tf.math.rsqrt(tf.reduce_mean(tf.square(x), axis, keepdims=True) + 1e-6), as"
    " keras.layers.RMSNormalization does."
)
EPS_VARIANCE = "Add a small eps: tf.math.rsqrt(variance + 1e-3)."
EPS_OF_ROWS = f"{EPS_VARIANCE[:-1]}, as keras.layers.BatchNormalization does."
EPS_OF_FEATURES = f"{EPS_VARIANCE[:-1]}, as keras.layers.LayerNormalization does."
NO_INF = "Mask with a large negative number such as {masked} instead of -inf"
OPEN_ROW = f"{NO_INF}, and leave one element of each row open."
MASKED_LABEL = "Look at the mask and the label of that row: one of them is wrong; or leave such rows out of the loss."
CHOOSE = (
    "Choose instead of multiplying: tf.where(kept, 0.0, float('-inf')), or mask with {masked}, which times 0 is 0."
)
CAME_FROM = "Look where the infinities came from: `origin` without --nan."
EPS_SQRT = (
    "Take tf.sqrt(x + {tiny}). A tf.where around the root is not enough where XLA compiles it (jit_compile=True)."
)
EPS_NORM = (
    "A norm has no slope at 0: take tf.sqrt(tf.reduce_sum(tf.square(x), axis) + {tiny}), or train with the squared"
    " distance."
)
EPS_DEVIATION = (
    "A deviation has no slope at 0: take tf.sqrt(tf.math.reduce_variance(x, axis) + {tiny}) in the place of"
    " tf.math.reduce_std(x, axis)."
)
COMPLEX_AWAY_FROM_ZERO = (
    "A number that is 0 has no angle, and no slope there: move it first, z = tf.where(z == 0,"
    " tf.cast(1e-7, z.dtype), z)."
)
DEFINITE = (
    "All of its eigenvalues must be above 0: tf.linalg.eigvalsh(x) shows them. If one is 0 but for rounding, as of a"
    " matrix of low rank, add a multiple of the identity that is not lost beside the others: x + 1e-4 *"
    " tf.reduce_mean(tf.linalg.diag_part(x)) * tf.eye(n). If one is well below 0, look how the matrix is made."
)
AWAY_FROM_ZERO = "Keep its argument away from 0: tf.maximum(x, {small})."
CLIP_UNIT = "Clip it: tf.clip_by_value(x, -1 + {step}, 1 - {step})."
DIVERGES = (
    "The values diverge: lower the learning rate, clip gradients (tf.clip_by_global_norm, Keras: global_clipnorm=1.0)"
    " or normalize {large}."
)
TRAINING_DIVERGES = (
    "Lower the learning rate or warm it up, and clip gradients: tf.clip_by_global_norm, or global_clipnorm=1.0 of a"
    " Keras optimizer."
)
UNTRAINED = (
    "That variable is not trained, so that no learning rate helps: look at what is written to it, and bound that,"
    " such as with tf.clip_by_value."
)
SMALLER = (
    "Bring {large} to a size of about 1 first (keras.layers.Normalization, or divide by its largest); if it is"
    " weights that grew, lower the learning rate or clip gradients (tf.clip_by_global_norm)."
)
STEADY = (
    "What a loop carries must not grow with every turn: normalize it there, or take smaller recurrent weights (Keras:"
    " recurrent_initializer='orthogonal') and tanh in place of relu; if weights grew in training, lower the learning"
    " rate or clip gradients (tf.clip_by_global_norm)."
)
LARGE_WEIGHTS = (
    "Weights begin below 1. If these grew in training, lower the learning rate or warm it up, and clip gradients"
    " (tf.clip_by_global_norm, or global_clipnorm=1.0 of a Keras optimizer); if they were loaded or began so, take"
    " smaller ones (Keras: recurrent_initializer='orthogonal')."
)
LARGE_GRADIENT = (
    "{large} is a gradient: lower the learning rate, in a loop of training within the step the rate of that, or clip"
    " gradients (tf.clip_by_global_norm, Keras: global_clipnorm=1.0)."
)
NORM_OF_GRADIENT = (
    "{large} is a gradient whose norm overflows, so that clipping by it makes NaN of all: clip by value before it"
    " (tf.clip_by_value), find what makes the gradient so large, or lower the learning rate."
)
ONLY_VARIABLES = (
    "Nothing but variables is behind {large}: lower the learning rate or clip gradients (tf.clip_by_global_norm,"
    " Keras: global_clipnorm=1.0), or bound what is computed of them, such as with tf.clip_by_value."
)
SMALLER_CONSTANT = (
    "Take a smaller constant, or a dtype that reaches further (tf.cast), and look whether {large} is of the size that"
    " it is meant for."
)
IN_FLOAT32 = (
    "Scale {large} down before (attention divides by the root of its width), or compute this in float32 (tf.cast), or"
    " bfloat16, which reaches as far as float32. If it grew in training, lower the learning rate or clip gradients"
    " (tf.clip_by_global_norm). Loss scaling does not help here: it acts on gradients alone."
)
WIDER = (
    "Sum in float32 (tf.cast), or scale {large} down before. Loss scaling does not help here: it acts on gradients"
    " alone."
)
SCALED = (
    "Keep this value in float32, or use a smaller scale (loss scaling): keras.mixed_precision.LossScaleOptimizer"
    " finds one that fits and skips steps that overflow."
)
SCALED_LESS = (
    "Nothing, if it passes: the loss scaling of this program skips the step and goes on with a smaller scale. If it"
    " comes back, begin with a smaller scale, or keep this value in float32."
)
HELD_CONSTANT = (
    "Take a number that {dtype} holds, such as {masked} for a mask, or a dtype that reaches further. Loss scaling"
    " does not help here: it acts on gradients alone."
)
DATA_IN_REACH = (
    "Bring {a} to a size of about 1 first (keras.layers.Normalization, or divide by its largest), or keep it in a"
    " dtype that reaches further, such as float32. Loss scaling does not help here: it acts on gradients alone."
)
FORWARD_IN_REACH = (
    "Scale {a} down before (normalize it), or keep it in a dtype that reaches further, such as float32. Loss scaling"
    " does not help here: it acts on gradients alone."
)
UPDATE = (
    "Lower the learning rate, or clip gradients (tf.clip_by_global_norm, Keras: global_clipnorm=1.0); keep variables"
    " in float32 (keras.mixed_precision computes in half precision and keeps them so)."
)
BIGGER_EPSILON = (
    "Give the optimizer an epsilon that {dtype} can hold, such as 1e-4, or keep the variables in float32."
)
SOME_EPSILON = "Give the optimizer an epsilon above 0: 1e-7 is the one of Keras, 1e-8 that of TensorFlow 1."
MORE_STEPS = (
    "Labels need a step each, and one more between two that are equal. Give more steps (longer inputs, less pooling)"
    " or shorter labels; tf.compat.v1.nn.ctc_loss(…, ignore_longer_outputs_than_inputs=True) leaves such rows out."
)
LOST_EPSILON = (
    "Beside 1 an epsilon has to be {step} or more in {dtype}: bound the number itself, as by tf.clip_by_value(p,"
    " {step}, 1 - {step})."
)
PRODUCT = (
    "Write a whole power as a product, x * x or tf.square(x) for x ** 2: its derivatives of every order are right at"
    " 0 too, where a bound such as tf.maximum would cut them off."
)
EXPONENT = (
    "Clip {a} with tf.clip_by_value. What does not overflow: tf.nn.softplus(x) for log(1 + exp(x)), tf.sigmoid(x) for"
    " 1 / (1 + exp(-x)), tf.nn.softmax(x) for shares, tf.reduce_logsumexp(x) for the logarithm of a sum."
)
LOG_COSH = (
    "Clip {a} with tf.clip_by_value. A logarithm of it does not overflow as tf.abs(x) + tf.nn.softplus(-2.0 *"
    " tf.abs(x)) - 0.6931472 in the place of tf.math.log(tf.cosh(x)); Keras has it as keras.losses.LogCosh."
)
LOG_EXPM1 = (
    "Clip {a} with tf.clip_by_value. A logarithm of it, as in the inverse of a softplus, does not overflow as x +"
    " tf.math.log(-tf.math.expm1(-x)) in the place of tf.math.log(tf.math.expm1(x))."
)
LOG_SUM_EXP = "Use tf.reduce_logsumexp(x), which subtracts the maximum first, in place of log(sum(exp(x)))."
WEIGHTED_LOG_SUM_EXP = (
    "Use tf.reduce_logsumexp(x + tf.math.log(w), axis), which subtracts the maximum first, in place of"
    " log(sum(w * exp(x)))."
)
SUM_OF_LOGS = (
    "Add up logarithms, tf.reduce_sum(tf.math.log(x), axis), in place of tf.math.log(tf.reduce_prod(x, axis)); keep a"
    " factor that can be 0 away from it: tf.maximum(x, {small})."
)
CLOSED_SEGMENTS = (
    "Give segments that hold nothing a number of their own: tf.where(count > 0, x, 0.0), where count is"
    " tf.math.unsorted_segment_sum(tf.ones_like(segment_ids), segment_ids, num_segments)[:, tf.newaxis]."
)
WEIGHTLESS_SEGMENTS = "Use tf.math.divide_no_nan(x, y), which gives 0 for them, or look why their weights are 0."
EMPTY_SEGMENTS = (
    "Divide by tf.maximum(count, 1), or with tf.math.divide_no_nan, so that what holds nothing gives 0. The mean of "
    "a ragged tensor is tf.math.divide_no_nan(tf.reduce_sum(x, axis=1), tf.cast(x.row_lengths(), x.dtype)"
    "[:, tf.newaxis])."
)
BASE_FROM_0 = "Keep the base away from 0: tf.pow(tf.maximum(x, {small}), y)."
