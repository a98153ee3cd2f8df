"""B28: stopping and resuming gives what one go gives."""

import numpy as np
import pytest

import gssbo

SPACE = {"x": (0.0, 1.0), "n": gssbo.Integer(1, 100, log=True), "c": ["u", "v", "w"]}


def formula(p):
    return (p["x"] - 0.4) ** 2 + 0.1 * abs(np.log10(p["n"]) - 1.0) + {"u": 0.0, "v": 0.1, "w": 0.2}[p["c"]]


@pytest.mark.parametrize("method", ["box", "portfolio"])
@pytest.mark.parametrize(
    ("cut", "total", "options"),
    [(5, 10, {"n_init": 4}), (5, 10, {"n_init": 8}), (30, 36, {"n_init": 6, "subset_size": 12})],
    ids=["after the design", "inside the design", "after the cap"],
)
def test_ten_in_one_go_or_five_and_five(tmp_path, method, cut, total, options):
    options = {**options, "method": method, "rng": 123}
    whole = gssbo.minimize(formula, SPACE, n_evals=total, **options)
    path = tmp_path / "run.jsonl"
    gssbo.minimize(formula, SPACE, n_evals=cut, journal=path, **options)
    result = gssbo.minimize(formula, SPACE, n_evals=total, journal=path, **options)
    assert result.x_iters == whole.x_iters
    np.testing.assert_array_equal(result.func_vals, whole.func_vals)
    assert not any(point in result.x_iters[:cut] for point in result.x_iters[cut:])


@pytest.mark.parametrize("method", ["box", "portfolio"])
def test_the_model_is_the_same_after_reloading(tmp_path, method):
    path = tmp_path / "run.jsonl"
    options = {"n_init": 6, "subset_size": 12, "method": method, "journal": path}
    queries = [{"x": k / 19, "n": 1 + 5 * k, "c": "uvw"[k % 3]} for k in range(20)]
    with gssbo.Optimizer(SPACE, rng=123, **options) as opt:
        for _ in range(25):
            point = opt.ask()
            opt.tell(point, formula(point))
        before = opt.predict(queries, return_std=True)
    with gssbo.Optimizer(SPACE, **options) as opt:
        after = opt.predict(queries, return_std=True)
    np.testing.assert_allclose(after, before, rtol=1e-10)
