from collections.abc import Callable

from gssbo._typing import FloatArray

CONVERGED: int
STALLED: int
LIMIT: int
UNUSABLE: int
MOST_CURVED: int

def state_size(d: int, curved: bool) -> int: ...
def work_size(n: int, d: int) -> int: ...
def average_information(
    z: FloatArray, factors: FloatArray, known: FloatArray, theta: FloatArray, work: FloatArray, M: FloatArray
) -> None: ...
def climb_function(
    function: Callable[[FloatArray], tuple[float, FloatArray]],
    fill: Callable[[FloatArray, FloatArray], None] | None,
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
    curved: bool,
    tolerance: float,
    max_evaluations: int,
    work: FloatArray,
    state: FloatArray,
    theta: FloatArray,
) -> tuple[float, int, int]: ...
