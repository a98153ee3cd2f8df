from gssbo._typing import FloatArray

def climb_log_ei(
    kind: int,
    X: FloatArray,
    lengthscale: FloatArray,
    variance: float,
    U: FloatArray,
    alpha: FloatArray,
    best: float,
    low: FloatArray,
    high: FloatArray,
    max_evaluations: int,
    x: FloatArray,
) -> float: ...
