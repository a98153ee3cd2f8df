from gssbo._typing import FloatArray, IndexArray

def fit(
    kind: int,
    X: FloatArray,
    z: FloatArray,
    lengthscale: FloatArray,
    variance: float,
    diagonal: FloatArray,
    U: FloatArray,
    alpha: FloatArray,
) -> float: ...
def work_size(n: int, d: int) -> int: ...
def log_likelihood(
    kind: int,
    X: FloatArray,
    z: FloatArray,
    factors: FloatArray,
    known: FloatArray,
    theta: FloatArray,
    work: FloatArray,
    gradient: FloatArray,
) -> float: ...
def stages_size(n: int) -> int: ...
def share_likelihood(
    kind: int,
    X: FloatArray,
    z: FloatArray,
    factors: FloatArray,
    known: FloatArray,
    theta: FloatArray,
    work: FloatArray,
    outcome: FloatArray,
    threads: int,
    shared: IndexArray,
) -> None: ...
def share_precision(
    kind: int,
    X: FloatArray,
    lengthscale: FloatArray,
    variance: float,
    diagonal: FloatArray,
    K: FloatArray,
    P: FloatArray,
    scratch: FloatArray,
    inputs: FloatArray,
    shared: IndexArray,
) -> int: ...
