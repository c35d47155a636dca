"""BaggedPosterior: predictions of all kinds of targets, samples out of the bag, resuming, and what is refused."""

import pickle

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.feature_selection import VarianceThreshold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import get_tags

import bagged_fits
from bagged_fits import GRADES, MODELS, N_BAGS, fitted, linear_features, options, unfitted
from ispca import ISPCA, SPCA, BaggedPosterior, HorseshoeRegressor, HorseshoeSurvival
from ispca.bagging.bootstrap import draw_bags
from ispca.targets import find_target
from ispca.validation import stability

KINDS = list(MODELS)
CLASSES = ["two classes", "three classes", "ordinal"]


def new_samples(kind):
    return bagged_fits.draw(kind, 200, seed=1)


@pytest.mark.parametrize("kind", KINDS)
def test_predictions_follow_the_target(kind):
    bagged, (X, y, offset) = fitted(kind), new_samples(kind)
    predicted = bagged.predict(X, **options(offset)) if kind == "counts" else bagged.predict(X)
    assert len(predicted) == 200
    if kind in CLASSES:
        assert np.mean(predicted == y) > 0.8
        probabilities = bagged.predict_proba(X)
        np.testing.assert_allclose(probabilities.sum(axis=1), 1)
        np.testing.assert_array_equal(np.asarray(bagged.classes_)[probabilities.argmax(axis=1)], predicted)
    else:
        truth = -y["time"] if kind == "survival" else y
        assert np.isfinite(predicted).all()
        assert np.corrcoef(np.argsort(np.argsort(predicted)), np.argsort(np.argsort(truth)))[0, 1] > 0.5


@pytest.mark.parametrize("kind", KINDS)
def test_log_densities_are_better_than_the_base_rate(kind):
    bagged, (X, y, offset) = fitted(kind), new_samples(kind)
    density = bagged.log_predictive_density(X, y, **options(offset))
    assert density.shape == (200,)
    assert np.isfinite(density).all()
    train = bagged_fits.draw(kind)
    if kind in CLASSES:
        rates = {label: np.mean(train[1] == label) for label in np.unique(y)}
        base = np.log([rates[label] for label in y])
        codes = [list(bagged.classes_).index(label) for label in y]
        np.testing.assert_allclose(density, np.log(bagged.predict_proba(X))[np.arange(200), codes], atol=1e-10)
    else:
        name = {"quantity": "regression", "counts": "count"}.get(kind, kind)
        rate = find_target(name).base_rate().fit(train[0], train[1])
        base = rate.log_predictive_density(X, y)
    assert density.mean() > base.mean() + 0.2


@pytest.mark.parametrize("kind", KINDS)
def test_intervals_of_the_mean_contain_the_prediction(kind):
    bagged, (X, _, offset) = fitted(kind), new_samples(kind)
    wide, narrow = (bagged.mean_interval(X, level, **options(offset)) for level in (0.98, 0.5))
    if kind in CLASSES:
        mean = bagged.predict_proba(X)
    elif kind == "survival":
        Z = linear_features(bagged, X)
        mean = bagged.model_.posterior_.linear_predictor(Z, offset).mean(axis=1)
    else:
        mean = bagged.predict(X, **options(offset))
    assert wide.shape == narrow.shape == (*mean.shape, 2)
    assert ((wide[..., 0] <= mean) & (mean <= wide[..., 1])).mean() > 0.99
    assert (wide[..., 0] <= narrow[..., 0]).all()
    assert (narrow[..., 1] <= wide[..., 1]).all()
    assert (wide[..., 0] < wide[..., 1]).all()


@pytest.mark.parametrize("kind", ["counts", "survival"])
def test_offsets_of_intervals_are_checked(kind):
    bagged, (X, _, _) = fitted(kind), new_samples(kind)
    found = bagged.mean_interval(X, offset=[1.0] * len(X))
    np.testing.assert_array_equal(found, bagged.mean_interval(X, offset=np.ones(len(X))))
    for offset, words in ((np.ones(3), "offset"), (np.full(len(X), np.nan), "offset")):
        with pytest.raises(ValueError, match=words):
            bagged.mean_interval(X, offset=offset)


def test_a_class_that_no_bag_leaves_out_is_not_denied():
    X = np.random.default_rng(0).normal(size=(40, 30))
    bagged = unfitted("two classes").fit(X, np.repeat(["rare", "common"], [2, 38]))
    # All samples that are left out are common, so any power above 1 fits them better.
    assert np.isnan(bagged.model_.out_of_bag_[:2]).all()
    assert bagged.model_.inverse_temperature_ <= 1


def test_many_samples_share_the_noise_of_some_of_them(monkeypatch):
    X, y, _ = bagged_fits.draw("quantity")
    sigma = fitted("quantity").model_.posterior_.sigma
    monkeypatch.setattr("ispca.bagging.pooled_models.MOST_NOISE_SAMPLES", 30)
    ratio = unfitted("quantity").fit(X, y).model_.posterior_.sigma / sigma
    np.testing.assert_allclose(ratio, ratio[0, 0])
    assert 0.7 < ratio[0, 0] < 1.4
    assert ratio[0, 0] != 1


def test_intervals_of_a_quantity_by_hand():
    bagged, (X, _, _) = fitted("quantity"), new_samples("quantity")
    posterior = bagged.model_.posterior_
    draws = linear_features(bagged, X) @ posterior.flat("coef").T + posterior.flat("intercept")
    assert posterior.coef.shape[0] == N_BAGS
    np.testing.assert_allclose(bagged.mean_interval(X, 0.8), np.quantile(draws, [0.1, 0.9], axis=1).T)
    np.testing.assert_allclose(bagged.predict(X), draws.mean(axis=1))


def test_survival_curves_fall_and_agree_with_the_density():
    bagged, (X, _, offset) = fitted("survival"), new_samples("survival")
    X, offset = X[:40], offset[:40]
    curves = bagged.predict_survival_function(X, offset=offset, return_array=True)
    functions = bagged.predict_survival_function(X, offset=offset)
    assert curves.shape == (40, len(bagged.model_.unique_times_))
    assert ((curves >= 0) & (curves <= 1)).all()
    assert (np.diff(curves, axis=1) <= 1e-12).all()
    step = 1e-5

    def log_density(event, time):
        y = np.empty(40, dtype=[("event", bool), ("time", float)])
        y["event"], y["time"] = event, time
        return bagged.log_predictive_density(X, y, offset=offset)

    for time in (0.2, 0.6, 1.1):
        survival = [np.exp(log_density(False, time + change)) for change in (-step, 0, step)]
        # The curves have the steps of Breslow's estimate, the density constant hazards between a few times.
        assert np.abs(survival[1] - [function(time) for function in functions]).max() < 0.15
        slope = (survival[0] - survival[2]) / (2 * step)
        np.testing.assert_allclose(np.exp(log_density(True, time)), slope, rtol=1e-3)


@pytest.mark.parametrize("kind", KINDS)
def test_out_of_bag_predictions_by_hand(kind):
    bagged, (X, y, offset) = fitted(kind), bagged_fits.draw(kind)
    model, Z = bagged.model_, linear_features(bagged, X)
    strata = y["event"] if kind == "survival" else y if kind in CLASSES else None
    if kind == "ordinal":
        strata = np.array([GRADES.index(label) for label in y])
    splits = draw_bags(N_BAGS, np.arange(60), strata, None, 0)
    left_out = np.array([np.isin(np.arange(60), split.test) for split in splits])
    np.testing.assert_array_equal(model.left_out_, left_out)
    means = model.bag_means(Z, offset)
    table = bagged.out_of_bag_
    assert len(table) == 60
    for i in range(60):
        mean = means[i, left_out[:, i]].mean(axis=0) if left_out[:, i].any() else np.nan * means[i, 0]
        if kind in CLASSES:
            found = [table[f"p({label})"][i] for label in bagged.classes_]
            power = mean**model.inverse_temperature_
            np.testing.assert_allclose(found, power / power.sum(), atol=1e-6)
        else:
            np.testing.assert_allclose(table["mean"][i], mean, rtol=1e-10)


def test_a_sample_has_no_influence_on_its_prediction_out_of_the_bag():
    X, y, _ = bagged_fits.draw("quantity")
    for i in (3, 40):
        other = y.copy()
        other[i] += 20
        changed = unfitted("quantity").fit(X, other)
        before, after = (bagged.out_of_bag_["mean"] for bagged in (fitted("quantity"), changed))
        assert before[i] == after[i]
        others = np.delete(np.arange(60), i)
        assert np.mean(np.abs(before - after)[others] > 0.01) > 0.5


@pytest.mark.parametrize("reduction", [SPCA(n_features=10), ISPCA(3, n_supervised=0)], ids=["SPCA", "PCA"])
def test_other_reductions(reduction):
    X, y, _ = bagged_fits.draw("quantity")
    bagged = BaggedPosterior(make_pipeline(reduction, HorseshoeRegressor()), n_bags=3, n_jobs=1, random_state=0)
    assert bagged.fit(X, y).score(*new_samples("quantity")[:2]) > 0.5
    assert bagged.frequency_[:10].min() == (0 if isinstance(reduction, ISPCA) else 1)


def test_steps_before_are_fitted_to_all_samples():
    X, y, _ = bagged_fits.draw("quantity")
    X_new = new_samples("quantity")[0]
    X[:, 50], X_new[:, 50] = 1.0, 1.0
    steps = [VarianceThreshold(), StandardScaler()]
    pipeline = make_pipeline(*steps, *(step for _, step in unfitted("quantity").estimator.steps))
    whole = unfitted("quantity").set_params(estimator=pipeline, n_bags=3).fit(X, y)
    before = make_pipeline(*map(clone, steps)).fit(X)
    alone = unfitted("quantity", n_bags=3).fit(before.transform(X), y)
    np.testing.assert_array_equal(whole.predict(X_new), alone.predict(before.transform(X_new)))
    assert whole.n_features_in_ == 80
    assert not hasattr(steps[0], "variances_")
    table = whole.coefficients()
    frequency = dict(zip(table["feature"], table["frequency"], strict=True))
    assert min(frequency[str(j)] for j in range(10)) > 0
    assert "79" in frequency
    assert set(whole.stability().table["feature"]) == {str(j) for j in range(80) if j != 50}


def test_sparse_features_give_the_numbers_of_dense_ones():
    X, y, _ = bagged_fits.draw("quantity")
    X = np.where(np.abs(X) > 0.7, X, 0.0)
    dense, sparse = (unfitted("quantity", n_bags=2).fit(form(X), y) for form in (np.asarray, sp.csr_array))
    np.testing.assert_allclose(sparse.predict(sp.csr_array(X)), dense.predict(X), rtol=1e-5)
    assert get_tags(dense).input_tags.sparse


def test_frames_with_categories_and_missing_values():
    X, y, _ = bagged_fits.draw("quantity")
    frame = pd.DataFrame(X, columns=[f"g{j}" for j in range(80)])
    frame.iloc[5, 7] = np.nan
    frame["batch"] = np.tile(["A", "B", "C"], 20)
    reduction = ISPCA(4, adjust=["batch"], keep_adjusted=True, missing="mean", n_permutations=50)
    estimator = make_pipeline(reduction, HorseshoeRegressor())
    bagged = BaggedPosterior(estimator, n_bags=3, n_jobs=1, random_state=0).fit(
        frame, y + 5 * (frame["batch"] == "B")
    )
    assert list(bagged.feature_names_in_) == list(frame.columns)
    changed = bagged.predict(frame.assign(batch="B")) - bagged.predict(frame.assign(batch="A"))
    np.testing.assert_allclose(changed, 5, atol=1)
    table = bagged.coefficients()
    assert {"batch=B", "batch=C", "g7"} <= set(table["feature"])
    assert list(bagged.stability().table["feature"][-1:]) == ["batch"]


def test_the_coefficients_of_the_features_predict():
    bagged, (X, _, _) = fitted("quantity"), new_samples("quantity")
    table = bagged.coefficients()
    is_feature = table["feature"] != "(intercept)"
    assert is_feature.sum() == 80
    columns = table["feature"][is_feature].astype(int)
    shift = bagged.predict(X) - X[:, columns] @ table["mean"][is_feature]
    np.testing.assert_allclose(shift, table["mean"][~is_feature][0], rtol=1e-8)
    np.testing.assert_array_equal(table["frequency"][is_feature], bagged.frequency_[columns])
    assert np.isnan(table["frequency"][~is_feature]).all()


def test_stability_is_that_of_the_function():
    X, y, _ = bagged_fits.draw("three classes")
    found = fitted("three classes").stability()
    alone = stability(ISPCA(5, whiten=True, n_permutations=100), X, y, n_bags=N_BAGS, n_jobs=1, random_state=0)
    np.testing.assert_array_equal(found.table, alone.table)
    np.testing.assert_array_equal(found.components, alone.components)
    assert found.n_bags == N_BAGS
    with pytest.raises(ValueError, match="n_components must be at least 1, got 0"):
        fitted("three classes").stability(0)


def test_parameters_copies_and_pickles():
    bagged = fitted("two classes")
    assert bagged.get_params()["estimator__ispca__whiten"] is True
    copy = clone(bagged).set_params(n_bags=3, estimator__ispca__n_components=7)
    assert not hasattr(copy, "pipeline_")
    assert bagged.estimator[0].n_components == 5
    assert not hasattr(bagged.estimator[0], "components_"), "the pipeline passed in stays unfitted"
    X = new_samples("two classes")[0]
    again = pickle.loads(pickle.dumps(bagged))
    np.testing.assert_array_equal(again.predict_proba(X), bagged.predict_proba(X))
    np.testing.assert_array_equal(again.stability().table, bagged.stability().table)


def test_methods_are_those_of_the_model():
    quantity, classes, survival = (unfitted(kind) for kind in ("quantity", "two classes", "survival"))
    assert is_regressor(quantity)
    assert is_classifier(classes)
    assert hasattr(classes, "predict_proba")
    assert not hasattr(quantity, "predict_proba")
    assert not hasattr(classes, "survival_curves")
    assert hasattr(survival, "survival_curves")


def test_what_is_made_of_bags_cannot_be_fitted():
    components, model = fitted("quantity").pipeline_
    assert not hasattr(components, "inverse_transform")
    with pytest.raises(TypeError, match=r"BaggedPosterior\.fit"):
        components.fit(np.ones((3, 3)))
    with pytest.raises(TypeError, match=r"BaggedPosterior\.fit"):
        model.fit(np.ones((3, 3)))


def test_few_events_do_not_separate_the_samples():
    """More components than events would give linear predictors of any size."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 200))
    event = np.arange(60) % 4 == 0
    time = rng.exponential(size=60)
    model = make_pipeline(ISPCA(50, n_supervised=0, whiten=True), HorseshoeSurvival())
    bagged = BaggedPosterior(model, n_bags=6, n_jobs=1, random_state=0).fit(X, (event, time))
    assert bagged.mean_interval(X).std() < 10
    assert np.abs(bagged.model_.posterior_.hazard.log_rates).max() < 30
