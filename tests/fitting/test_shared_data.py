"""Methods that change their data in place change neither those of other methods nor the caller's."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.linear_model import BayesianRidge, LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from ispca import (
    ISPCA,
    PenalizedClassifier,
    PenalizedCounts,
    PenalizedSurvival,
    StackedClassifier,
    StackedCounts,
    StackedOrdinal,
    StackedRegressor,
    StackedSurvival,
)
from ispca.fitted_parts import take_apart
from ispca.plots import calibration_table
from ispca.selection import ProjectionSelector
from ispca.validation import compare


class Doubled(TransformerMixin, BaseEstimator):
    """Doubles its data in place, whatever they are in."""

    def fit(self, X, y=None):
        self.n_features_in_ = X.shape[1]
        return self

    def transform(self, X):
        if hasattr(X, "iloc"):
            X.iloc[:, :] = 2 * X.to_numpy()
        else:
            values = X.data if sp.issparse(X) else X
            values *= 2
        return X


def unsorted(X):
    """Return a sparse matrix whose rows are stored backwards, which many methods sort in place."""
    X = sp.csr_array(X)
    for start, end in zip(X.indptr, X.indptr[1:], strict=False):
        X.data[start:end], X.indices[start:end] = X.data[start:end][::-1], X.indices[start:end][::-1]
    return sp.csr_array((X.data, X.indices, X.indptr), shape=X.shape)


NAMES = ["a", "b", "c", "d"]
CONTAINERS = {
    "array": np.array,
    "Fortran order": np.asfortranarray,
    "pandas": lambda X: pd.DataFrame(X, columns=NAMES),
    "two blocks": lambda X: pd.DataFrame(X, columns=NAMES).astype({"b": np.float32}),
    "polars": lambda X: pl.DataFrame(X, schema=NAMES),
    **{name: getattr(sp, f"{name}_array") for name in ("csr", "csc", "coo", "lil", "dok")},
    "unsorted": unsorted,
}
SCALED = make_pipeline(StandardScaler(copy=False, with_mean=False), LogisticRegression())
PLAIN = LogisticRegression()


@pytest.fixture
def data(rng):
    X = rng.normal(size=(40, 4)) * [1, 10, 100, 0.1] + 1
    X[rng.random(X.shape) < 0.3] = 0.0
    return X, (X[:, 0] + rng.normal(size=40) > 1).astype(int)


def values(X):
    return X.toarray() if sp.issparse(X) else np.asarray(X)


def entries(X):
    """Return everything that is stored, in its order."""
    return [X.data.copy(), X.indices.copy()] if getattr(X, "format", "") in ("csr", "csc") else [values(X).copy()]


@pytest.mark.slow
@pytest.mark.grid(5)
@pytest.mark.parametrize("container", CONTAINERS)
@pytest.mark.parametrize("first", [SCALED, make_pipeline(Doubled(), LogisticRegression())], ids=["scaler", "own"])
@pytest.mark.filterwarnings("ignore:The candidate")
def test_other_candidates_of_a_stack(data, container, first):
    X, y = CONTAINERS[container](data[0]), data[1].copy()
    if container == "polars" and first is not SCALED:
        pytest.skip("polars frames cannot be changed in place")
    weight, before = np.linspace(1, 2, len(y)), entries(X)
    stack = StackedClassifier({"first": first, "plain": PLAIN}, cv=3, n_jobs=1, random_state=0)
    stack.fit(X, y, sample_weight=weight)
    probabilities = stack.predict_proba(X)
    alone = clone(PLAIN).fit(CONTAINERS[container](data[0]), y, sample_weight=weight)
    np.testing.assert_allclose(stack.estimators_["plain"].coef_, alone.coef_, rtol=1e-6)
    np.testing.assert_array_equal(stack.predict_proba(X), probabilities)
    for now, then in zip(entries(X), before, strict=True):
        np.testing.assert_array_equal(now, then)
    np.testing.assert_array_equal(y, data[1])
    np.testing.assert_array_equal(weight, np.linspace(1, 2, len(y)))


@pytest.mark.slow
@pytest.mark.grid(3)
@pytest.mark.parametrize("container", ["array", "pandas", "csr"])
def test_other_methods_of_a_comparison(data, container):
    X, y = CONTAINERS[container](data[0]), data[1]
    both = {"first": SCALED, "plain": PLAIN}
    results = [compare(both, X, y, cv=3, n_jobs=n_jobs, random_state=0) for n_jobs in (1, 2)]
    alone = compare({"plain": PLAIN}, X, y, cv=3, n_jobs=1, random_state=0)
    copied = compare({"first": clone(SCALED).set_params(standardscaler__copy=True)}, X, y, cv=3, n_jobs=1)
    expected = {"plain": alone.table.mlpd[0], "first": copied.table.mlpd[0]}
    for result in results:
        found = dict(zip(result.table.method, result.table.mlpd, strict=True))
        assert found == pytest.approx(expected)
    np.testing.assert_array_equal(values(X), data[0])


@pytest.mark.parametrize("container", ["array", "csr"])
def test_a_method_that_must_not_change_its_data_says_what_to_do(data, container):
    X = CONTAINERS[container](data[0])
    named = {"doubled": make_pipeline(Doubled(), LogisticRegression()), "plain": PLAIN}
    advice = r"'doubled' failed and is left out: ValueError: .*read-only.*copy X before it changes it"
    with pytest.warns(UserWarning, match=advice):
        StackedClassifier(named, cv=3, n_jobs=1, random_state=0).fit(X, data[1])
    np.testing.assert_array_equal(values(X), data[0])


KINDS = {
    "values": (StackedRegressor, BayesianRidge(), lambda y, rng: y + rng.normal(size=len(y))),
    "counts": (StackedCounts, PenalizedCounts(cv=3), lambda y, rng: rng.poisson(1 + 3 * y)),
    "grades": (StackedOrdinal, LogisticRegression(), lambda y, rng: y + rng.integers(0, 2, len(y))),
    "survival": (
        StackedSurvival,
        PenalizedSurvival(cv=3),
        lambda y, rng: (rng.random(len(y)) < 0.8, rng.exponential(np.exp(-y))),
    ),
}


@pytest.mark.grid(5)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("container", ["array", "pandas"])
@pytest.mark.filterwarnings("ignore:The chosen penalty")
def test_the_caller_keeps_the_data_of_every_stack(data, rng, kind, container):
    stack, model, target = KINDS[kind]
    X, y = CONTAINERS[container](data[0]), target(data[1], rng)
    named = {"a": make_pipeline(StandardScaler(copy=False), model), "b": model}
    fitted = stack(named, cv=3, n_jobs=1, random_state=0).fit(X, y)
    first = fitted.predict(X)
    fitted.log_predictive_density(X, y)
    np.testing.assert_array_equal(fitted.predict(X), first)
    np.testing.assert_array_equal(values(X), data[0])


@pytest.mark.parametrize("container", ["array", "pandas"])
def test_the_reference_of_a_selection(data, container):
    X, y = CONTAINERS[container](data[0]), data[1]

    def panels(copy):
        reference = make_pipeline(StandardScaler(copy=copy), PenalizedClassifier(cv=3))
        options = {"max_features": 2, "cv": 2, "n_jobs": 1, "random_state": 0}
        return ProjectionSelector(reference, **options).fit(X, y).path_

    assert str(panels(False)) == str(panels(True))
    np.testing.assert_array_equal(values(X), data[0])


@pytest.mark.parametrize("container", ["array", "pandas"])
def test_tables_of_a_fitted_pipeline(data, container):
    X, y = CONTAINERS[container](data[0]), data[1]
    model = make_pipeline(StandardScaler(copy=False), ISPCA(2, alpha=None, random_state=0), LogisticRegression())
    model.fit(CONTAINERS[container](data[0]), y)
    take_apart(model).model_input(X)
    calibration_table(model, X, y)
    np.testing.assert_array_equal(values(X), data[0])
