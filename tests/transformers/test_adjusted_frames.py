"""ISPCA and SPCA on frames with covariates: categories, names, coefficients, pipelines and model files."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_predict, cross_validate
from sklearn.pipeline import make_pipeline

from ispca import ISPCA, SPCA, HorseshoeClassifier, feature_scores, plots, score_test
from ispca.fitted_parts import take_apart
from ispca.models.coefficients import coefficients_by_column
from ispca.persistence.archive import ContentError
from ispca.persistence.model_file import load_model, save_model
from ispca.persistence.storable import check_estimator
from ispca.report import summarize
from ispca.validation import StackedClassifier, compare, stability

BOTH = pytest.mark.parametrize("kind", [ISPCA, SPCA])
ADJUST = ["age", "sex", "batch"]
N = 60


def make_frame(seed=0, n_genes=40):
    """Return a frame whose genes depend on the batch and partly on the class, which depends on the batch."""
    rng = np.random.default_rng(seed)
    batch = rng.choice(["A", "B", "C"], N)
    y = np.where(rng.random(N) < np.where(batch == "C", 0.8, 0.4), "sick", "well")
    genes = rng.normal(size=(N, n_genes)) + 2.0 * (batch == "C")[:, None]
    genes[:, :5] += 2.0 * (y == "sick")[:, None]
    frame = pd.DataFrame(genes, columns=[f"g{j}" for j in range(n_genes)])
    frame.insert(0, "age", rng.normal(50, 10, N))
    frame.insert(10, "batch", batch)
    return frame.assign(sex=rng.random(N) < 0.5), y


def numeric(frame):
    """Return the same with indicators made by hand, in the same places."""
    place = frame.columns.get_loc("batch")
    result = frame.drop(columns="batch")
    result.insert(place, "batch=B", (frame["batch"] == "B").astype(float))
    result.insert(place + 1, "batch=C", (frame["batch"] == "C").astype(float))
    return result.astype({"sex": float}).rename(columns={"sex": "sex=True"})


@BOTH
@pytest.mark.parametrize("convert", [pd.DataFrame, pl.from_pandas], ids=["pandas", "polars"])
def test_categories_equal_indicators_made_by_hand(kind, convert):
    frame, y = make_frame()
    by_hand = numeric(frame)
    options = {"n_components": 3, "random_state": 0}
    model = kind(adjust=ADJUST, **options).fit(convert(frame), y)
    expected = kind(adjust=["age", "batch=B", "batch=C", "sex=True"], **options).fit(by_hand, y)
    np.testing.assert_allclose(model.components_, expected.components_, atol=1e-12)
    np.testing.assert_allclose(model.transform(convert(frame[:7])), expected.transform(by_hand[:7]), atol=1e-12)
    assert model.get_encoded_feature_names().tolist() == by_hand.columns.tolist()
    assert model.n_features_in_ == frame.shape[1]
    assert model.feature_names_in_.tolist() == frame.columns.tolist()
    assert model.categories_ == {"batch": ["A", "B", "C"], "sex": ["False", "True"]}


def test_the_scores_do_not_depend_on_the_covariates():
    frame, y = make_frame()
    # A quantity has constant weights; the components of classes are orthogonal to covariates in a weighted sense.
    quantity = frame["g1"] + (y == "sick") + 0.1 * frame["age"]
    model = ISPCA(adjust=ADJUST, exclude=["g1"], random_state=0).fit(frame, quantity)
    covariates = numeric(frame)[["age", "batch=B", "batch=C", "sex=True"]].to_numpy()
    covariates = covariates - covariates.mean(axis=0)
    Z = model.transform(frame)
    assert np.abs(covariates.T @ Z).max() < 1e-9 * np.abs(covariates).max() * np.abs(Z).max() * N
    assert not model.feature_mask_[model.adjusted_].any()


@BOTH
def test_kept_columns_follow_the_components(kind):
    frame, y = make_frame()
    model = kind(n_components=2, adjust=ADJUST, keep_adjusted=True, random_state=0)
    Z = model.fit_transform(frame, y)
    assert model.components_.shape[0] == model.n_components_ == 2
    assert model.get_feature_names_out()[2:].tolist() == ["age", "batch=B", "batch=C", "sex=True"]
    np.testing.assert_allclose(Z, model.transform(frame), atol=1e-10)
    values = numeric(frame)[["age", "batch=B", "batch=C", "sex=True"]].to_numpy()
    mean, scale = model.mean_[model.kept_columns_], model.scale_[model.kept_columns_]
    np.testing.assert_allclose(Z[:, 2:], (values - mean) / scale, atol=1e-12)
    coef = np.arange(1.0, 7.0)
    original, intercept = model.original_coefficients(coef, 0.5)
    np.testing.assert_allclose(model.encode(frame) @ original + intercept, Z @ coef + 0.5, atol=1e-10)
    with pytest.raises(ValueError, match="n_components_ = 2 and 4 adjusted columns"):
        model.original_coefficients([1.0, 2.0])
    np.testing.assert_allclose(model.inverse_transform(Z)[:, model.kept_columns_], values, atol=1e-9)


def test_coefficients_name_the_indicators():
    frame, y = make_frame()
    model = make_pipeline(ISPCA(adjust=ADJUST, keep_adjusted=True, random_state=0), LogisticRegression())
    table = coefficients_by_column(model.fit(frame, y))
    assert table.feature[1:].tolist() == numeric(frame).columns.tolist()
    linear = numeric(frame).to_numpy() @ table["mean"][1:] + table["mean"][0]
    np.testing.assert_allclose(linear, model.decision_function(frame), atol=1e-8)
    assert take_apart(model).reduction_input_names() == numeric(frame).columns.tolist()


def test_unknown_and_missing_categories():
    frame, y = make_frame()
    new = frame[:4].assign(batch=["A", "D", "B", "C"])
    strict = ISPCA(adjust=ADJUST, random_state=0).fit(frame, y)
    with pytest.raises(ValueError, match="Column 'batch' contains 'D', which was not seen in fit"):
        strict.transform(new)
    lenient = ISPCA(adjust=ADJUST, handle_unknown="ignore", random_state=0).fit(frame, y)
    np.testing.assert_array_equal(lenient.transform(new)[1], lenient.transform(new.assign(batch="A"))[1])
    with pytest.raises(ValueError, match="Column 'batch' contains 1 missing value, and a category has no mean"):
        strict.transform(frame[:4].assign(batch=["A", None, "B", "C"]))
    with pytest.raises(ValueError, match="pass X as a data frame"):
        strict.transform(np.zeros((3, frame.shape[1])))
    with pytest.raises(ValueError, match="in the same order"):
        strict.transform(frame[frame.columns[::-1]])


@BOTH
def test_what_cannot_be_adjusted_for_is_refused(kind):
    frame, y = make_frame()
    with pytest.raises(
        ValueError, match=r"not made of real numbers: 'batch' \(object\)\. .* or name covariates in adjust"
    ):
        kind(adjust=["age"]).fit(frame, y)
    with pytest.raises(ValueError, match="exclude and adjust both contain 'age'"):
        kind(adjust=ADJUST, exclude=["age", "g0"]).fit(frame, y)
    with pytest.raises(ValueError, match="Covariate 'batch' determines the class completely"):
        kind(adjust=ADJUST).fit(frame.assign(batch=np.where(y == "sick", "A", "B")), y)
    nearly = np.where(y == "sick", "A", "B")
    nearly[[np.flatnonzero(y == "sick")[0], np.flatnonzero(y == "well")[0]]] = ["B", "A"]
    with pytest.warns(UserWarning, match=r"Covariate 'batch' explains 8\d% of the variation of the class"):
        kind(2, n_supervised=1, adjust=ADJUST, random_state=0).fit(frame.assign(batch=nearly), y)


def test_excluded_features_keep_their_names():
    frame, y = make_frame()
    model = ISPCA(2, adjust=ADJUST, exclude=["g12", "g39"], random_state=0).fit(frame, y)
    left_out = model.get_encoded_feature_names()[~model.feature_mask_ & ~model.adjusted_]
    assert left_out.tolist() == ["g12", "g39"]


def test_pipelines_are_cross_validated_with_categories():
    frame, y = make_frame()
    model = make_pipeline(ISPCA(adjust=ADJUST, random_state=0), HorseshoeClassifier(random_state=0, n_draws=300))
    probabilities = cross_val_predict(model, frame, y, cv=3, method="predict_proba")
    assert probabilities.shape == (N, 2)
    assert np.mean(np.where(probabilities[:, 0] > 0.5, "sick", "well") == y) > 0.7
    assert np.isfinite(cross_validate(model, frame, y, cv=3)["test_score"]).all()


def test_comparisons_and_stability_take_frames_with_categories():
    frame, y = make_frame()
    models = [
        make_pipeline(ISPCA(adjust=adjust, keep_adjusted=True, random_state=0), LogisticRegression())
        for adjust in (ADJUST, ["age", "batch=B", "batch=C", "sex=True"])
    ]
    results = [
        compare({"adjusted": model}, X, y, cv=3, n_jobs=1, random_state=0)
        for model, X in zip(models, (frame, numeric(frame)), strict=True)
    ]
    assert not results[0].errors
    np.testing.assert_allclose(*(result.scores["mlpd"] for result in results), atol=1e-8)
    found = stability(ISPCA(adjust=ADJUST), frame, y, n_components=1, n_bags=3, n_jobs=1)
    frequency = dict(zip(found.table["feature"], found.table["frequency"], strict=True))
    assert sorted(frequency) == sorted(frame.columns)
    assert all(frequency[name] == 0 for name in ADJUST)
    assert all(frequency[f"g{j}"] > 0 for j in range(5))


def test_plots_and_reports_name_the_indicators():
    frame, y = make_frame()
    frame.iloc[3, 5] = np.nan
    reduction = ISPCA(2, adjust=ADJUST, keep_adjusted=True, missing="mean", cross_fit=3, random_state=0)
    model = make_pipeline(reduction, HorseshoeClassifier(n_draws=300, random_state=0)).fit(frame, y)
    assert plots.score_table(model, frame, y).dtype.names[2:4] == ("supervised_1", "unsupervised_2")
    assert len(plots.heatmap_table(model, frame, y, n_features=5)) == N
    assert set(plots.loading_table(model, 1, n_features=5)["feature"]) <= set(frame.columns)
    summary = summarize(model, frame, y)
    facts = dict(summary["data"]["facts"])
    assert facts["Adjusted for"] == "age, batch=B, batch=C, sex=True"
    assert facts["Missing values"] == "1, replaced by column means"
    assert facts["Features not used"] == "0"


@BOTH
@pytest.mark.parametrize("keep", [False, True])
def test_model_files_keep_categories_and_means(kind, keep, tmp_path):
    frame, y = make_frame()
    frame.iloc[3, 0] = np.nan
    reduction = kind(2, adjust=ADJUST, keep_adjusted=keep, missing="mean", random_state=0)
    model = make_pipeline(reduction, HorseshoeClassifier(random_state=0, n_draws=300)).fit(frame, y)
    save_model(model, tmp_path / "model.ispca")
    loaded = load_model(tmp_path / "model.ispca")
    np.testing.assert_array_equal(loaded.predict_proba(frame), model.predict_proba(frame))
    with pytest.raises(ValueError, match="'D', which was not seen in fit"):
        loaded.predict(frame[:1].assign(batch="D"))


def test_model_files_keep_stacks_of_frames(tmp_path):
    frame, y = make_frame()
    candidates = {
        f"{keep}": make_pipeline(
            ISPCA(2, adjust=ADJUST, keep_adjusted=keep, random_state=0),
            HorseshoeClassifier(n_draws=200, random_state=0),
        )
        for keep in (False, True)
    }
    stack = StackedClassifier(candidates, cv=3, random_state=0).fit(frame, y)
    save_model(stack, tmp_path / "stack.ispca")
    loaded = load_model(tmp_path / "stack.ispca")
    np.testing.assert_array_equal(loaded.predict_proba(frame), stack.predict_proba(frame))


@pytest.mark.parametrize(
    "categories", [{"batch": ["A", "A"]}, {"batch": []}, {"plate": ["A"]}, {"batch": ["A", 1]}, []]
)
def test_model_files_with_other_categories_are_refused(categories):
    frame, y = make_frame()
    model = ISPCA(2, adjust=ADJUST, random_state=0).fit(frame, y)
    model.categories_ = categories
    with pytest.raises(ContentError, match="categories"):
        check_estimator(model)


def test_metadata_is_routed_through_pipelines():
    frame, y = make_frame()
    weights = np.where(np.arange(N) < 30, 2.0, 1.0)
    with sklearn.config_context(enable_metadata_routing=True):
        reduction = ISPCA(2, adjust=ADJUST, random_state=0).set_fit_request(sample_weight=True, groups=True)
        pipeline = make_pipeline(reduction, LogisticRegression().set_fit_request(sample_weight=False))
        pipeline.fit(frame, y, sample_weight=weights, groups=np.arange(N) // 2)
    expected = ISPCA(2, adjust=ADJUST, random_state=0)
    expected.fit(frame, y, sample_weight=weights, groups=np.arange(N) // 2)
    np.testing.assert_array_equal(pipeline[0].components_, expected.components_)
    assert not np.allclose(expected.components_, ISPCA(2, adjust=ADJUST, random_state=0).fit(frame, y).components_)


def test_screening_takes_categories():
    frame, y = make_frame()
    by_hand = numeric(frame)
    adjust = ["age", "batch=B", "batch=C", "sex=True"]
    expected = dict(zip(by_hand.columns, feature_scores(by_hand, y, adjust=adjust), strict=True))
    found = dict(zip(frame.columns, feature_scores(frame, y, adjust=ADJUST), strict=True))
    assert {name: score for name, score in found.items() if score > 0} == pytest.approx(
        {name: score for name, score in expected.items() if score > 0}
    )
    assert all(found[name] == 0 for name in ADJUST)
    test = score_test(frame, y, adjust=ADJUST, n_permutations=50, random_state=0)
    assert test.p_values.shape == test.scores.shape == (frame.shape[1],)
    assert (test.p_values[frame.columns.isin(ADJUST)] == 1).all()
    with pytest.raises(ValueError, match="Covariate 'batch' determines the class completely"):
        score_test(frame.assign(batch=y), y, adjust=ADJUST)
