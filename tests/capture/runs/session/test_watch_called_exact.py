"""A watch of functions that a session calls finds what looking at every tensor finds, whatever ops are in them."""

from __future__ import annotations

import random
from functools import partial

import numpy as np
import pytest
from test_watch_exact import BAD, FILTERS, IMAGE, SQUARE, binary, holds, of_images, of_squares, unary

from tfdbg_cli.capture.controller import WatchRequest
from tfdbg_cli.capture.questions.known import question_of
from tfdbg_cli.capture.replay.session import replay_session
from tfdbg_cli.capture.sessions.call_state import call_state
from tfdbg_cli.capture.sessions.extended.call_checks import call_checks
from tfdbg_cli.capture.sessions.invocation import RunCall
from tfdbg_cli.capture.state.run_snapshot import RunSnapshot
from tfdbg_cli.model.decision import CaptureRequest
from tfdbg_cli.model.values import NoValue

pytestmark = pytest.mark.tf


class Functions:
    """Random ops on a matrix and an image, in functions that call functions."""

    def __init__(self, tf, seed: int) -> None:
        self._tf = tf
        self.chance = random.Random(seed)
        self._kinds = (unary(tf), binary(tf), of_squares(tf), of_images(tf))
        self._function = partial(tf.compat.v2.function, autograph=False)
        self.places = [tf.placeholder(tf.float32, shape) for shape in (SQUARE, SQUARE, IMAGE)]
        self.ends = []
        for _ in range(3):
            found = self._function(partial(self._body, 2))(*self.places)
            self.ends += [tensor for tensor in found if tensor.dtype.is_floating]

    def _body(self, depth: int, *given):
        pool = list(given)
        length = 6
        while length:
            made = self._call(pool, depth) if depth and self.chance.random() < 0.2 else self._next(pool)
            if made is not None:
                length -= 1
                fits = made.dtype.is_floating and made.shape.rank and made.shape.num_elements() < 3000
                pool += [made] if fits else []
        return [self._tf.tanh(tensor) for tensor in pool[-2:]]

    def _call(self, pool, depth: int):
        given = [next(one for one in pool if one.shape == shape) for shape in (SQUARE, SQUARE, IMAGE)]
        return self._function(partial(self._body, depth - 1))(*given)[0]

    def _next(self, pool):
        one, two, squares, images = self._kinds
        x = self.chance.choice(pool)
        alike = [y for y in pool if y.shape == x.shape and y.dtype == x.dtype]
        ops = [(op, (x,)) for op in one] + [(op, (x, self.chance.choice(alike))) for op in two]
        if x.shape == SQUARE:
            ops += [(op, (x, self.chance.choice(alike))) for op in squares]
        if x.shape == IMAGE and x.dtype == self._tf.float32:
            ops += [(op, (x,)) for op in images] * 3
        op, operands = self.chance.choice(ops)
        try:
            return op(*operands)
        except (ValueError, TypeError, IndexError):  # a shape or a type that this op does not take
            return None

    def feeds(self) -> dict:
        """What to feed: numbers around 1, and among them now and then a bad one or a zero."""
        numbers = np.random.default_rng(self.chance.randrange(1000))
        feeds = {place: numbers.uniform(0.5, 1.5, place.shape.as_list()) for place in self.places}
        if self.chance.random() < 0.6:
            value = feeds[self.chance.choice(self.places)]
            value.flat[self.chance.randrange(value.size)] = self.chance.choice([*BAD, 0.0])
        return feeds


@pytest.mark.parametrize(
    "seed", [pytest.param(seed, marks=[] if seed in (1, 3) else pytest.mark.slow) for seed in range(10)]
)
def test_the_verdict_is_that_of_looking_at_every_tensor(tf, seed) -> None:
    config = tf.ConfigProto(intra_op_parallelism_threads=1)
    with tf.Graph().as_default(), tf.Session(config=config) as session:
        made = Functions(tf, seed)
        for _ in range(6):
            feeds = made.feeds()
            name = made.chance.choice(list(FILTERS))
            call = RunCall(session, session.run, made.ends, feeds, None, None)
            known = call_checks(call, question_of(FILTERS[name]), WatchRequest(name, FILTERS[name]), CaptureRequest())
            assert not known.shadow_ops.notes
            _, (health,) = call.with_extra([known.health], (), known.shadow_ops)
            tensors = replay_session(RunSnapshot(call, call_state([], [], frozenset())).replay_spec()).tensors
            values = [(str(tensors[at].name), tensors.value(at)) for at in range(len(tensors))]
            bad = [text for text, value in values if not isinstance(value, NoValue) and holds(name, value)]
            assert len(values) > known.checked
            assert known.question.found_in(health) is bool(bad), (name, bad[:3])
