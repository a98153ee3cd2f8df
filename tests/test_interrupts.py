"""Books that a signal or another thread comes between, and copies of them."""

import copy
import pickle
import threading

import pytest

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
