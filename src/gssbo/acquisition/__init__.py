"""Acquisition functions, all to be maximised over candidates."""

from __future__ import annotations

from gssbo.acquisition.base import Acquisition
from gssbo.acquisition.improvement import (
    ExpectedImprovement,
    LogExpectedImprovement,
    ProbabilityOfImprovement,
)
from gssbo.acquisition.pointwise import IncreasingAcquisition
from gssbo.acquisition.thompson import ThompsonSampling
from gssbo.acquisition.ucb import UpperConfidenceBound

__all__ = [
    "ACQUISITIONS",
    "Acquisition",
    "ExpectedImprovement",
    "IncreasingAcquisition",
    "LogExpectedImprovement",
    "ProbabilityOfImprovement",
    "ThompsonSampling",
    "UpperConfidenceBound",
]

ACQUISITIONS: dict[str, type[Acquisition]] = {
    "ucb": UpperConfidenceBound,
    "ei": ExpectedImprovement,
    "log_ei": LogExpectedImprovement,
    "pi": ProbabilityOfImprovement,
    "thompson": ThompsonSampling,
}
"""Acquisition functions by name."""
