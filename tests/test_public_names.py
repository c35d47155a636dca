"""The names that users import, and what every estimator of the package offers."""

import inspect

import pytest
from sklearn.base import BaseEstimator

import ispca
from ispca import selection, validation

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


SUBMODELS = [getattr(selection, name) for name in selection.__all__ if name.startswith("Projected")]


@pytest.mark.parametrize("kind", [kind for kind in ESTIMATORS + SUBMODELS if hasattr(kind, "predict")])
def test_every_model_has_a_log_predictive_density(kind):
    parameters = list(inspect.signature(kind.log_predictive_density).parameters.values())
    assert [parameter.name for parameter in parameters[:3]] == ["self", "X", "y"]
    assert all(parameter.default is None for parameter in parameters[3:]), "callers need not know them"
