from gssbo._typing import FloatArray, IndexArray

def exchange(
    kind: int,
    X: FloatArray,
    lengthscale: FloatArray,
    variance: float,
    noise: float,
    z: FloatArray,
    form: FloatArray,
    n_forced: int,
    most: int,
    chosen: IndexArray,
) -> int: ...
