"""The control task: its motion, its cost by a plain loop, and the optimum it claims."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.optimize import minimize

from gssbo.problems import get_problem
from gssbo.problems import pendulums as module
from gssbo.problems.pendulums import pendulums, plant


def cost_of_one_attempt(x, K):
    """The definition, one step after the other."""
    A, B, Q, R, P, _ = plant()
    cost = 0.0
    for t in range(module.N_STEPS):
        u = -K @ x
        cost += x @ Q @ x + u @ R @ u
        x = A @ x + B @ u
        if np.abs(x[:3]).max() > module.LIMIT:
            return cost + 1.0 + 10.0 * (module.N_STEPS - t - 1) / module.N_STEPS
    return cost + x @ P @ x


def test_cost_against_a_plain_loop():
    rng = np.random.default_rng(0)
    lower, upper = get_problem("pendulums").bounds.T
    best = plant().K.ravel()
    points = np.vstack([rng.uniform(lower, upper, (30, 12)), best + rng.uniform(-8.0, 8.0, (30, 12)), best])
    expected = [np.mean([cost_of_one_attempt(x, p.reshape(2, 6)) for x in module._STARTS]) for p in points]
    np.testing.assert_allclose(pendulums(points), expected, rtol=1e-10)
    standing = [each < 1.0 for each in expected]
    assert 5 < sum(standing) < 40  # some attempts succeed and some do not


def test_step_is_the_motion_of_the_differential_equation():
    mass, length, spring = (1.0, 1.5, 0.8), (1.0, 0.8, 1.25), (12.0, 9.0)

    def motion(_, state, u):
        angle, rate = state[:3], state[3:]
        pull = [spring[0] * (angle[1] - angle[0]),
                spring[0] * (angle[0] - angle[1]) + spring[1] * (angle[2] - angle[1]),
                spring[1] * (angle[1] - angle[2])]  # fmt: skip
        torque = (u[0], 0.0, u[1])
        turn = [
            (mass[i] * 9.81 * length[i] * angle[i] + pull[i] - 0.1 * rate[i] + torque[i]) / (mass[i] * length[i] ** 2)
            for i in range(3)
        ]
        return [*rate, *turn]

    rng = np.random.default_rng(1)
    x, u = rng.standard_normal(6), rng.standard_normal(2)
    path = solve_ivp(motion, (0.0, module.STEP), x, args=(u,), rtol=1e-11, atol=1e-13)
    A, B = plant()[:2]
    np.testing.assert_allclose(A @ x + B @ u, path.y[:, -1], atol=1e-9)


def test_cost_to_go_solves_the_riccati_equation():
    A, B, Q, R, P, K = plant()
    np.testing.assert_allclose(Q + A.T @ P @ A - A.T @ P @ B @ K, P, atol=1e-10)
    np.testing.assert_allclose(K, np.linalg.inv(R + B.T @ P @ B) @ B.T @ P @ A, rtol=1e-9)


def test_optimum():
    problem = get_problem("pendulums12")
    assert problem(problem.x_optimum) == pytest.approx(problem.optimum, abs=1e-12)
    each = np.einsum("si,ij,sj->s", module._STARTS, plant().P, module._STARTS)
    assert each.max() < module.FALL  # so that falling never pays
    rng = np.random.default_rng(2)
    lower, upper = problem.bounds.T
    place = (problem.x_optimum - lower) / (upper - lower)
    assert 0.2 < place.min() < place.max() < 0.8
    nearby = problem.x_optimum + 10.0 ** rng.uniform(-4, 1, (1_500, 1)) * rng.standard_normal((1_500, 12))
    everywhere = rng.uniform(lower, upper, (1_500, 12))
    assert problem(np.vstack([nearby, everywhere])).min() >= problem.optimum - 1e-12


def test_a_descent_from_nearby_ends_at_the_optimum():
    problem = get_problem("pendulums12")
    start = problem.x_optimum + 0.5 * np.random.default_rng(3).standard_normal(12)
    found = minimize(problem, start, method="BFGS", options={"gtol": 1e-9})
    assert found.fun == pytest.approx(problem.optimum, abs=1e-8)
    np.testing.assert_allclose(found.x, problem.x_optimum, atol=0.02)


def test_vectorised_equals_loop_across_blocks():
    problem = get_problem("pendulums")
    lower, upper = problem.bounds.T
    X = np.random.default_rng(4).uniform(lower, upper, (module._BLOCK + 6, 12))
    np.testing.assert_allclose(problem(X), [problem(x) for x in X], rtol=1e-12)
    assert problem(X[:0]).shape == (0,)
    assert pendulums(X.reshape(2, -1, 12)).shape == (2, 35)


def test_gains_however_large_give_a_finite_cost():
    assert np.isfinite(pendulums(np.full(12, 1e6)))
    assert np.isfinite(pendulums([[-25.0] * 12, [75.0] * 12])).all()


def test_stored_scales_are_those_of_sampling():
    problem = get_problem("pendulums")
    stored, fresh = problem.normalizer(), problem.normalizer(2_000)
    assert stored.n_samples == 40_000
    assert abs(stored.mean_regret - fresh.mean_regret) < 4.0 * fresh.mean_regret_error
    assert abs(stored.std - fresh.std) < 4.0 * fresh.std_error
