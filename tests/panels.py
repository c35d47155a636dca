"""Stand-ins for fitted selectors, with made-up paths."""

import warnings
from functools import cache
from types import SimpleNamespace

import numpy as np
from sklearn.pipeline import make_pipeline

from ispca import HorseshoeClassifier
from ispca.selection.selector_methods import panel_table

FEATURES = ["gene 7", "gene 3", "gene 12", "gene 5"]
DIVERGENCE = [0.5, 0.2, 0.06, 0.04, 0.02]
DIFFERENCE = [-0.45, -0.2, -0.03, -0.01, 0.005]
FRACTIONS = [1.0, 0.9, 0.6, 0.5]
ACCURACY, AUC = [0.5, 0.8, 0.9, 0.92, 0.95], [0.5, 0.85, 0.93, 0.95, 0.97]
ERRORS = [0.08, 0.06, 0.04, 0.03, 0.03]
SHORT = {"n_warmup": 40, "n_draws": 40, "retry": False, "n_jobs": 1, "random_state": 0}


def path(validated=True, names=FEATURES, costs=None, dropped=""):
    """Return a path of four features."""
    columns = {"size": np.arange(5), "feature": np.array(["", *names])}
    columns["dropped"] = np.array(["", "", "", "", dropped])
    columns["divergence"] = np.array(DIVERGENCE)
    if validated:
        columns["density"] = np.array(DIFFERENCE) - 0.3
        columns |= {"difference": np.array(DIFFERENCE), "difference_error": np.array(ERRORS)}
        columns |= {"accuracy": np.array(ACCURACY), "auc": np.array(AUC)}
        columns["fraction"] = np.array([np.nan, *np.cumsum(FRACTIONS) / np.arange(1, 5)])
    if costs is not None:
        columns["cost"] = np.cumsum([0.0, *costs])
    return np.rec.fromarrays(list(columns.values()), names=",".join(columns))


@cache
def submodel_of_noise(size, n_classes):
    """Return a model of so many features, the same one each time."""
    X, y = np.random.default_rng(0).normal(size=(40, 4)), np.arange(40) % n_classes
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return make_pipeline("passthrough", HorseshoeClassifier(**SHORT).fit(X[:, :size], y))


def selector(validated=True, n_features=2, names=FEATURES, costs=None, n_classes=2):
    """Return a selector with this path and suggested size; its submodels are fitted to noise."""

    def submodel(size=n_features):
        return submodel_of_noise(size, n_classes)

    def panel(size=n_features):
        fractions = FRACTIONS[:size] if validated else np.full(size, np.nan)
        return panel_table(submodel(size), names[:size], np.array(fractions))

    def alternatives(feature, size=n_features):
        found = (["gene 8", "gene 2"], [0.9, 0.3], [0.001, 0.2], [0.02, 4.0], [True, False])
        return np.rec.fromarrays(found, names="feature,correlation,cost,cost_in_errors,equivalent")

    groups = ([names[0], names[0]], [f"sister of {names[0]}", "gene 9"], [0.95, -0.9], [0.0001, 0.001])
    return SimpleNamespace(
        path_=path(validated, names, costs),
        n_features_=n_features,
        validated_=validated,
        reference_density_=-0.3,
        reference_measures_={"accuracy": 0.94, "auc": 0.96} if validated else {},
        message_="The verdict.",
        groups_=np.rec.fromarrays(groups, names="feature,stands_for,correlation,cost"),
        costs=costs,
        panels_=[np.arange(size) for size in range(5)],
        submodel=submodel,
        panel=panel,
        alternatives=alternatives,
    )
