"""What each observation's absence does."""

import numpy as np
import pytest
from hypothesis import given, settings

from gssbo import GaussianProcess
from gssbo.diagnostics import leave_one_out
from tests.partitions import CLOSE, Case, cases, same

pytestmark = pytest.mark.usefixtures("single_thread")


@settings(max_examples=30, deadline=None)
@given(cases)
def test_leave_one_out_against_leaving_one_out(case):
    found = case.leave_one_out()
    n = len(case.X)
    mean, variance = np.array(
        [case.posterior(np.delete(np.arange(n), i), case.X[i : i + 1]) for i in range(n)]
    ).T.reshape(2, n)
    variance = variance + case.noise + case.known  # of the noisy response
    same(found.mean, mean, np.abs(case.y).max())
    np.testing.assert_allclose(found.std**2, variance, rtol=CLOSE)
    same(found.scores, -(case.y - mean) / variance)
    same(found.scores, case.gap().scores)
    same(found.errors, (case.y - mean) / np.sqrt(variance))


def test_leave_one_out_in_user_units():
    case = Case(23, "matern32", d=2)
    gp = GaussianProcess(lengthscale=0.5, noise=0.05, fit_hyperparameters=False).fit(case.X, 100.0 + 5.0 * case.y)
    found = leave_one_out(gp, case.X, 100.0 + 5.0 * case.y)
    plain = leave_one_out(gp.kernel_, case.X, gp.y_train_, noise=gp.noise_)
    np.testing.assert_allclose(found.mean, gp.y_mean_ + gp.y_std_ * plain.mean, rtol=1e-10)
    np.testing.assert_allclose(found.std, gp.y_std_ * plain.std, rtol=1e-12)
    same(found.scores, plain.scores, tolerance=1e-10)
