"""original_coefficients: a linear model carried back through the steps before it, in the original units."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone, is_classifier
from sklearn.cross_decomposition import PLSRegression
from sklearn.exceptions import NotFittedError
from sklearn.feature_selection import SelectKBest, VarianceThreshold, f_regression
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression, MultiTaskLasso, Ridge
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    MaxAbsScaler,
    MinMaxScaler,
    PolynomialFeatures,
    RobustScaler,
    StandardScaler,
)
from sklearn.svm import LinearSVC

from ispca import (
    ISPCA,
    SPCA,
    HorseshoeClassifier,
    HorseshoeRegressor,
    PenalizedClassifier,
    PenalizedRegressor,
    original_coefficients,
)
from ispca.models import coefficients as coefficients_module
from ispca.models.coefficients import coefficients_by_column

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
    table = coefficients_by_column(model)
    assert len(table) == X.shape[1] + 1
    assert table["feature"][0] == "(intercept)"
    assert set(table["target_class"]) == {"sick"}
    clf = model[-1]
    expected = model[0].transform(X) @ clf.coef_[0] + clf.intercept_[0]
    np.testing.assert_allclose(linear_predictor(table, X), expected, rtol=1e-9, atol=1e-9)


def test_regression(expression):
    X, _, numbers = expression
    model = pipeline(HorseshoeRegressor).fit(X, numbers)
    table = coefficients_by_column(model)
    assert set(table["target_class"]) == {""}
    np.testing.assert_allclose(linear_predictor(table, X), model.predict(X), rtol=1e-9, atol=1e-9)


def test_more_classes_give_contrasts_to_the_average_class(expression):
    X, labels, numbers = expression
    model = pipeline(HorseshoeClassifier).fit(X, three_classes(labels, numbers))
    table = coefficients_by_column(model)
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
    table = coefficients_by_column(model)
    reduction, draws = model[0], model[-1].posterior_
    coef, intercept = reduction.original_coefficients(draws.flat("coef"), draws.flat("intercept"))
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


@pytest.mark.parametrize("n_draws", [4, 5, 400])
def test_quantiles_are_exactly_those_of_numpy(expression, n_draws):
    X, labels, _ = expression
    model = HorseshoeClassifier(random_state=0, n_draws=n_draws, n_warmup=50, n_chains=1).fit(X[:, :3], labels)
    table = coefficients_by_column(model)
    draws = model.posterior_.flat("coef").reshape(-1, 3).astype(np.float32)
    np.testing.assert_array_equal([table["q5"][1:], table["q95"][1:]], np.quantile(draws, [0.05, 0.95], axis=0))


def test_many_features_go_in_blocks(expression, monkeypatch):
    X, labels, numbers = expression
    model = pipeline(HorseshoeClassifier).fit(X, three_classes(labels, numbers))
    whole = coefficients_by_column(model)
    # Seven features at a time: 120 features do not divide evenly.
    monkeypatch.setattr(coefficients_module, "BLOCK_NUMBERS", 7 * model[-1].posterior_.n_draws)
    parts = coefficients_by_column(model)
    for name in ("mean", "sd", "q5", "q95", "p_sign"):
        np.testing.assert_allclose(parts[name], whole[name], rtol=1e-5, atol=1e-6, err_msg=name)
    np.testing.assert_array_equal(parts["feature"], whole["feature"])


def test_changing_the_unit_of_a_feature_changes_its_coefficient_only(expression):
    X, labels, _ = expression
    other = X.copy()
    other[:, 3] = 1024 * X[:, 3]
    tables = [coefficients_by_column(pipeline(HorseshoeClassifier, scale=True).fit(Z, labels)) for Z in (X, other)]
    ratio = tables[1]["sd"] / tables[0]["sd"]
    assert ratio[4] == pytest.approx(1 / 1024, rel=0.1)
    np.testing.assert_allclose(np.delete(ratio, 4), 1, rtol=0.1)


def test_names_of_a_data_frame(expression):
    X, labels, _ = expression
    frame = pd.DataFrame(X, columns=[f"gene {j}" for j in range(X.shape[1])])
    table = pd.DataFrame(coefficients_by_column(pipeline(HorseshoeClassifier).fit(frame, labels)))
    assert table["feature"].tolist() == ["(intercept)", *frame.columns]
    assert list(table.columns) == [
        "feature",
        "target_class",
        "mean",
        "sd",
        "q5",
        "q95",
        "p_sign",
        "transformed_by",
    ]
    assert set(table["transformed_by"]) == {""}


def test_a_model_alone_keeps_its_coefficients():
    rng = np.random.default_rng(1)
    Z = rng.normal(size=(60, 3))
    model = HorseshoeRegressor(**SETTINGS).fit(Z, Z[:, 0] + rng.normal(size=60))
    for given in (model, make_pipeline(model)):
        table = coefficients_by_column(given)
        np.testing.assert_allclose(table["mean"], [model.intercept_, *model.coef_])
        assert table["feature"].tolist() == ["(intercept)", "0", "1", "2"]


def test_signs_are_probabilities_and_relevant_features_stand_out(expression):
    X, labels, _ = expression
    table = coefficients_by_column(pipeline(HorseshoeClassifier).fit(X, labels))
    assert ((table["p_sign"] >= 0) & (table["p_sign"] <= 1)).all()
    assert (table["q5"] < table["q95"]).all()
    relevant, rest = table["mean"][1:11] * X[:, :10].std(axis=0), table["mean"][11:] * X[:, 10:].std(axis=0)
    assert np.abs(relevant).mean() > 2 * np.abs(rest).mean()


LINEAR_STEPS = {
    "StandardScaler": StandardScaler(),
    "only centered": StandardScaler(with_std=False),
    "MinMaxScaler": MinMaxScaler((-2, 3)),
    "MaxAbsScaler": MaxAbsScaler(),
    "RobustScaler": RobustScaler(),
    "only scaled": RobustScaler(with_centering=False),
    "SimpleImputer": SimpleImputer(),
    "VarianceThreshold": VarianceThreshold(0.8),
    "SelectKBest": SelectKBest(f_regression, k=4),
    "FunctionTransformer": FunctionTransformer(None),
    "passthrough": "passthrough",
}
LINEAR_MODELS = {
    "LogisticRegression": LogisticRegression(),
    "LinearSVC": LinearSVC(),
    "Ridge": Ridge(),
    "lasso": PenalizedClassifier(penalty="lasso", choice="best", random_state=0),
    "ridge": PenalizedRegressor(penalty="ridge", random_state=0),
    "HorseshoeRegressor": HorseshoeRegressor(**SETTINGS),
}


def predictors(model, X):
    values = model.decision_function(X) if hasattr(model, "decision_function") else model.predict(X)
    return values.reshape(len(X), -1)


def check_table(model, X):
    """Evaluate the table of a pipeline on the original features, class by class."""
    table = coefficients_by_column(model)
    assert set(table["transformed_by"]) == {""}
    assert len(table) % (X.shape[1] + 1) == 0
    tables = table.reshape(-1, X.shape[1] + 1)
    found = np.column_stack([linear_predictor(part, X) for part in tables])
    np.testing.assert_allclose(found, predictors(model, X), rtol=1e-8, atol=1e-8)
    return table


@pytest.mark.parametrize("reduced", [True, False])
@pytest.mark.parametrize("step", LINEAR_STEPS)
def test_linear_steps_are_undone(step, reduced):
    X, y = small()
    reduction = ISPCA(3, whiten=True, random_state=0) if reduced else "passthrough"
    model = make_pipeline(clone(LINEAR_STEPS[step], safe=False), reduction, Ridge()).fit(X, y)
    table = check_table(model, X)
    assert np.isnan(table["sd"]).all()
    assert np.isnan(table["p_sign"]).all()


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("last", LINEAR_MODELS)
def test_any_linear_model(last, n_classes):
    X, y = small()
    codes = np.digitize(y, [0] if n_classes == 2 else [-1, 1])
    last = clone(LINEAR_MODELS[last])
    target = codes if is_classifier(last) else y
    steps = [SimpleImputer(), VarianceThreshold(0.8), StandardScaler(), SPCA(3, random_state=0), MinMaxScaler()]
    model = make_pipeline(*steps, last).fit(X, target)
    table = check_table(model, X)
    if is_classifier(last):
        assert set(table["target_class"]) == ({"1"} if n_classes == 2 else {"0", "1", "2"})


def test_intervals_are_in_the_original_units():
    X, y = small()
    model = make_pipeline(StandardScaler(), SelectKBest(f_regression, k=4), HorseshoeRegressor(**SETTINGS)).fit(
        X, y
    )
    table = check_table(model, X)
    kept = model[1].get_support()
    scale, draws = model[0].scale_[kept], model[-1].posterior_.flat("coef")
    np.testing.assert_allclose(table["sd"][1:][kept], draws.std(axis=0) / scale)
    np.testing.assert_allclose(table["q5"][1:][kept], np.quantile(draws, 0.05, axis=0) / scale, rtol=1e-5)
    for name in ("mean", "sd", "q5", "q95"):
        assert not table[name][1:][~kept].any()


def test_other_steps_give_coefficients_of_what_they_return():
    X, y = small()
    frame = pd.DataFrame(X, columns=list("abcdef"))
    model = make_pipeline(PolynomialFeatures(2), StandardScaler(), ISPCA(3, random_state=0), Ridge()).fit(frame, y)
    table = coefficients_by_column(model)
    assert set(table["transformed_by"]) == {"PolynomialFeatures"}
    names = model[0].get_feature_names_out()
    assert table["feature"].tolist() == ["(intercept)", *names]
    np.testing.assert_allclose(linear_predictor(table, model[0].transform(frame)), model.predict(frame))


def small():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(40, 6)) * [1, 2, 3, 0.5, 1, 1] + [0, 5, -3, 1, 0, 10]
    return X, X[:, 0] + X[:, 1] - 5 + 0.1 * rng.normal(size=40)


@pytest.mark.parametrize(
    ("steps", "message"),
    [
        ((ISPCA(2, random_state=0),), "has no linear predictor"),
        ((StandardScaler(), KNeighborsRegressor()), "KNeighborsRegressor has no linear predictor"),
        ((PLSRegression(2),), "not those of a linear predictor"),
        ((ISPCA(2, random_state=0), PolynomialFeatures(2), Ridge()), "between reduction and model"),
        ((MultiTaskLasso(),), "2 linear predictors"),
    ],
)
def test_other_pipelines_are_refused(steps, message):
    X, y = small()
    target = np.column_stack([y, y]) if isinstance(steps[-1], MultiTaskLasso) else y
    model = make_pipeline(*steps).fit(X, target)
    with pytest.raises(ValueError, match=message):
        coefficients_by_column(model)


def test_unfitted_pipelines_are_refused():
    for model in (HorseshoeClassifier(), make_pipeline(ISPCA(2), HorseshoeClassifier())):
        with pytest.raises(NotFittedError):
            coefficients_by_column(model)


def test_the_largest_effects_of_each_class_come_first(rng):
    """``per_sd`` is the effect of a standard deviation of the feature, whatever its unit."""
    X = rng.normal(size=(60, 6)) * [1, 10, 100, 0.1, 1, 1]
    y = np.array(["a", "b", "c"])[np.digitize(X[:, 1] / 10 + X[:, 3] / 0.1, [-0.5, 0.5])]
    model = make_pipeline(StandardScaler(), LogisticRegression()).fit(X, y)
    table, by_column = original_coefficients(model), coefficients_by_column(model)
    assert table.dtype.names[:4] == ("feature", "target_class", "per_sd", "mean")
    for label, effects in zip("abc", model[-1].coef_, strict=True):
        rows, others = table[table.target_class == label], by_column[by_column["target_class"] == label]
        assert rows.feature[0] == "(intercept)"
        assert np.isnan(rows.per_sd[0])
        order = np.argsort(-np.abs(effects))
        assert rows.feature[1:].tolist() == order.astype(str).tolist()
        np.testing.assert_allclose(rows.per_sd[1:], effects[order])
        np.testing.assert_array_equal(rows["mean"], others["mean"][[0, *(1 + order)]])
