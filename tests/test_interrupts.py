"""Books that a signal or another thread comes between, and copies of them."""

import contextlib
import copy
import pickle
import sys
import threading

import pytest
from scipy.optimize import NonlinearConstraint

from gssbo import Optimizer
from gssbo.pending import Pending
from gssbo.resume import set_states, states_of
from tests.ledgers import books


@pytest.mark.parametrize("made", [copy.deepcopy, copy.copy, lambda opt: pickle.loads(pickle.dumps(opt))])
def test_a_copy_is_of_one_moment_while_others_tell(made):
    """Telling is done while the copy is made, by a thread that waits for it to begin."""
    opt = Optimizer([(0.0, 1.0)], rng=0)
    opt.tell([[0.25], [0.5]], [1.0, 2.0])
    teller = threading.Thread(target=lambda: opt.tell([0.75], 3.0))

    class Interrupts:  # someone else's turn comes in the middle of the copy
        def __deepcopy__(self, memo):
            if not teller.ident:
                teller.start()
                teller.join(0.2)
            return None

    opt.__dict__ = {"_first": Interrupts(), **vars(opt)}
    twin = made(opt)
    teller.join()
    assert (twin.n_told, opt.n_told) == (2, 3)
    twin.tell([0.1], 4.0)
    assert opt.n_told == 3 and twin.space is not opt.space


def test_what_is_shared_with_a_copy_stays_shared():
    opt = Optimizer([(0.0, 1.0)], rng=0)
    twin, space = copy.deepcopy((opt, opt.space))
    assert twin.space is space
    assert copy.deepcopy([opt, opt])[0].n_told == 0


@pytest.mark.parametrize("maximize", [False, True])
def test_what_is_better_is_settled_at_the_beginning(maximize):
    opt = Optimizer([(0.0, 1.0)], maximize=maximize)
    assert opt.maximize is maximize
    with pytest.raises(AttributeError, match="maximize"):
        opt.maximize = not maximize
    assert copy.deepcopy(opt).maximize is pickle.loads(pickle.dumps(opt)).maximize is maximize


@pytest.mark.parametrize("times", [1, 2, 5])
@pytest.mark.parametrize(
    ("step", "call"),
    [
        ("add", lambda opt: opt.announce([[0.1], [0.2], [0.3]])),
        ("forget", lambda opt: opt.forget()),
        ("settle", lambda opt: opt.tell(id=[0, 1], y=[1.0, 2.0])),
    ],
)
@pytest.mark.parametrize("copied", [False, True])
@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit, TimeoutError])
def test_what_a_signal_interrupts_is_completed(monkeypatch, step, call, times, copied, error):
    """At once, or with the next call where another one comes; what its handler raises makes no difference."""
    calm, hit = (Optimizer([(0.0, 1.0)], n_init=9, rng=0) for _ in range(2))
    for opt in (calm, hit):
        opt.ask(3)
    call(calm)
    original, left = getattr(Pending, step), [times]

    def interrupted(*arguments, **options):
        found = original(*arguments, **options)
        left[0] -= 1
        if left[0] >= 0:
            raise error
        return found

    with monkeypatch.context() as patch:
        patch.setattr(Pending, step, interrupted)
        with pytest.raises(error):
            call(hit)
    if copied:
        hit = copy.deepcopy(hit)
    for opt in (calm, hit):
        opt.tell([0.5], 1.0)
    assert books(calm) == books(hit)
    assert calm.ask(ids=True) == hit.ask(ids=True)


@pytest.mark.parametrize("times", [1, 2])
def test_all_generators_are_reseeded_or_none(monkeypatch, times):
    calm, hit = (Optimizer([(0.0, 1.0)] * 2, n_init=3, rng=0) for _ in range(2))
    left = [times]

    class Interrupting:
        def __init__(self, generator):
            self.bit_generator = self
            self._generator = generator

        def __setattr__(self, name, value):
            if name == "state":
                left[0] -= 1
                if left[0] >= 0:
                    raise KeyboardInterrupt
                self._generator.bit_generator.state = value
            else:
                super().__setattr__(name, value)

    calm.reseed(1)
    design, *others = hit._generators
    with monkeypatch.context() as patch:
        fake = Interrupting(others[0])
        patch.setattr("gssbo.resumable.set_states", lambda _, states: set_states([design, fake, *others[1:]], states))
        with pytest.raises(KeyboardInterrupt):
            hit.reseed(1)
        for opt in (calm, hit):
            opt.tell([0.5, 0.5], 1.0)
    assert states_of(calm._generators) == states_of(hit._generators)


NESTED = {
    "tell": lambda opt: opt.tell([0.9], 9.0),
    "ask": lambda opt: opt.ask(),
    "copy": copy.deepcopy,
    "predict": lambda opt: opt.predict([[0.2]]),
    "result": lambda opt: opt.result(),
}


def called_within(opt, call, nested, line):
    """Make a call, and another one at one of its lines, as a signal's handler may.

    Returns whether that line was reached, and whether the other call was refused.
    """
    left, refused = [line], []

    def handler(frame, event, argument):
        if event == "line" and not refused and "gssbo" in frame.f_code.co_filename:
            left[0] -= 1
            if left[0] < 0:
                refused.append(False)
                with contextlib.suppress(RuntimeError):
                    nested(opt)
                    return handler
                refused[0] = True
        return handler

    before = sys.gettrace()
    sys.settrace(handler)
    try:
        call(opt)
    finally:
        sys.settrace(before)
    return bool(refused), any(refused)


@pytest.mark.parametrize("nested", NESTED.values(), ids=NESTED)
@pytest.mark.parametrize(
    "call", [lambda opt: opt.tell([[0.1], [0.3]], [1.0, 2.0]), lambda opt: opt.ask(2)], ids=["tell", "ask"]
)
def test_a_handler_that_calls_the_optimizer_loses_nothing(call, nested):
    """What it changes comes before the call that it interrupted, or after it, or not at all."""
    opt = Optimizer([(0.0, 1.0)], method="box", n_init=4, rng=0)
    opt.tell([[0.15], [0.35], [0.55], [0.75], [0.95]], [3.0, 1.0, 2.0, 4.0, 5.0])
    opt.ask()

    def after(*calls):
        twin = pickle.loads(pickle.dumps(opt))
        for each in calls:
            each(twin)
        return books(twin), twin.ask(2).tolist()

    whole = [after(call, nested), after(nested, call)]
    seen = set()
    for line in range(0, 100_000, 9):
        hit = pickle.loads(pickle.dumps(opt))
        reached, refused = called_within(hit, call, nested, line)
        if not reached:
            break
        seen.add(refused)
        assert (books(hit), hit.ask(2).tolist()) in ([after(call)] if refused else whole)
    assert line > 100 and (True in seen) == (nested in [NESTED[name] for name in ("tell", "ask", "copy")])


def test_a_refused_call_says_what_to_do():
    def constraint(x):
        opt.tell([0.5], 1.0)
        return 0.0

    opt = Optimizer([(0.0, 1.0)], constraints=NonlinearConstraint(constraint, -1.0, 1.0), rng=0)
    with pytest.raises(RuntimeError, match="while this thread was in another of its calls"):
        opt.ask()
    assert opt.n_told == 0
