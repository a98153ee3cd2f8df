"""The vectorised loops: which set is in use, and the exponential behind every kernel value."""

import os
import subprocess
import sys

import mpmath
import numpy as np
import pytest

from gssbo._core import _kernels, _linalg

KINDS = _kernels.KINDS


def correlations(kind, x):
    """R at the distances x, with lengthscale and variance 1."""
    out = np.empty((1, _linalg.padded(len(x))))
    _kernels.cross(KINDS[kind], np.zeros((1, 1)), np.ascontiguousarray(x)[:, None], np.ones(1), 1.0, out)
    assert not out[0, len(x) :].any()
    return out[0, : len(x)].copy()


def exact(kind, r2):
    """R in 50 digits, and the argument of its exponential, for a double r2."""
    r2 = mpmath.mpf(r2)
    if kind == "rbf":
        return mpmath.exp(-r2 / 2), r2 / 2
    if kind == "matern32":
        a = mpmath.sqrt(3 * r2)
        return (1 + a) * mpmath.exp(-a), a
    a = mpmath.sqrt(5 * r2)
    return (1 + a + a * a / 3) * mpmath.exp(-a), a


def test_instruction_set_is_one_that_is_built():
    assert _linalg.simd_name() in ("baseline", "v3", "v4")


def started_with(instruction_set):
    code = "from gssbo._core import _linalg; print(_linalg.simd_name())"
    environment = os.environ | {"GSSBO_INSTRUCTION_SET": instruction_set}
    return subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False)


def test_the_environment_says_how_far_instructions_may_go():
    assert started_with("baseline").stdout == "baseline\n"
    found = [started_with(most).stdout.strip() for most in ("v3", "v4")]
    assert found in (["baseline", "baseline"], ["v3", "v3"], ["v3", "v4"])
    refused = started_with("avx2")
    assert "GSSBO_INSTRUCTION_SET must be one of 'baseline', 'v3', 'v4', got 'avx2'" in refused.stderr


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_values_against_fifty_digits(kind):
    """Within 1e-15 relative, plus what rounding the exponential's argument a to a double costs: eps a."""
    rng = np.random.default_rng(0)
    # At most 24 bits, so that their squares are doubles and nothing but the kernel is measured.
    x = np.concatenate([np.exp2(rng.uniform(-20, 5, 400)), np.linspace(0, 8, 200)])
    x = x.astype(np.float32).astype(np.float64)
    with mpmath.workdps(50):
        for value, r in zip(correlations(kind, x), x, strict=True):
            truth, a = exact(kind, r * r)
            if a > 690:
                continue
            allowed = mpmath.mpf(1e-15) + (a * 2.3e-16 if kind != "rbf" else 0)
            assert abs(value - truth) <= allowed * truth, (kind, r)


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_far_away_is_as_good_as_zero_and_never_more_than_at_home(kind):
    x = np.array([0.0, 1e-300, 1e-170, 1e-9, 1.0, 50.0, 1e3, 1e8, 1e160, 1e200])
    R = correlations(kind, x)
    assert R[0] == 1.0
    assert (np.diff(R) <= 0).all() and (R >= 0).all() and (R <= 1).all()
    assert (R[6:] < 1e-298).all()


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_a_value_does_not_depend_on_its_neighbours(kind):
    """Nor on its place in a vector or on how many there are: whole vectors and remainders agree to the bit."""
    x = np.random.default_rng(1).uniform(0, 6, 75)
    together = correlations(kind, x)
    for i in range(75):
        assert correlations(kind, x[i : i + 1])[0] == together[i]
    for count in range(1, 40):
        assert np.array_equal(correlations(kind, x[:count]), together[:count])
