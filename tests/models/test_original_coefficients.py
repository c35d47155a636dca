"""original_coefficients: the draws carried back through the reduction, in the original units."""

import numpy as np
import pandas as pd
import pytest
from sklearn.decomposition import PCA
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from ispca import ISPCA, SPCA, HorseshoeClassifier, HorseshoeRegressor, original_coefficients
from ispca.models import coefficients as coefficients_module

SETTINGS = {"random_state": 0, "n_draws": 400}


def pipeline(model, reduction=ISPCA, **options):
    return make_pipeline(reduction(4, whiten=True, random_state=0, **options), model(**SETTINGS))


def three_classes(labels, numbers):
    return np.array(["low", "middle", "top"])[np.digitize(numbers, np.quantile(numbers, [1 / 3, 2 / 3]))]


def linear_predictor(table, X):
    """Evaluate a table: the first row is the intercept."""
    return X @ table["mean"][1:] + table["mean"][0]


@pytest.mark.parametrize("reduction", [ISPCA, SPCA])
def test_two_classes(expression, reduction):
    X, labels, _ = expression
    model = pipeline(HorseshoeClassifier, reduction).fit(X, labels)
    table = original_coefficients(model)
    assert len(table) == X.shape[1] + 1
    assert table["feature"][0] == "(intercept)"
    assert set(table["target_class"]) == {"sick"}
    clf = model[-1]
    expected = model[0].transform(X) @ clf.coef_[0] + clf.intercept_[0]
    np.testing.assert_allclose(linear_predictor(table, X), expected, rtol=1e-9, atol=1e-9)


def test_regression(expression):
    X, _, numbers = expression
    model = pipeline(HorseshoeRegressor).fit(X, numbers)
    table = original_coefficients(model)
    assert set(table["target_class"]) == {""}
    np.testing.assert_allclose(linear_predictor(table, X), model.predict(X), rtol=1e-9, atol=1e-9)


def test_more_classes_give_contrasts_to_the_average_class(expression):
    X, labels, numbers = expression
    model = pipeline(HorseshoeClassifier).fit(X, three_classes(labels, numbers))
    table = original_coefficients(model)
    assert len(table) == 3 * (X.shape[1] + 1)
    clf = model[-1]
    eta = model[0].transform(X) @ clf.coef_.T + clf.intercept_
    expected = eta - eta.mean(axis=1, keepdims=True)
    for i, label in enumerate(["low", "middle", "top"]):
        part = table[table["target_class"] == label]
        np.testing.assert_allclose(linear_predictor(part, X), expected[:, i], rtol=1e-9, atol=1e-9)
    means = table["mean"].reshape(3, -1)
    np.testing.assert_allclose(means.sum(axis=0), 0, atol=1e-9 * np.abs(means).max())


def test_summaries_are_those_of_the_draws(expression):
    X, labels, _ = expression
    model = pipeline(HorseshoeClassifier).fit(X, labels)
    table = original_coefficients(model)
    reduction, draws = model[0], model[-1].posterior_
    coef, intercept = reduction.original_coef(draws.flat("coef"), draws.flat("intercept"))
    everything = np.column_stack([intercept, coef])
    np.testing.assert_allclose(table["mean"], everything.mean(axis=0), rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(table["sd"], everything.std(axis=0), rtol=1e-9)
    low, high = np.quantile(everything, [0.05, 0.95], axis=0)
    # Single precision is enough for quantiles.
    np.testing.assert_allclose(table["q5"], low, rtol=1e-5, atol=1e-6 * np.abs(everything).max())
    np.testing.assert_allclose(table["q95"], high, rtol=1e-5, atol=1e-6 * np.abs(everything).max())
    positive = (everything > 0).mean(axis=0)
    p_sign = np.where(everything.mean(axis=0) > 0, positive, 1 - positive)
    np.testing.assert_allclose(table["p_sign"], p_sign, rtol=1e-12)


def test_many_features_go_in_blocks(expression, monkeypatch):
    X, labels, numbers = expression
    model = pipeline(HorseshoeClassifier).fit(X, three_classes(labels, numbers))
    whole = original_coefficients(model)
    # Seven features at a time: 120 features do not divide evenly.
    monkeypatch.setattr(coefficients_module, "BLOCK_NUMBERS", 7 * model[-1].posterior_.n_draws)
    parts = original_coefficients(model)
    for name in ("mean", "sd", "q5", "q95", "p_sign"):
        np.testing.assert_allclose(parts[name], whole[name], rtol=1e-5, atol=1e-6, err_msg=name)
    np.testing.assert_array_equal(parts["feature"], whole["feature"])


def test_changing_the_unit_of_a_feature_changes_its_coefficient_only(expression):
    X, labels, _ = expression
    other = X.copy()
    other[:, 3] = 1024 * X[:, 3]
    tables = [original_coefficients(pipeline(HorseshoeClassifier, scale=True).fit(Z, labels)) for Z in (X, other)]
    ratio = tables[1]["sd"] / tables[0]["sd"]
    assert ratio[4] == pytest.approx(1 / 1024, rel=0.1)
    np.testing.assert_allclose(np.delete(ratio, 4), 1, rtol=0.1)


def test_names_of_a_data_frame(expression):
    X, labels, _ = expression
    frame = pd.DataFrame(X, columns=[f"gene {j}" for j in range(X.shape[1])])
    table = pd.DataFrame(original_coefficients(pipeline(HorseshoeClassifier).fit(frame, labels)))
    assert table["feature"].tolist() == ["(intercept)", *frame.columns]
    assert list(table.columns) == ["feature", "target_class", "mean", "sd", "q5", "q95", "p_sign"]


def test_a_model_alone_keeps_its_coefficients():
    rng = np.random.default_rng(1)
    Z = rng.normal(size=(60, 3))
    model = HorseshoeRegressor(**SETTINGS).fit(Z, Z[:, 0] + rng.normal(size=60))
    for given in (model, make_pipeline(model)):
        table = original_coefficients(given)
        np.testing.assert_allclose(table["mean"], [model.intercept_, *model.coef_])
        assert table["feature"].tolist() == ["(intercept)", "0", "1", "2"]


def test_signs_are_probabilities_and_relevant_features_stand_out(expression):
    X, labels, _ = expression
    table = original_coefficients(pipeline(HorseshoeClassifier).fit(X, labels))
    assert ((table["p_sign"] >= 0) & (table["p_sign"] <= 1)).all()
    assert (table["q5"] < table["q95"]).all()
    relevant, rest = table["mean"][1:11] * X[:, :10].std(axis=0), table["mean"][11:] * X[:, 10:].std(axis=0)
    assert np.abs(relevant).mean() > 2 * np.abs(rest).mean()


def fitted(*steps):
    rng = np.random.default_rng(2)
    X = rng.normal(size=(40, 6))
    return make_pipeline(*steps).fit(X, (X[:, 0] > 0).astype(int))


@pytest.mark.parametrize(
    "steps",
    [
        (StandardScaler(), HorseshoeClassifier(**SETTINGS)),
        (StandardScaler(), ISPCA(2, random_state=0), HorseshoeClassifier(**SETTINGS)),
        (PCA(2), HorseshoeClassifier(**SETTINGS)),
        (ISPCA(2, random_state=0), LogisticRegression()),
    ],
)
def test_other_pipelines_are_refused(steps):
    with pytest.raises(ValueError, match="ISPCA or SPCA and HorseshoeClassifier"):
        original_coefficients(fitted(*steps))


def test_unfitted_pipelines_are_refused():
    for model in (HorseshoeClassifier(), make_pipeline(ISPCA(2), HorseshoeClassifier())):
        with pytest.raises(NotFittedError):
            original_coefficients(model)
