"""B04: a tiny spread on a large offset."""

import numpy as np
import pytest

import gssbo
from gssbo.responses import standardize

X = np.linspace(0.0, 1.0, 11)


def f(x):
    return 1e9 + 1e-3 * np.cos(7 * x)


def test_the_spread_is_taken_in_two_passes():
    y = f(X)
    assert np.std(y) == pytest.approx(7.25595e-4, rel=1e-4)
    z, mean, std = standardize(y)
    assert std == pytest.approx(7.25595e-4, rel=1e-4) and mean == pytest.approx(1e9, rel=1e-12)
    expected = np.cos(7 * X)
    expected = (expected - expected.mean()) / expected.std()
    assert np.abs(z - expected).max() <= 2.5e-4


@pytest.mark.parametrize("method", ["box", "portfolio"])
@pytest.mark.parametrize("seed", range(3))
def test_the_shape_is_seen(method, seed):
    opt = gssbo.Optimizer([(0.0, 1.0)], n_init=11, rng=seed, method=method)
    opt.tell(X[:, None], f(X))
    assert opt.best_x[0] == pytest.approx(0.4)
    mean = opt.predict(np.array([[0.45], [0.0], [0.8]]))
    assert mean[0] < mean[1] and mean[0] < mean[2]
    asked = []
    for _ in range(10):
        x = opt.ask()
        asked.append(float(x[0]))
        opt.tell(x, f(x[0]))
    asked = np.array(asked)
    assert (np.abs(asked - np.pi / 7) < 0.1).sum() >= 2
    assert not np.isin(asked, [0.0, 1.0]).all()
