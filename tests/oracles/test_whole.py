"""Numbers of proof files."""

import numpy as np
import pytest

from gapcut.oracles.whole import whole_messages


def decoded(counts: np.ndarray, step: float) -> np.ndarray:
    """As the checker has them."""
    return (counts @ [1, 1 << 8, 1 << 16] - (1 << 23)) * step


@pytest.mark.parametrize("size", [1e-44, 1e-30, 1.0, 3e7, 3e38])
def test_messages_of_three_bytes_are_near_and_held_exactly_by_float32(size):
    messages = (size * np.random.default_rng(0).uniform(-1, 1, size=(3, 50))).astype(np.float32)
    messages[0, 0] = size
    near, counts, step = whole_messages(messages)
    assert counts.dtype == np.uint8
    assert counts.shape == (3, 50, 3)
    np.testing.assert_array_equal(decoded(counts, step), near.astype(np.float64))
    assert (np.abs(near.astype(np.float64) - messages) <= 0.5 * step).all()
    assert step <= max(size * 2.0**-22, 2.0**-149)
    assert np.frexp(step)[0] == 0.5


def test_the_largest_message_keeps_within_its_bytes():
    """It rounds up to 2^23 steps, which would be the next byte."""
    top = np.nextafter(np.float32(2.0), np.float32(0.0))
    near, counts, step = whole_messages(np.array([[top, -top, 0.0]], dtype=np.float32))
    assert (np.abs(near) < 2.0).all()
    np.testing.assert_array_equal(decoded(counts, step), near)
    np.testing.assert_array_equal(counts[0, 2], [0, 0, 128])


def test_no_messages_have_a_step_too():
    near, counts, step = whole_messages(np.zeros((0, 4), dtype=np.float32))
    assert near.shape == (0, 4)
    assert counts.shape == (0, 4, 3)
    assert step > 0.0
