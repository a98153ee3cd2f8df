from collections.abc import Callable

from gssbo._typing import FloatArray

CONVERGED: int
STALLED: int
LIMIT: int
UNUSABLE: int

def state_size(d: int) -> int: ...
def climb_function(
    function: Callable[[FloatArray], tuple[float, FloatArray]],
    low: FloatArray,
    high: FloatArray,
    reach: FloatArray,
    centre: FloatArray,
    weight: FloatArray,
    tolerance: float,
    max_evaluations: int,
    state: FloatArray,
    theta: FloatArray,
) -> tuple[float, int, int]: ...
def climb(
    kind: int,
    X: FloatArray,
    z: FloatArray,
    factors: FloatArray,
    known: FloatArray,
    low: FloatArray,
    high: FloatArray,
    reach: FloatArray,
    centre: FloatArray,
    weight: FloatArray,
    tolerance: float,
    max_evaluations: int,
    work: FloatArray,
    state: FloatArray,
    theta: FloatArray,
) -> tuple[float, int, int]: ...
