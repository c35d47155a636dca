"""The names that users import, and what every estimator of the package offers."""

import inspect
import subprocess
import sys

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


def test_the_package_imports_what_is_used():
    code = """import sys, ispca, ispca.cli
print("sklearn" in sys.modules, dir(ispca))
print(ispca.ISPCA, ispca.datasets)"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.startswith("False")
    assert all(name in done.stdout for name in [*ispca.__all__, "validation", "module 'ispca.datasets'"])
    with pytest.raises(AttributeError, match="no attribute 'ISPC'"):
        ispca.ISPC  # noqa: B018


SUBMODELS = [getattr(selection, name) for name in selection.__all__ if name.startswith("Projected")]


@pytest.mark.parametrize("kind", [kind for kind in ESTIMATORS + SUBMODELS if hasattr(kind, "predict")])
def test_every_model_has_a_log_predictive_density(kind):
    parameters = list(inspect.signature(kind.log_predictive_density).parameters.values())
    assert [parameter.name for parameter in parameters[:3]] == ["self", "X", "y"]
    assert all(parameter.default is None for parameter in parameters[3:]), "callers need not know them"
