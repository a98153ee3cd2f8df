"""Optuna's own tests of samplers, all that apply to one objective, with the model in from the third trial on."""

from functools import partial

import pytest

optuna = pytest.importorskip("optuna")

suite = pytest.importorskip("optuna.testing.pytest_samplers")  # older releases have none

from gssbo.integrations.optuna import GSSBOSampler  # noqa: E402

pytestmark = pytest.mark.usefixtures("quiet")

SETTINGS = {
    "box": {"method": "box"},
    "portfolio": {"method": "portfolio", "group": True},
}


@pytest.mark.parametrize("setting", SETTINGS)
class TestPublishedSuite(suite.BasicSamplerTestCase, suite.RelativeSamplerTestCase, suite.SingleOnlySamplerTestCase):
    @pytest.fixture
    def sampler(self, setting):
        return partial(
            GSSBOSampler, n_startup_trials=2, threads=1, warn_independent_sampling=False, **SETTINGS[setting]
        )
