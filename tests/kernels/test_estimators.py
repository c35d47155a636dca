"""KernelClassifier and KernelRegressor: weights, copies, covariates, limits and predictive distributions."""

import pickle

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.metrics import r2_score
from sklearn.model_selection import KFold, ShuffleSplit

from ispca import KernelClassifier, KernelRegressor
from ispca.validation import kernel_verdict


@pytest.fixture(scope="module")
def problem():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 5)) @ rng.normal(size=(5, 100)) + rng.normal(size=(40, 100))
    return X, X[:, 0] + rng.normal(size=40)


def frame(X):
    data = pd.DataFrame(X.copy(), columns=[f"g{j}" for j in range(X.shape[1])])
    data["batch"] = [f"b{k % 3}" for k in range(len(X))]
    data["age"] = np.linspace(30, 90, len(X)) ** 2
    return data


def same(first, second, tolerance=1e-8):
    return np.allclose(first, second, rtol=0, atol=tolerance)


def test_left_out_values_are_predictions_without_the_sample(problem):
    # Samples of a known kernel: without scaling, the linear kernel does not depend on the sample that is left out.
    X, y = problem
    data, options = frame(X), {"kernels": ["linear"], "scale": False, "adjust": ["batch", "age"]}
    whole = KernelRegressor(**options).fit(data, y)
    fixed = [np.flatnonzero(whole.member_penalties_ == k) for k in range(24)]
    assert sum(map(len, fixed)) == len(whole.member_weights_) > 1
    for i in (0, 7):
        rest = np.arange(40) != i
        without = KernelRegressor(**options).fit(data[rest], y[rest])
        # The penalties are relative to the mean eigenvalue, which is not the same: a weight of 1e-9 keeps it.
        assert abs(without.predict(data[~rest])[0] - whole.leave_one_out_[i]) < 0.2
    nearly = KernelRegressor(**options).fit(data, y, sample_weight=np.r_[1e-9, np.ones(39)])
    zero = KernelRegressor(**options).fit(data, y, sample_weight=np.r_[0.0, np.ones(39)])
    assert same(nearly.leave_one_out_[0], zero.predict(data[:1])[0], 1e-6)


@pytest.mark.parametrize("kind", [KernelRegressor, KernelClassifier])
def test_zero_weights_leave_out(problem, kind):
    X, y = problem
    target = y if kind is KernelRegressor else np.digitize(y, [-1, 1])
    data, rest = frame(X), np.arange(40) >= 3
    data.iloc[5, 7] = np.nan
    options = {"adjust": ["batch", "age"], "missing": "mean"}
    weighted = kind(**options).fit(data, target, sample_weight=rest * 1.0)
    without = kind(**options).fit(data[rest], target[rest])
    predict = "predict" if kind is KernelRegressor else "predict_proba"
    assert same(getattr(weighted, predict)(data), getattr(without, predict)(data))
    assert same(weighted.leave_one_out_[rest], without.leave_one_out_)
    # What is not part of the fit is left out by the fit itself.
    assert same(weighted.leave_one_out_[:3], getattr(without, predict)(data[:3]))
    folds = kind(cv=4, **options).fit(data, target, sample_weight=rest * 1.0)
    assert folds.leave_one_out_.shape == weighted.leave_one_out_.shape


@pytest.mark.parametrize("kind", [KernelRegressor, KernelClassifier])
def test_a_weight_of_two_is_a_copy(problem, kind):
    X, y = problem
    target = y if kind is KernelRegressor else np.digitize(y, [-1, 1])
    again = np.r_[np.arange(40), np.arange(9), np.arange(4)]
    weighted = kind(adjust=[3]).fit(X, target, sample_weight=np.bincount(again))
    copied = kind(adjust=[3]).fit(X[again], target[again])
    assert weighted.width_ == pytest.approx(copied.width_, rel=1e-12)
    assert same(weighted.kernel_weights_, copied.kernel_weights_, 1e-6)
    predict = "predict" if kind is KernelRegressor else "predict_proba"
    assert same(getattr(weighted, predict)(-X), getattr(copied, predict)(-X), 1e-6)
    assert same(copied.leave_one_out_, weighted.leave_one_out_[again], 1e-6)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_copies_do_not_leak(dtype):
    rng = np.random.default_rng(1)
    X = np.tile(rng.normal(size=(40, 300)), (2, 1)).astype(dtype)
    labels = np.tile(rng.integers(0, 2, 40), 2)
    model = KernelClassifier().fit(X, labels)
    right = model.leave_one_out_.argmax(axis=1) == labels
    assert right.mean() < 0.75
    assert np.log(model.leave_one_out_[np.arange(80), labels]).mean() < -0.6
    leaking = KernelClassifier(cv=KFold(10, shuffle=True, random_state=0)).fit(X, labels)
    assert (leaking.leave_one_out_.argmax(axis=1) == labels).mean() > 0.8


@pytest.mark.parametrize("noise", [1e-3, 0.1])
def test_near_copies_do_not_leak(noise):
    rng = np.random.default_rng(2)
    X = np.tile(rng.normal(size=(30, 300)), (3, 1))
    labels = np.tile(rng.integers(0, 2, 30), 3)
    model = KernelClassifier().fit(X + noise * rng.normal(size=X.shape), labels)
    assert (model.leave_one_out_.argmax(axis=1) == labels).mean() < 0.75


def test_groups_and_folds_are_left_out_together(problem):
    X, y = problem
    groups = np.arange(40) // 4
    grouped = KernelRegressor().fit(X, y, groups)
    folds = KernelRegressor(cv=[(np.flatnonzero(groups != k), np.flatnonzero(groups == k)) for k in range(10)])
    assert np.array_equal(grouped.leave_one_out_, folds.fit(X, y).leave_one_out_)
    assert not same(grouped.leave_one_out_, KernelRegressor().fit(X, y).leave_one_out_, 1e-3)


def test_the_target_of_a_sample_does_not_change_its_left_out_value_by_any_penalty(problem):
    X, y = problem
    changed = np.r_[y[0] + 100, y[1:]]
    assert abs(KernelRegressor().fit(X, y).leave_one_out_[0]) < 5
    assert abs(KernelRegressor().fit(X, changed).leave_one_out_[0]) < 5


@pytest.mark.parametrize(("options", "message"), [
    ({"kernels": ["linear", "poly"]}, "kernels contains 'poly'"),
    ({"kernels": [["linear"]]}, "kernels contains"),
    ({"kernels": []}, "kernels is empty"),
    ({"kernels": "linear"}, "must be an array-like"),
    ({"concentration": 0.5}, "concentration"),
    ({"cv": ShuffleSplit(3)}, "must contain every sample once"),
    ({"cv": [(range(5), range(5, 40))]}, "must contain every sample once"),
    ({"exclude": range(100)}, "No feature is left"),
])  # fmt: skip
def test_errors(problem, options, message):
    with pytest.raises(ValueError, match=message):
        KernelRegressor(**options).fit(*problem)


@pytest.mark.parametrize("kind", [KernelClassifier, KernelRegressor])
def test_the_verdict_of_a_fitted_method_is_that_of_its_left_out_predictions(problem, kind, monkeypatch):
    X, y = problem
    target = np.where(y > 0, "b", "a") if kind is KernelClassifier else y
    weight, groups = np.r_[0, 2, np.ones(38)], np.arange(40) // 2
    model = kind().fit(X, target, groups, sample_weight=weight)
    monkeypatch.delattr(kind, "fit_left_out")
    found, kept = kernel_verdict(model, target, groups, weight), weight > 0
    left_out = model.leave_one_out_[kept]
    if kind is KernelClassifier:
        right = model.classes_[left_out.argmax(axis=1)] == target[kept]
        assert found["value"] == pytest.approx(np.average(right, weights=weight[kept]))
    else:
        assert found["value"] == pytest.approx(r2_score(y[kept], left_out, sample_weight=weight[kept]), abs=0.02)
    assert found["low"] < found["value"] < found["high"]
    assert "left-out" in found["sentence"]
    with pytest.raises(ValueError, match="5 entries, but the model was fitted to 40"):
        kernel_verdict(model, target[:5])


def test_other_errors(problem):
    X, y = problem
    with pytest.raises(ValueError, match=r"5,001 samples, but KernelRegressor takes at most 5,000"):
        KernelRegressor().fit(np.zeros((5001, 2)), np.arange(5001))
    with pytest.raises(ValueError, match="single group"):
        KernelRegressor().fit(X, y, np.zeros(40))
    with pytest.raises(ValueError, match="y is constant"):
        KernelRegressor().fit(X, np.ones(40))
    with pytest.raises(ValueError, match="one class only"):
        KernelClassifier().fit(X, np.ones(40))
    with pytest.raises(ValueError, match="No feature is left"):
        KernelClassifier().fit(np.ones((40, 3)), y > 0)
    with pytest.raises(ValueError, match="missing values"):
        KernelRegressor().fit(np.where(X > 3, np.nan, X), y)
    with pytest.raises(NotFittedError):
        KernelRegressor().predict(X)
    model = KernelRegressor().fit(X, y)
    with pytest.raises(ValueError, match="5 features"):
        model.predict(X[:, :5])
    with pytest.raises(ValueError, match="missing values"):
        model.predict(np.full_like(X, np.nan))
    with pytest.raises(ValueError, match="level"):
        model.predict_interval(X, 1.5)


@pytest.mark.parametrize("n_classes", [2, 10])
def test_six_samples_per_class(n_classes):
    rng = np.random.default_rng(0)
    labels = np.repeat(np.arange(n_classes), 6 if n_classes > 2 else 3)
    X = rng.normal(size=(len(labels), 50)) + 4 * np.repeat(np.eye(n_classes), 50 // n_classes, axis=1)[labels]
    X[:, 49] = 1.0
    model = KernelClassifier().fit(X, labels)
    assert np.allclose(model.predict_proba(X).sum(axis=1), 1)
    assert (model.leave_one_out_.argmax(axis=1) == labels).mean() > 0.8
    assert (model.predict(X) == labels).all()
    assert model.coef_.shape == (n_classes, 50)
    assert (model.coef_[:, 49] == 0).all()


def test_coefficients_give_the_predictor_of_the_linear_kernel(problem):
    X, y = problem
    data = frame(X)
    model = KernelRegressor(kernels=["linear"], adjust=["batch", "age"]).fit(data, y)
    encoded = np.asarray(model.encode(data), dtype=float)
    predictor = encoded @ model.coef_[0]
    assert np.ptp(model.predict(data) - predictor) < 1e-8
    classes = KernelClassifier(kernels=["linear", "rbf"]).fit(sp.csr_array(X), y > 0)
    members = classes.member_kernels_ == 0
    shares = classes.member_weights_[members] / classes.member_weights_[members].sum()
    values = np.tensordot(shares * classes.slopes_[members], classes._member_values(X)[members], 1)
    assert np.ptp(values - X @ classes.coef_.T, axis=0).max() < 1e-8
    assert not hasattr(classes.set_params(kernels=["rbf"]).fit(X, y > 0), "coef_")


def test_single_precision_to_its_own_accuracy(problem):
    X, y = problem
    exact, single = KernelRegressor().fit(X, y), KernelRegressor().fit(X.astype(np.float32), y)
    assert single.training_.dtype == np.float32
    assert same(single.predict(X.astype(np.float32)), exact.predict(X), 1e-5)
    assert same(single.leave_one_out_, exact.leave_one_out_, 1e-5)


def test_the_fit_keeps_its_own_samples(problem):
    X, y = problem
    given, sparse = X.copy(), sp.csr_array(X)
    models = [KernelRegressor().fit(given, y), KernelRegressor().fit(sparse, y)]
    before = [model.predict(X) for model in models]
    given[:], sparse.data[:] = 0, 0
    assert all(np.array_equal(model.predict(X), values) for model, values in zip(models, before, strict=True))


def test_frames_with_new_categories_and_missing_values(problem):
    X, y = problem
    data = frame(X)
    data.iloc[[3, 4], [2, 101]] = np.nan
    model = KernelRegressor(adjust=["batch", "age"], missing="mean").fit(data, y)
    assert model.get_encoded_feature_names()[-3:].tolist() == ["batch=b1", "batch=b2", "age"]
    assert np.isfinite(model.predict(data)).all()
    new = data.assign(batch="b7")
    with pytest.raises(ValueError, match="b7"):
        model.predict(new)
    model.set_params(handle_unknown="ignore")
    assert np.array_equal(model.predict(new), model.predict(data.assign(batch="b0")))
    single = data.assign(batch=["x"] + ["y"] * 20 + ["z"] * 19)
    assert abs(model.fit(single, y).leave_one_out_[0]) < 5


def test_clones_and_pickles_predict_the_same(problem):
    X, y = problem
    model = KernelClassifier().fit(X, y > 0)
    for other in (pickle.loads(pickle.dumps(model)), clone(model).fit(X, y > 0)):
        assert np.array_equal(other.predict_proba(X), model.predict_proba(X))


def test_intervals_cover_new_values():
    inside, widths = [], []
    for seed in range(16):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(240, 4)) @ rng.normal(size=(4, 200)) + rng.normal(size=(240, 200))
        y = X[:, :4].sum(axis=1) + 2 * rng.normal(size=240)
        model = KernelRegressor().fit(X[:40], y[:40])
        low, high = model.predict_interval(X[40:], 0.9).T
        inside.append(((low < y[40:]) & (y[40:] < high)).mean())
        widths.append((high - low).mean() / y.std())
    assert 0.86 < np.mean(inside) < 0.94
    assert np.mean(widths) < 3.1  # without features, 3.3 standard deviations


def test_heavy_tails_only_where_residuals_have_them():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(340, 4)) @ rng.normal(size=(4, 50))
    signal, noise = X[:, 0] / X[:, 0].std(), rng.normal(size=340)
    new = slice(100, None)
    assert KernelRegressor().fit(X[:100], (signal + noise)[:100]).degrees_of_freedom_ == np.inf
    y = signal + noise
    y[3] += 100
    model = KernelRegressor().fit(X[:100], y[:100])
    assert model.degrees_of_freedom_ == 3
    # A normal distribution with the deviation of the residuals, 10, has a log density of -3.2.
    assert model.log_predictive_density(X[new], y[new]).mean() > -2.4
    low, high = model.predict_interval(X[new]).T
    assert ((low < y[new]) & (y[new] < high)).mean() >= 0.9
    assert (high - low).mean() < 10  # with normal distributions, 33
    mean, deviation = model.predict(X[:1], return_std=True)
    median, spread = model.predict_interval(X[:1], 0.5)[0], np.abs(model.predict_interval(X[:1], 0.999) - mean)
    assert median[0] < mean[0] < median[1]
    assert (spread > 5 * deviation).all()
