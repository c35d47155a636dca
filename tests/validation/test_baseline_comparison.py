"""A model beside the lasso and the base rate."""

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression, LogisticRegression

from ispca.datasets import make_expression
from ispca.validation import compare_with_baselines


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
