from gssbo._typing import FloatArray

CONVERGED: int
STALLED: int
LIMIT: int
UNUSABLE: int

def climb(
    kind: int,
    X: FloatArray,
    z: FloatArray,
    low: FloatArray,
    high: FloatArray,
    max_evaluations: int,
    work: FloatArray,
    theta: FloatArray,
) -> tuple[float, int, int]: ...
