"""Small runs with a journal."""

import gssbo
from gssbo.journal import read_journal
from tests.objectives import bowl

BOX = [(0.0, 1.0)] * 2

MIXED = {
    "rate": gssbo.Real(1e-5, 1.0, log=True),
    "step": gssbo.Real(0.1, 0.7, step=0.2),
    "n": gssbo.Integer(0, 10**18),
    "act": ["relu", "gelu", None, 1.5, ("a", 1)],
    "flag": bool,
    "fixed": (2.5, 2.5),
}
POINT = {"rate": 0.1, "step": 0.7, "n": 2**53 + 1, "act": ("a", 1), "flag": True, "fixed": 2.5}


def fresh(path, **options):
    return gssbo.Optimizer(BOX, n_init=3, rng=5, journal=path, **options)


def ten_rows(path):
    with fresh(path) as opt:
        for k in range(10):
            opt.tell([k / 10, 0.5], float(k))


def run(opt, n):
    for _ in range(n):
        x = opt.ask()
        opt.tell(x, bowl(x))


def kinds(path):
    return [entry.kind for entry in read_journal(path).entries]
