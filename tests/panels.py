"""Stand-ins for fitted selectors, with made-up paths."""

from types import SimpleNamespace

import numpy as np

FEATURES = ["gene 7", "gene 3", "gene 12", "gene 5"]
DIVERGENCE = [0.5, 0.2, 0.06, 0.04, 0.02]
DIFFERENCE = [-0.45, -0.2, -0.03, -0.01, 0.005]
ERRORS = [0.08, 0.06, 0.04, 0.03, 0.03]


def path(validated=True, names=FEATURES):
    """Return a path of four features."""
    columns = {"size": np.arange(5), "feature": np.array(["", *names]), "divergence": np.array(DIVERGENCE)}
    if validated:
        columns["density"] = np.array(DIFFERENCE) - 0.3
        columns |= {"difference": np.array(DIFFERENCE), "difference_error": np.array(ERRORS)}
        columns["fraction"] = np.array([1.0, 1.0, 0.9, 0.6, 0.5])
    return np.rec.fromarrays(list(columns.values()), names=",".join(columns))


def selector(validated=True, n_features=2, names=FEATURES, **more):
    """Return a selector with this path and suggested size."""
    known = {"path_": path(validated, names), "n_features_": n_features, "validated_": validated}
    return SimpleNamespace(**known, **more)
