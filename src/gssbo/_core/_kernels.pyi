from gssbo._typing import FloatArray

KINDS: dict[str, int]

def gram(
    kind: int,
    X: FloatArray,
    lengthscale: FloatArray,
    variance: float,
    diagonal: FloatArray,
    full: bool,
    K: FloatArray,
) -> None: ...
def cross(kind: int, A: FloatArray, B: FloatArray, lengthscale: FloatArray, variance: float, K: FloatArray) -> None: ...
