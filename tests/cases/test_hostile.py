"""Inputs that once broke this package, found by attacking it."""

import json
import pickle
import threading

import numpy as np
import pytest

import gssbo
from gssbo.cli import main
from gssbo.precision import PrecisionCache


def sphere(x):
    return float(np.sum((np.asarray(x) - 0.3) ** 2))


RULES = ["vector", "scalar", "kmeans++", "maxmin", "residual", "variance", "residual-ratio", "residual-exchange"]


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize(("variance", "noise"), [(1e300, 1e290), (1e200, 1e200), (1e-300, 1e-306), (1.0, 1e200)])
def test_selection_survives_scores_beyond_doubles(rule, variance, noise):
    """The squares of the precision overflow; members must stay distinct members of the pool."""
    X = np.random.default_rng(0).random((60, 2))
    gp = gssbo.GaussianProcess(variance=variance, noise=noise, fit_hyperparameters=False).fit(X[:30], X[:30].sum(1))
    kept = gssbo.select_subset(gp, X, 40, rule=rule, y=X.sum(1), forced=[59], rng=0)
    assert len(set(kept.tolist())) == 40 and kept[0] == 59 and kept.min() >= 0 and kept.max() < 60


@pytest.mark.parametrize("rule", ["vector", "maxmin"])
def test_a_template_fitted_elsewhere_is_a_template(rule):
    """Its fit, in another space of another dimension, must not be used."""
    X = np.random.default_rng(0).random((80, 5))
    fitted = gssbo.GaussianProcess(rng=0).fit(X[:30, :1], X[:30].sum(1))
    runs = []
    for template in (fitted, gssbo.GaussianProcess(rng=0)):
        optimizer = gssbo.Optimizer(
            [(0, 1)] * 5, surrogate=template, rule=rule, n_init=5, subset_size=30, refit="frozen", rng=0
        )
        optimizer.tell(X, X.sum(1))
        runs.append(optimizer.ask())
    assert np.array_equal(*runs)
    assert fitted.fitted


@pytest.mark.parametrize(("step", "interrupted"), [("append", 30), ("replace", 70)])
def test_an_interrupted_cache_update_changes_nothing(monkeypatch, step, interrupted):
    def run(n, interrupted):
        optimizer = gssbo.Optimizer(
            [(0, 1)] * 2, n_init=5, subset_size=20, pool=40, n_candidates=300, refit="frozen", rng=0, threads=1
        )
        for k in range(n):
            if k == interrupted:
                original = getattr(PrecisionCache, step)

                def hit(self, *args, original=original):
                    original(self, *args)
                    raise KeyboardInterrupt

                with monkeypatch.context() as patch:
                    patch.setattr(PrecisionCache, step, hit)
                    with pytest.raises(KeyboardInterrupt):
                        optimizer.ask()
            x = optimizer.ask()
            optimizer.tell(x, sphere(x))
        return optimizer.X

    assert np.array_equal(run(80, interrupted), run(80, None))


def test_threads_may_share_an_optimizer():
    optimizer = gssbo.Optimizer([(0, 1)] * 2, n_init=5, subset_size=20, n_candidates=200, refit="frozen", rng=0)
    errors = []

    def work():
        try:
            for _ in range(40):
                x = optimizer.ask()
                optimizer.tell(x, sphere(x))
        except Exception as error:
            errors.append(error)

    workers = [threading.Thread(target=work) for _ in range(3)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert not errors
    assert optimizer.n_told == 120 and len(optimizer.retained) == 20
    assert np.array_equal(pickle.loads(pickle.dumps(optimizer)).ask(), optimizer.ask())


def test_huge_responses_without_standardising():
    optimizer = gssbo.Optimizer(
        [(0, 1)] * 3, surrogate=gssbo.GaussianProcess(normalize_y=False), n_init=5, subset_size=20, rng=0
    )
    for _ in range(12):
        x = optimizer.ask()
        optimizer.tell(x, 1e160 * float(x.sum()))
    assert np.isfinite(optimizer.ask()).all()


def test_masked_entries_are_not_data():
    optimizer = gssbo.Optimizer([(0, 1)] * 2, rng=0)
    with pytest.raises(ValueError, match=r"^y must have no masked entries"):
        optimizer.tell([0.1, 0.2], np.ma.masked_array([1.0], mask=[True]))
    with pytest.raises(ValueError, match=r"^x must have no masked entries"):
        optimizer.tell(np.ma.masked_array([0.1, 0.2], mask=[True, False]), 1.0)
    with pytest.raises(ValueError, match=r"^fun must return one real number"):
        gssbo.minimize(lambda x: np.ma.masked, [(0, 1)], n_evals=3)
    assert optimizer.n_told == 0


@pytest.mark.parametrize("scale", [1e-200, 1.0, 1e200])
def test_gradients_whatever_the_unit_of_x(scale):
    X = np.random.default_rng(0).random((20, 2))
    gp = gssbo.GaussianProcess(lengthscale=0.5 * scale, fit_hyperparameters=False).fit(X * scale, X.sum(1))
    plain = gssbo.GaussianProcess(lengthscale=0.5, fit_hyperparameters=False).fit(X, X.sum(1))
    for got, expected in zip(
        gp.predict_gradient(X[:3] * scale + 0.1 * scale), plain.predict_gradient(X[:3] + 0.1), strict=True
    ):
        np.testing.assert_allclose(got * scale, expected, rtol=1e-6)


@pytest.mark.parametrize(
    "value", [10**400, [[1.0], [1.0, 2.0]], b"3", bytearray(b"3"), np.timedelta64(5, "ns"), -np.inf]
)
def test_what_is_no_number_is_named(value):
    with pytest.raises(ValueError, match=r"^fun must return one real number"):
        gssbo.minimize(lambda x: value, [(0, 1)], n_evals=3)


def test_arguments_of_minimize_are_checked_before_the_first_evaluation():
    for options, name in (({"callback": 3}, "callback"), ({"progress": 3}, "progress"), ({"workers": []}, "workers")):
        with pytest.raises(ValueError, match=f"^{name} must be"):
            gssbo.minimize(lambda x: pytest.fail("evaluated"), [(0, 1)], n_evals=3, **options)


def test_a_report_that_cannot_be_written_is_still_printed(tmp_path, capsys):
    (tmp_path / "levy2-gssbo-25-seed0.json").mkdir()
    options = ["--method", "gssbo", "--n-evals", "24", "--subset-size", "25", "--quiet", "--json"]
    status = main(["run", "levy2", *options, "--out", str(tmp_path)])
    out, err = capsys.readouterr()
    assert status == 1 and json.loads(out)["n_evals"] == 24
    assert "could not write the report" in err
