"""A model beside the lasso and the base rate."""

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.pipeline import make_pipeline

from ispca import ISPCA
from ispca.containers import array_api
from ispca.datasets import make_expression
from ispca.validation import compare_with_baselines


def recorded(function, seen):
    """Return a function that also appends its second argument to a list."""

    def record(self, X):
        seen.append(X)
        return function(self, X)

    return record


@pytest.mark.parametrize("model", [LogisticRegression(), LinearRegression()])
def test_the_model_and_both_baselines_are_measured(model):
    data = make_expression(n_samples=40, n_features=20, signal=3.0, random_state=0)
    y = data.target if isinstance(model, LogisticRegression) else data.data[:, data.relevant].mean(axis=1)
    result = compare_with_baselines(model, data.data, y, cv=3, n_jobs=1)
    assert result.methods == ["this model", "lasso", "base rate"]
    assert result.baseline == "base rate"
    assert len(result.splits) == 3
    assert not result.errors
    name = "accuracy" if isinstance(model, LogisticRegression) else "r2"
    model_scores, _, base_rate_scores = result.scores[name].T
    assert model_scores.mean() > base_rate_scores.mean()
    assert not hasattr(model, "coef_")
    assert np.isfinite(result.scores[name]).all()


def test_every_sample_is_held_out_once_and_a_notebook_shows_a_table():
    data = make_expression(n_samples=40, n_features=20, signal=3.0, random_state=0)
    result = compare_with_baselines(LogisticRegression(), data.data, data.target, cv=4, n_jobs=1)
    assert sorted(np.concatenate([split.test for split in result.splits])) == list(range(40))
    assert result.cv == "4 folds, stratified by class; every sample is held out once"
    page = result._repr_html_()
    assert ">4 folds, stratified by class; every sample is held out once (seed 0)</caption>" in page
    assert page.count("<tr>") == 1 + len(result.methods)
    cells = [name for name in result.table["method"] if f">{name}</td>" in page]
    assert len(cells) == 3


@pytest.mark.parametrize("settings", [{}, {"cross_fit": 3}])
def test_a_reduction_is_fitted_where_the_array_is(settings, monkeypatch):
    torch = pytest.importorskip("torch")
    data = make_expression(n_samples=60, n_features=200, signal=3.0, random_state=0)
    model = make_pipeline(ISPCA(3, n_permutations=200, random_state=0, **settings), LogisticRegression())
    options = {"cv": 3, "sample_weight": np.tile([1.0, 2.0], 30)}
    expected = compare_with_baselines(model, data.data, data.target, n_jobs=1, **options)
    seen = []
    monkeypatch.setattr(array_api.DeviceArray, "__init__", recorded(array_api.DeviceArray.__init__, seen))
    found = compare_with_baselines(model, torch.from_numpy(data.data), data.target, **options)
    # The array itself, and the training samples of each fold.
    assert {len(X) for X in seen} >= {60, 40}
    assert found.methods == expected.methods
    assert not found.errors
    for name, scores in expected.scores.items():
        np.testing.assert_allclose(found.scores[name], scores, atol=1e-6)


def test_a_fold_that_does_not_fit_on_the_device_is_fitted_on_the_cpu(monkeypatch):
    torch = pytest.importorskip("torch")
    data = make_expression(n_samples=60, n_features=200, signal=3.0, random_state=0)
    model = make_pipeline(ISPCA(3, n_permutations=200, random_state=0), LogisticRegression())
    expected = compare_with_baselines(model, data.data, data.target, n_jobs=1, cv=2)

    class OutOfMemoryError(RuntimeError):
        pass

    def fail(*_):
        raise OutOfMemoryError("no memory")

    monkeypatch.setattr(array_api.DeviceArray, "__getitem__", fail)
    found = compare_with_baselines(model, torch.from_numpy(data.data), data.target, cv=2)
    assert not found.errors
    assert "The device ran out of memory" in " ".join(found.predictions[0][0].messages)
    np.testing.assert_array_equal(found.scores["mlpd"], expected.scores["mlpd"])
