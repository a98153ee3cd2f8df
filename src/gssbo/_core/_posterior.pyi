from gssbo._typing import FloatArray

def posterior(
    kind: int,
    X: FloatArray,
    lengthscale: FloatArray,
    variance: float,
    U: FloatArray,
    alpha: FloatArray,
    candidates: FloatArray,
    mean: FloatArray,
    latent_variance: FloatArray,
) -> None: ...
def posterior_bound(
    kind: int,
    X: FloatArray,
    lengthscale: FloatArray,
    variance: float,
    share: float,
    alpha: FloatArray,
    candidates: FloatArray,
    tolerance: float,
    mean: FloatArray,
    std: FloatArray,
) -> None: ...
def posterior_gradient(
    kind: int,
    X: FloatArray,
    lengthscale: FloatArray,
    variance: float,
    U: FloatArray,
    alpha: FloatArray,
    candidates: FloatArray,
    dmean: FloatArray,
    dvariance: FloatArray,
) -> None: ...
