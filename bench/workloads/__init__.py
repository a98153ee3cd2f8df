"""The hot paths of gssbo as pieces of work that can be run and compared; `bench.plans` chooses among them."""

from bench.workloads.base import Disagreement, Shortfall, Target, Timed, Work, Workload

__all__ = ["Disagreement", "Shortfall", "Target", "Timed", "Work", "Workload"]
