"""Small searches by `GSSBOSearchCV`."""

from sklearn.datasets import load_iris

from gssbo.integrations.sklearn import GSSBOSearchCV

QUICK = {"n_init": 4, "threads": 1}
IRIS = load_iris(return_X_y=True)


def search(estimator, space, **options):
    return GSSBOSearchCV(estimator, space, **({"optimizer_options": QUICK, "random_state": 0, "n_iter": 8} | options))
