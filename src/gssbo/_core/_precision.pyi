from gssbo._typing import FloatArray

def insert(
    n: int,
    slot: int,
    k: FloatArray,
    kappa: float,
    probe: FloatArray,
    K: FloatArray,
    P: FloatArray,
    Q: FloatArray,
) -> tuple[float, float]: ...
def clear_slot(n: int, slot: int, P: FloatArray, Q: FloatArray) -> None: ...
def close_slot(n: int, slot: int, P: FloatArray, Q: FloatArray) -> None: ...
def residual(n: int, v: FloatArray, K: FloatArray, P: FloatArray) -> float: ...
