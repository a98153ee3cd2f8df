from gssbo._typing import FloatArray, IndexArray

def posterior(
    kind: int,
    X: FloatArray,
    z: FloatArray,
    known: FloatArray,
    lengthscale: FloatArray,
    variance: float,
    noise: float,
    m: int,
    candidates: FloatArray,
    mean: FloatArray,
    latent_variance: FloatArray,
) -> None: ...
def work_size(d: int, m: int) -> int: ...
def log_likelihood(
    kind: int,
    X: FloatArray,
    z: FloatArray,
    known: FloatArray,
    terms: IndexArray,
    sets: IndexArray,
    weight: float,
    theta: FloatArray,
    work: FloatArray,
    gradient: FloatArray,
) -> float: ...
def climb(
    kind: int,
    X: FloatArray,
    z: FloatArray,
    known: FloatArray,
    terms: IndexArray,
    sets: IndexArray,
    weight: float,
    low: FloatArray,
    high: FloatArray,
    reach: FloatArray,
    centre: FloatArray,
    prior_weight: FloatArray,
    tolerance: float,
    max_evaluations: int,
    work: FloatArray,
    state: FloatArray,
    theta: FloatArray,
) -> tuple[float, int, int]: ...
