from gssbo._typing import FloatArray

def insert(
    n: int,
    slot: int,
    k: FloatArray,
    probe: FloatArray,
    K: FloatArray,
    P: FloatArray,
    Q: FloatArray,
) -> tuple[float, float, float]: ...
def remove(
    n: int, slot: int, probe: FloatArray, K: FloatArray, P: FloatArray, Q: FloatArray
) -> tuple[float, float]: ...
def residual(n: int, v: FloatArray, K: FloatArray, P: FloatArray) -> float: ...
