"""The names that users import, and what every estimator of the package offers."""

import inspect
import subprocess
import sys
import warnings
from typing import Self, get_type_hints

import numpy as np
import pytest
from sklearn.base import BaseEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

import ispca
from ispca import BaggedPosterior, selection, validation
from ispca.models.base import Horseshoe
from ispca.stacking.base import Stacked

ESTIMATORS = [
    kind
    for kind in (getattr(ispca, name) for name in ispca.__all__)
    if inspect.isclass(kind) and issubclass(kind, BaseEstimator)
]


def test_records_are_imported_from_where_users_look():
    assert {"Step", "Posterior", "Diagnostics"} <= set(ispca.__all__)
    assert "Comparison" in validation.__all__
    assert "ProjectionSelector" in selection.__all__
    for package in (ispca, selection, validation):
        assert all(hasattr(package, name) for name in package.__all__)


def test_the_package_imports_what_is_used():
    code = """import sys, ispca, ispca.cli
print("sklearn" in sys.modules, dir(ispca))
print(ispca.ISPCA, ispca.datasets)"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.startswith("False")
    assert all(name in done.stdout for name in [*ispca.__all__, "validation", "module 'ispca.datasets'"])
    with pytest.raises(AttributeError, match="no attribute 'ISPC'"):
        ispca.ISPC  # noqa: B018


# A bagged posterior has no default model.
CLASSIFIERS = [kind for kind in ESTIMATORS if hasattr(kind, "predict_proba") and kind is not BaggedPosterior]


def test_completion_shows_public_names_only():
    assert set(dir(ispca)) - {"__version__"} == {*ispca.__all__, *ispca.PACKAGES}


@pytest.mark.parametrize("kind", ESTIMATORS)
def test_fit_returns_its_own_type(kind):
    """Type checkers then know what ``ISPCA().fit(X, y)`` is, also of a subclass."""
    assert get_type_hints(kind.fit)["return"] is Self


@pytest.mark.parametrize("kind", CLASSIFIERS)
def test_every_classifier_has_log_probabilities(kind, rng):
    X, y = rng.normal(size=(40, 3)), np.arange(40) % 2
    options = {"estimators": {"a": LogisticRegression()}, "n_jobs": 1} if issubclass(kind, Stacked) else {}
    if kind is ispca.BaggedPosterior:
        pipeline = make_pipeline(ispca.ISPCA(2), ispca.HorseshoeClassifier())
        options = {"estimator": pipeline, "n_bags": 2, "n_jobs": 1}
    if "random_state" in inspect.signature(kind).parameters:
        options["random_state"] = 0
    if issubclass(kind, Horseshoe):
        options |= {"n_chains": 2, "n_warmup": 50, "n_draws": 50, "retry": False}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = kind(**options).fit(X, y)
    np.testing.assert_allclose(model.predict_log_proba(X), np.log(model.predict_proba(X)), rtol=1e-10)
    far = model.predict_log_proba(1e5 * X)
    assert far.shape == (40, 2)
    assert not np.isnan(far).any()


SUBMODELS = [getattr(selection, name) for name in selection.__all__ if name.startswith("Projected")]


@pytest.mark.parametrize("kind", [kind for kind in ESTIMATORS + SUBMODELS if hasattr(kind, "predict")])
def test_every_model_has_a_log_predictive_density(kind):
    parameters = list(inspect.signature(kind.log_predictive_density).parameters.values())
    assert [parameter.name for parameter in parameters[:3]] == ["self", "X", "y"]
    assert all(parameter.default is None for parameter in parameters[3:]), "callers need not know them"
