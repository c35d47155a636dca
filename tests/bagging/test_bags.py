"""Bags: the samples that they leave out, workers, resuming, and what is refused."""

import numpy as np
import pytest
from sklearn.feature_selection import SelectKBest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import bagged_fits
from bagged_fits import MODELS, N_BAGS, fitted, linear_features, options, same, unfitted
from ispca import ISPCA, BaggedPosterior, HorseshoeClassifier
from ispca.bagging.bag import BagFit
from ispca.containers import wrap_container

KINDS = list(MODELS)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_workers_do_not_matter(kind, monkeypatch):
    monkeypatch.setattr("ispca.fitting.runner.SECONDS_WORTH_WORKERS", 0.0)
    X, y, offset = bagged_fits.draw(kind)
    parallel = unfitted(kind, n_jobs=2).fit(X, y, **options(offset))
    np.testing.assert_array_equal(parallel.model_.posterior_.coef, fitted(kind).model_.posterior_.coef)
    same(parallel.out_of_bag_, fitted(kind).out_of_bag_)


@pytest.mark.parametrize("kind", ["two classes", "survival"])
def test_an_interrupted_fit_continues(kind, tmp_path, monkeypatch):
    X, y, offset = bagged_fits.draw(kind)
    bagged = unfitted(kind, resume=tmp_path)
    fit, calls = BagFit.__call__, []

    def interrupted(self, *args):
        calls.append(1)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return fit(self, *args)

    monkeypatch.setattr(BagFit, "__call__", interrupted)
    with pytest.raises(KeyboardInterrupt):
        bagged.fit(X, y, **options(offset))
    assert not hasattr(bagged, "pipeline_")
    bagged.fit(X, y, **options(offset))
    assert len(calls) == 3 + N_BAGS - 2
    np.testing.assert_array_equal(bagged.model_.posterior_.coef, fitted(kind).model_.posterior_.coef)
    same(bagged.out_of_bag_, fitted(kind).out_of_bag_)
    np.testing.assert_array_equal(bagged.stability().table, fitted(kind).stability().table)
    with pytest.raises(ValueError, match="resume requires a fixed random_state"):
        unfitted(kind, resume=tmp_path, random_state=None).fit(X, y)


def test_failed_bags_are_left_out_and_told(monkeypatch):
    X, y, _ = bagged_fits.draw("quantity")
    fit, calls = BagFit.__call__, []

    def failing(self, *args):
        calls.append(1)
        if len(calls) in (1, 4):
            raise ValueError("no luck")
        return fit(self, *args)

    monkeypatch.setattr(BagFit, "__call__", failing)
    with pytest.warns(UserWarning, match=r"2 bags of 6 failed.*no luck"):
        bagged = unfitted("quantity").fit(X, y)
    kept = [1, 2, 4, 5]
    np.testing.assert_array_equal(bagged.model_.left_out_, fitted("quantity").model_.left_out_[kept])
    expected = fitted("quantity").model_.bag_means(linear_features(fitted("quantity"), X))[:, kept]
    np.testing.assert_allclose(bagged.model_.bag_means(linear_features(bagged, X)), expected, rtol=1e-6)
    monkeypatch.setattr(BagFit, "__call__", lambda *args: 1 / 0)
    with pytest.raises(ValueError, match=r"6 bags of 6 failed. The first error: ZeroDivisionError"):
        unfitted("quantity").fit(X, y)


def test_samples_of_weight_zero_do_not_count():
    X, y, _ = bagged_fits.draw("quantity")
    weights = np.repeat([1.0, 0.0], [45, 15])
    weighted = unfitted("quantity", n_bags=2).fit(X, np.where(weights, y, 100), sample_weight=weights)
    dropped = unfitted("quantity", n_bags=2).fit(X[:45], y[:45], sample_weight=np.ones(45))
    np.testing.assert_allclose(weighted.predict(X), dropped.predict(X), rtol=1e-6)
    assert len(weighted.out_of_bag_) == 45


def test_heavy_samples_decide():
    X, y, _ = bagged_fits.draw("quantity")
    first = np.arange(60) < 30
    target, predicted = np.where(first, y, -y), []
    for heavy in (first, ~first):
        weights = np.where(heavy, 10.0, 1.0)
        bagged = unfitted("quantity", n_bags=3)
        predicted.append(bagged.fit(X, target, sample_weight=weights).predict(X))
    assert np.corrcoef(predicted[0], y)[0, 1] > 0.5
    assert np.corrcoef(predicted[1], y)[0, 1] < -0.5


def test_groups_are_left_out_together():
    X, y, _ = bagged_fits.draw("quantity")
    groups = np.array([f"patient {k}" for k in np.arange(60) // 3])
    left_out = unfitted("quantity", n_bags=3).fit(X, y, groups=groups).model_.left_out_.reshape(3, 20, 3)
    assert (left_out == left_out[..., :1]).all()


def test_copies_are_left_out_together():
    X, y, _ = bagged_fits.draw("quantity")
    X[59] = X[0]
    left_out = unfitted("quantity", n_bags=8).fit(X, y).model_.left_out_
    np.testing.assert_array_equal(left_out[:, 0], left_out[:, 59])


def test_bags_that_leave_nobody_out_are_refused():
    X, y, _ = bagged_fits.draw("two classes")
    # Two groups in each class.
    groups = 2 * (y == y[0]) + np.arange(60) % 2
    with pytest.raises(ValueError, match="Every bag would contain all samples"):
        unfitted("two classes").fit(X, y, groups=groups)


@pytest.mark.parametrize(
    ("estimator", "words"),
    [
        (HorseshoeClassifier(), "'estimator' parameter"),
        (
            make_pipeline(StandardScaler(), HorseshoeClassifier()),
            "must be a pipeline of ISPCA or SPCA and a horseshoe",
        ),
        (make_pipeline(ISPCA(2)), "must be a pipeline of ISPCA or SPCA and a horseshoe"),
        (make_pipeline(ISPCA(2), StandardScaler(), HorseshoeClassifier()), r"between .* \(StandardScaler\)"),
        (make_pipeline(SelectKBest(), ISPCA(2), HorseshoeClassifier()), "SelectKBest uses the target"),
    ],
)
def test_other_estimators_are_refused(estimator, words):
    X, y, _ = bagged_fits.draw("two classes")
    with pytest.raises(ValueError, match=words):
        BaggedPosterior(estimator).fit(X, y)


def test_bad_data_are_refused():
    X, y, _ = bagged_fits.draw("two classes")
    with pytest.raises(ValueError, match="n_bags"):
        unfitted("two classes", n_bags=1).fit(X, y)
    with pytest.raises(ValueError, match="groups has 5 entries"):
        unfitted("two classes").fit(X, y, groups=np.arange(5))
    with pytest.raises(ValueError, match="sample_weight"):
        unfitted("two classes").fit(X, y, sample_weight=np.ones(5))
    with pytest.raises(ValueError, match="do not match"):
        unfitted("two classes").fit(X, y[:50])
    with pytest.raises(ValueError, match="class"):
        unfitted("two classes").fit(X, np.repeat("a", 60))
    with pytest.raises(ValueError, match="offset"):
        unfitted("counts").fit(X, np.arange(60), offset=np.ones(3))
    with pytest.raises(ValueError, match="integers"):
        unfitted("counts").fit(X, np.linspace(0, 1, 60))


def test_features_outside_of_memory_are_refused(tmp_path):
    X, y, _ = bagged_fits.draw("quantity")
    np.save(tmp_path / "X.npy", X)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    with pytest.raises(ValueError, match="Bags need X in memory"):
        unfitted("quantity").fit(wrap_container(mapped), y)
    # Workers of joblib get such arrays.
    np.testing.assert_array_equal(unfitted("quantity").fit(mapped, y).predict(X), fitted("quantity").predict(X))
