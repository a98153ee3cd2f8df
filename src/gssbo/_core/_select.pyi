from gssbo._typing import FloatArray, IndexArray

def greedy_cosine(n: int, source: FloatArray, squared: bool, forced: IndexArray, chosen: IndexArray) -> None: ...
def greedy_sign(v: FloatArray, forced: IndexArray, chosen: IndexArray) -> None: ...
def kmeans_plus_plus(
    n: int, source: FloatArray, squared: bool, forced: IndexArray, uniforms: FloatArray, chosen: IndexArray
) -> None: ...
def farthest_kernel(
    kind: int,
    X: FloatArray,
    lengthscale: FloatArray,
    variance: float,
    forced: IndexArray,
    chosen: IndexArray,
) -> None: ...
