from gssbo._typing import FloatArray, IndexArray

def pivots(
    kind: int,
    X: FloatArray,
    lengthscale: FloatArray,
    variance: float,
    noise: float,
    z: FloatArray,
    form: FloatArray,
    forced: IndexArray,
    chosen: IndexArray,
) -> None: ...
