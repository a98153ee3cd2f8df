"""The portfolio: several searchers on one history, and the strategy that shares the suggestions among them."""

from gssbo.portfolio.strategy import Portfolio

__all__ = ["Portfolio"]
