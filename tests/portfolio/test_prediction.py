"""What a portfolio predicts with: more than it retains, where that predicts better."""

import numpy as np
import pytest

from gssbo import Optimizer
from gssbo.map_gp import MapGaussianProcess
from gssbo.portfolio import prediction
from gssbo.portfolio.prediction import _conditioned, _log_density, _projected, on_basis
from gssbo.portfolio.view import View
from gssbo.problems import get_problem
from gssbo.projected import ProjectedProcess

pytestmark = pytest.mark.usefixtures("single_thread")

HARTMANN = get_problem("hartmann6")


def told(n, noise=0.0, seed=0, **options):
    rng = np.random.default_rng(seed)
    X = rng.random((n, 6))
    optimizer = Optimizer(HARTMANN.bounds, rng=0, **options)
    optimizer.tell(X, [HARTMANN(x) for x in X] + noise * rng.standard_normal(n))
    optimizer.ask()
    return optimizer


def share_explained(optimizer):
    X = np.random.default_rng(9).random((500, 6))
    truth = np.array([HARTMANN(x) for x in X])
    mean, std = optimizer.predict(X, return_std=True)
    covered = np.mean(np.abs(mean - truth) <= 2.0 * std)
    return 1.0 - np.mean((mean - truth) ** 2) / np.var(truth), covered


@pytest.mark.parametrize(("noise", "least"), [(0.0, 0.9), (0.1, 0.85), (0.4, 0.65)])
def test_a_long_history_predicts_better_than_what_is_retained(noise, least):
    optimizer = told(2000, noise)
    share, covered = share_explained(optimizer)
    assert share > least and covered > 0.9
    assert len(optimizer.retained) == 100  # which alone explain 0.2 to 0.6 of it


def test_the_best_by_the_model_is_given_what_was_observed_there():
    optimizer = told(600)
    best = optimizer.best("model")
    assert isinstance(optimizer._strategy.predictor()[0], ProjectedProcess)
    assert best.y == pytest.approx(optimizer.best_y, abs=0.02) and best.std < 0.02


def test_repeats_failures_and_known_noise_are_projected():
    optimizer = told(200)
    X = np.repeat(np.random.default_rng(3).random((40, 6)), 8, axis=0)
    y = np.array([HARTMANN(x) for x in X])
    optimizer.tell(X, np.where(np.arange(320) % 9 == 0, np.nan, y), noise_std=0.05)
    optimizer.ask()
    _, seen = optimizer._strategy.predictor()
    assert not np.isnan(optimizer.y[seen]).any()
    assert np.corrcoef(optimizer.predict(X), y)[0, 1] > 0.95
    assert np.isfinite(optimizer.best("model").y)


def view(n, d=2, seed=0):
    X = np.random.default_rng(seed).random((n, d))
    return View(X, np.sin(5 * X).sum(axis=1), np.zeros(n, dtype=np.intp), np.arange(n))


def test_few_that_are_not_retained_decide_nothing():
    seen = view(40)
    gp = MapGaussianProcess()
    theta, _ = gp.most_probable(seen.X, seen.y, start=None, max_evaluations=20)
    gp.set_theta(seen.X, seen.y, theta)
    assert on_basis(seen, gp, np.arange(35), 35) is None


def test_a_model_that_predicts_better_is_kept():
    seen = view(300)
    gp = MapGaussianProcess()
    theta, _ = gp.most_probable(seen.X[:250], seen.y[:250], start=None, max_evaluations=60)
    gp.set_theta(seen.X[:250].copy(), seen.y[:250].copy(), theta)
    assert on_basis(seen, gp, np.arange(250), 10) is None  # 20 of a basis for 250
    poor = MapGaussianProcess()
    poor.set_theta(seen.X[:10].copy(), seen.y[:10].copy(), theta)
    found = on_basis(seen, poor, np.arange(10), 100)
    assert found is not None
    np.testing.assert_allclose(found.posterior(seen.X)[0] * found.y_std_ + found.y_mean_, seen.y, atol=0.05)


def test_predictions_move_nothing():
    one, other = told(300), told(300)
    points = []
    for optimizer in (one, other):
        for _ in range(6):
            x = optimizer.ask()
            optimizer.tell(x, HARTMANN(x))
            if optimizer is one:
                optimizer.predict(x[None])
                optimizer.best("model")
            points.append(x)
    np.testing.assert_array_equal(points[:6], points[6:])


def test_far_from_where_a_search_crowds_it_returns_to_what_is_usual():
    """By generalised least squares; the average of all is near what the crowd has."""
    rng = np.random.default_rng(0)
    X = np.vstack([rng.random((20, 6)), 0.5 + 0.01 * rng.standard_normal((280, 6))])
    y = np.append(5.0 + 0.1 * rng.standard_normal(20), 0.1 * rng.standard_normal(280))
    seen = View(X, y, np.zeros(300, dtype=np.intp), np.arange(300))
    gp = _conditioned(seen, np.log([*[0.1] * 6, 1.0, 0.01]))
    mean, _ = gp.posterior(np.array([[0.0] * 6, [1.0] * 6]))
    np.testing.assert_allclose(gp.y_mean_ + gp.y_std_ * mean, 4.7, atol=0.2)


@pytest.mark.parametrize("spike", [1e300, -1.7e308])
@pytest.mark.filterwarnings("error")
def test_one_response_may_be_beyond_what_models_of_the_others_hold_possible(spike):
    seen = view(600)
    seen.y[:] *= 1e-300
    seen.y[300] = spike
    gp = _conditioned(seen.only(np.arange(100)), np.log([0.5, 0.5, 1.0, 1e-4]))
    process = on_basis(seen, gp, np.arange(100), 50)
    assert process is None or np.isfinite(process.posterior(seen.X)).all()


@pytest.mark.filterwarnings("error")
def test_points_that_decide_are_unseen_in_repeats_too(monkeypatch):
    """A projection that has seen repeats of the points that decide would predict them for nothing."""
    once = view(60)
    rows = np.tile(np.arange(60), 10)
    seen = View(
        once.X[rows], once.y[rows], np.zeros(600, dtype=np.intp), np.arange(600), standing=np.arange(600) >= 540
    )
    compared = []
    monkeypatch.setattr(
        prediction, "_projected", lambda model, known, size: compared.append(known) or _projected(model, known, size)
    )
    monkeypatch.setattr(
        prediction, "_log_density", lambda model, others: compared.append(others) or _log_density(model, others)
    )
    gp = _conditioned(seen.only(np.arange(20)), np.log([0.5, 0.5, 1.0, 1e-4]))
    on_basis(seen, gp, np.arange(20), 50)
    out, known = compared[0], compared[1]
    assert len(out.y) >= 10
    for others in (known, seen.only(np.arange(20))):
        assert not {x.tobytes() for x in out.X} & {x.tobytes() for x in others.X}


def test_a_point_whose_newest_evaluation_failed_is_stood_for_by_the_one_before():
    once = view(50)
    rows = np.tile(np.arange(50), 3)
    told = np.where(np.arange(150) >= 110, np.nan, once.y[rows])
    seen = View(
        once.X[rows], once.y[rows], np.zeros(150, dtype=np.intp), np.arange(150), told=told,
        standing=np.arange(150) >= 100,
    )  # fmt: skip
    valued = seen.valued
    assert len({x.tobytes() for x in valued.X[valued.one_each]}) == 50
    assert valued.standing.sum() == 50 and valued.rows[valued.standing].tolist() == list(range(60, 110))
    assert seen.standing.sum() == 50  # as it was
