"""B14: one parameter, one query, and numbers in any wrapping."""

import numpy as np
import pytest

import gssbo


@pytest.mark.parametrize("wrap", [np.float64, np.array, lambda y: np.array([y]), np.float32])
def test_the_same_run_whatever_wraps_the_value(wrap):
    def run(wrap):
        opt = gssbo.Optimizer({"x": (0.0, 1.0)}, n_init=4, rng=0)
        for _ in range(12):
            x = opt.ask()
            assert list(x) == ["x"] and type(x["x"]) is float
            opt.tell(x, wrap(float(np.float32((x["x"] - 0.3) ** 2))))
        return opt.X

    assert run(wrap) == run(float)


def test_shapes_of_predictions():
    opt = gssbo.Optimizer([(0.0, 1.0)], n_init=1, rng=0)
    for n in range(3):
        x = opt.ask()
        assert x.shape == (1,)
        opt.tell(x, float(n))
        for m in (1, 5):
            mean, std = opt.predict(np.linspace(0, 1, m)[:, None], return_std=True)
            assert mean.shape == std.shape == (m,)
