"""The hot paths of gssbo as pieces of work that can be run and compared; `bench.plans` chooses among them."""

from bench.workloads.base import Disagreement, Target, Timed, Work, Workload

__all__ = ["Disagreement", "Target", "Timed", "Work", "Workload"]
