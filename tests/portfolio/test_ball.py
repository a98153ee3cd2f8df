import numpy as np
import pytest
from scipy.optimize import minimize

from gssbo.factor import Factor
from gssbo.portfolio.ball import Outer, minimize_in_ball


def case(seed, d, curvature):
    rng = np.random.default_rng(seed)
    Q = np.linalg.qr(rng.standard_normal((d, d)))[0]
    return rng.standard_normal(d), Q.T @ np.diag(curvature(rng, d)) @ Q


CONVEX = pytest.param(lambda rng, d: 10.0 ** rng.uniform(-3.0, 3.0, d), id="convex")
MIXED = pytest.param(lambda rng, d: rng.standard_normal(d), id="mixed")


@pytest.mark.parametrize("curvature", [CONVEX, MIXED])
@pytest.mark.parametrize("seed", range(5))
def test_is_nearly_the_minimum_over_the_ball(seed, curvature):
    g, H = case(seed, 6, curvature)
    wide = np.full(6, 100.0)
    u, decrease = minimize_in_ball(g, H, 1.3, -wide, wide)
    assert np.linalg.norm(u) <= 1.3 * (1.0 + 1e-9)
    assert np.isclose(decrease, -(g @ u + 0.5 * u @ H @ u), rtol=1e-9)
    # The multiplier by bisection on the eigenvalues.
    w, V = np.linalg.eigh(H)
    b = V.T @ g
    low, high = max(0.0, -w[0]) + 1e-13, max(0.0, -w[0]) + np.linalg.norm(g) / 1.3 + 1.0
    if w[0] > 0.0 and np.linalg.norm(b / w) <= 1.3:
        low = high = 0.0
    for _ in range(200):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if np.linalg.norm(b / (w + middle)) > 1.3 else (low, middle)
    best = -V @ (b / (w + high))
    assert decrease >= 0.97 * -(g @ best + 0.5 * best @ H @ best)


def test_stays_in_the_box_and_uses_it():
    g, H = case(3, 4, lambda rng, d: np.full(d, 1e-3))
    low, high = np.full(4, -0.2), np.full(4, 0.1)
    u, decrease = minimize_in_ball(g, H, 5.0, low, high)
    assert (u >= low).all() and (u <= high).all()
    box = minimize(lambda v: g @ v + 0.5 * v @ H @ v, np.zeros(4), bounds=list(zip(low, high, strict=True)))
    assert np.isclose(decrease, -box.fun, rtol=1e-6)


def test_without_a_slope_a_convex_form_stays_where_it_is():
    u, decrease = minimize_in_ball(np.zeros(3), np.eye(3), 1.0, -np.ones(3), np.ones(3))
    assert np.abs(u).max() < 1e-100 and decrease >= 0.0


@pytest.mark.parametrize("seed", range(6))
def test_a_diagonal_form_is_the_full_one_to_the_bit(seed):
    rng = np.random.default_rng(seed)
    d = int(rng.integers(1, 60))
    g = rng.standard_normal(d) * 10.0 ** rng.uniform(-3.0, 3.0)
    diagonal = rng.standard_normal(d) if seed % 2 else 10.0 ** rng.uniform(-3.0, 3.0, d)
    low, high = -rng.uniform(0.01, 2.0, d), rng.uniform(0.01, 2.0, d)
    for radius in (0.1, 1.0, 30.0):
        u, decrease = minimize_in_ball(g, diagonal, radius, low, high)
        full, expected = minimize_in_ball(g, np.diag(diagonal), radius, low, high)
        np.testing.assert_array_equal(u, full)
        assert decrease == expected


def halving(g, H, radius):
    """The step in the ball alone, every middle solved for."""

    def step(lam):
        try:
            u = -Factor(H, lam).solve(g)
        except np.linalg.LinAlgError:
            return None
        return u if float((u * u).sum()) <= radius * radius else None

    if (inside := step(0.0)) is not None:
        return inside
    top = float(np.abs(H).sum(axis=1).max()) + float(np.sqrt((g * g).sum())) / radius
    best, low, high = step(top * (1.0 + 1e-12)), np.log(top * 1e-16), np.log(top)
    for _ in range(40):
        middle = 0.5 * (low + high)
        trial = step(float(np.exp(middle)))
        low, high, best = (middle, high, best) if trial is None else (low, middle, trial)
        if trial is not None and float((trial * trial).sum()) > 0.98 * radius * radius:
            break
    return best


@pytest.mark.parametrize("curvature", [CONVEX, MIXED])
def test_takes_the_step_of_plain_halving_with_fewer_factors(monkeypatch, curvature):
    factor, factored, wide = Factor, [], np.full(30, 1e9)

    def counted(*arguments):
        factored.append(arguments)
        return factor(*arguments)

    for module in ("gssbo.portfolio.ball", __name__):
        monkeypatch.setattr(f"{module}.Factor", counted)
    problems = [(*case(seed, 30, curvature), 10.0 ** (seed % 5 - 2)) for seed in range(20)]
    expected = [halving(*problem) for problem in problems]
    plain = len(factored)
    factored.clear()
    found = [minimize_in_ball(*problem, -wide, wide)[0] for problem in problems]
    np.testing.assert_array_equal(found, expected)
    assert 1.9 * len(factored) < plain


@pytest.mark.parametrize("duplicates", [False, True])
@pytest.mark.parametrize("seed", range(6))
def test_a_form_of_few_rows_is_the_full_one(seed, duplicates):
    rng = np.random.default_rng(seed)
    n, d = 12, 40
    B = rng.standard_normal((n, d)) * 10.0 ** rng.uniform(-1.0, 1.0, (n, 1))
    if duplicates:
        B[-3:] = B[:3] * (1.0 + 1e-9)
    w = rng.standard_normal(n) if seed % 2 else rng.random(n)
    g = B.T @ rng.standard_normal(n)
    H = B.T @ (w[:, None] * B)
    low, high = -rng.uniform(0.0, 0.3, d), rng.uniform(0.0, 0.3, d)
    for radius in (0.1, 1.0):
        u, decrease = minimize_in_ball(g, Outer(B, w), radius, low, high)
        _, expected = minimize_in_ball(g, H, radius, low, high)
        assert (u >= low).all() and (u <= high).all() and np.linalg.norm(u) <= radius * (1.0 + 1e-6)
        assert np.isclose(decrease, -(g @ u + 0.5 * u @ H @ u), rtol=1e-9)
        assert decrease >= 0.97 * expected


def test_a_convex_form_of_few_rows_is_minimised_inside_of_the_ball():
    rng = np.random.default_rng(0)
    B = rng.standard_normal((5, 30))
    u, _ = minimize_in_ball(
        B.T @ (B @ np.full(30, -0.1)), Outer(B, np.ones(5)), 9.0, np.full(30, -9.0), np.full(30, 9.0)
    )
    assert np.allclose(u, np.linalg.pinv(B) @ B @ np.full(30, 0.1), rtol=1e-9)


@pytest.mark.parametrize("apart", [1e-2, 1e-5])
def test_rows_that_nearly_depend_on_each_other_bend_the_form_as_they_do(apart):
    """The slope is along their differences."""
    rng = np.random.default_rng(0)
    B = rng.standard_normal((8, 30))
    B[4:] = B[:4] + apart * rng.standard_normal((4, 30))
    steep, wide = np.ones(8), np.full(30, 9.0)
    c = np.repeat([1.0, -1.0], 4) / apart
    u, decrease = minimize_in_ball(B.T @ c, Outer(B, steep / apart), 1.0, -wide, wide)
    H = B.T @ B / apart
    _, expected = minimize_in_ball(B.T @ c, H, 1.0, -wide, wide)
    assert np.linalg.norm(u) <= 1.0 + 1e-9
    assert decrease >= 0.97 * expected
    assert np.isclose(decrease, -(B.T @ c @ u + 0.5 * u @ H @ u), rtol=1e-6)
