"""A ledger of suggestions, and all that is in its books."""

from gssbo import Optimizer

MIXED = {"n": range(10), "x": (0.0, 1.0), "c": ["u", "v"]}
POINT = {"n": 3, "x": 0.5, "c": "v"}


def asked(bounds=MIXED, n=4):
    opt = Optimizer(bounds, n_init=6, rng=0)
    return opt, opt.ask(n, ids=True)


def books(opt):
    return opt.X if isinstance(opt.X, list) else opt.X.tolist(), opt.y.tolist(), opt.pending, opt.n_failed
