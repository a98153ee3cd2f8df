"""Admissions to spaces in which something is told and pending, and what they find."""

import numpy as np

from gssbo.admission import Admission
from gssbo.history import History
from gssbo.pending import Pending
from gssbo.space import Space


def books(bounds, told=(), asked=(), *, constraints=None, repeats=False):
    space = Space(bounds, constraints)
    history, pending = History(space.dim, space.empty()), Pending(space.dim)
    if len(told):
        rows, _ = space.read("x", told)
        history.append(rows, space.to_unit(rows), np.zeros(len(rows)))
    if len(asked):
        rows, _ = space.read("x", asked)
        for row, unit in zip(rows, space.to_unit(rows), strict=True):
            pending.add(row, unit)
    return space, Admission(space, history, pending, repeats=repeats)


def found(space, admission, n, seed=0):
    return space.show(space.from_unit(admission.some(n, np.random.default_rng(seed))))
