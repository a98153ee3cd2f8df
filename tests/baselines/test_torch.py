"""What the surrogates of PyTorch share: Adam, the softplus, covariances."""

import numpy as np
import pytest

from gssbo import reference as ref
from gssbo.baselines._torch import alone, covariances, descend, inverse_softplus, tensor

torch = pytest.importorskip("torch")


def test_descend_takes_the_steps_of_adam():
    rng = np.random.default_rng(0)
    A, b, start = rng.standard_normal((6, 4)), rng.standard_normal(6), rng.standard_normal(4)

    def loss(x):
        return ((tensor(A) @ x - tensor(b)) ** 4).sum() + x.cos().sum()

    ours, theirs = tensor(start, learned=True), tensor(start, learned=True)
    assert descend(lambda: loss(ours), [ours], epochs=30, rate=0.03) == 30
    adam = torch.optim.Adam([theirs], lr=0.03)
    for _ in range(30):
        adam.zero_grad()
        loss(theirs).backward()
        adam.step()
    np.testing.assert_allclose(ours.detach(), theirs.detach(), rtol=1e-12)
    assert np.abs(ours.detach().numpy() - start).max() > 0.1


def test_descend_stops_before_a_step_that_is_not_finite():
    x, seen = tensor(np.array([1.0]), learned=True), []

    def loss():
        seen.append(x.item())
        return (x.log() if len(seen) < 3 else (x * np.inf).log()).sum()

    assert descend(loss, [x], epochs=10, rate=0.1) == 2
    assert x.item() == seen[-1] == pytest.approx(0.8, abs=1e-3)

    def fails():
        return torch.linalg.cholesky(-x * torch.eye(2, dtype=torch.float64)).sum()

    assert descend(fails, [x], epochs=10, rate=0.1) == 0


def test_the_inverse_of_the_softplus():
    values = np.array([1e-300, 1e-12, 0.3, 20.0, 1e6])
    np.testing.assert_allclose(np.logaddexp(0.0, inverse_softplus(values)), values, rtol=1e-12)


@pytest.mark.parametrize("kernel", ["matern52", "matern32", "rbf"])
def test_covariances(kernel):
    rng = np.random.default_rng(0)
    A, B = rng.random((5, 3)), rng.random((4, 3))
    A[0] = B[2]
    theta = np.log([0.3, 0.7, 2.0, 1.7, 0.1])
    found = covariances(kernel, tensor(A), tensor(B), tensor(np.exp(theta[:3])), tensor(np.array(1.7)))
    np.testing.assert_allclose(found, ref.kernel_matrix(A, B, theta, kernel), rtol=1e-12)


def test_a_failure_puts_the_threads_back():
    threads = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        with pytest.raises(ZeroDivisionError), torch.no_grad(), alone():
            assert torch.get_num_threads() == 1 and torch.is_grad_enabled()
            1 / 0  # noqa: B018
        assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(threads)
