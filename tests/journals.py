"""Small runs with a journal."""

import gssbo
from gssbo.journal import read_journal
from tests.objectives import bowl

BOX = [(0.0, 1.0)] * 2


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
