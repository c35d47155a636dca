"""ISPCA and SPCA: their variants, steps and signs, and their use as parts of scikit-learn."""

import pickle
import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.decomposition import PCA
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

from conftest import VARIANTS, make_factors, up_to_sign
from ispca import ISPCA, SPCA

# The six variants.


def test_ispca_has_supervised_components_then_unsupervised_ones(expression):
    X, labels, _ = expression
    estimator = VARIANTS["ISPCA"].fit(X, labels)
    assert 1 <= estimator.n_supervised_ < estimator.n_components_ == 8
    assert [step.accepted for step in estimator.steps_] == [True] * estimator.n_supervised_ + [False]


def test_ispca_small_has_supervised_components_only(expression):
    X, labels, _ = expression
    small, full = VARIANTS["ISPCA-small"].fit(X, labels), VARIANTS["ISPCA"].fit(X, labels)
    assert small.n_components_ == small.n_supervised_ == full.n_supervised_
    np.testing.assert_array_equal(small.components_, full.components_[: full.n_supervised_])


def test_ispca_naive_makes_no_test(expression):
    X, labels, _ = expression
    estimator = VARIANTS["ISPCA-naive"].fit(X, labels)
    assert estimator.n_supervised_ == estimator.n_components_ == 8
    assert all(step.accepted and step.p_value is None and step.n_permutations == 0 for step in estimator.steps_)


@pytest.mark.parametrize("n", [40, 1000], ids=["few samples", "many samples"])
def test_the_pca_variant_is_scikit_learns_pca(n):
    X, _, _ = make_factors(seed=4, n=n, D=60)
    Z = VARIANTS["PCA"].fit_transform(X)
    # StandardScaler divides by the n, not the n - 1 standard deviation.
    reference = PCA(8, svd_solver="full").fit(StandardScaler().fit_transform(X) * np.sqrt((n - 1) / n))
    expected = reference.transform(StandardScaler().fit_transform(X) * np.sqrt((n - 1) / n))
    up_to_sign(Z, expected, atol=1e-8)
    up_to_sign(VARIANTS["PCA"].components_.T, reference.components_.T, atol=1e-8)
    np.testing.assert_allclose(VARIANTS["PCA"].explained_variance_, reference.explained_variance_, rtol=1e-8)
    ratio = VARIANTS["PCA"].explained_variance_ratio_
    np.testing.assert_allclose(ratio, reference.explained_variance_ratio_, rtol=1e-8)


def test_the_pca_variant_needs_no_target(expression):
    X, labels, _ = expression
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        one, other = ISPCA(3, n_supervised=0).fit(X), ISPCA(3, n_supervised=0).fit(X, labels)
    np.testing.assert_array_equal(one.components_, other.components_)
    assert one.n_supervised_ == 0
    assert one.steps_ == []


def test_spca_uses_the_selected_features_only(expression):
    X, labels, _ = expression
    estimator = VARIANTS["SPCA"].fit(X, labels)
    used = np.flatnonzero(estimator.components_.any(axis=0))
    assert set(used) <= set(estimator.selected_)
    assert len(estimator.selected_) < 40
    Z = PCA(3).fit_transform(StandardScaler().fit_transform(X[:, estimator.selected_]) * np.sqrt(39 / 40))
    up_to_sign(estimator.transform(X)[:, :3], Z, atol=1e-8)


def test_pspca_adds_unsupervised_components_of_what_is_left(expression):
    X, labels, _ = expression
    estimator = VARIANTS["PSPCA"]
    Z = estimator.fit_transform(X, labels)
    assert (estimator.n_supervised_, estimator.n_components_) == (4, 8)
    assert not np.delete(estimator.directions_[:4], estimator.selected_, axis=1).any()
    assert np.delete(estimator.directions_[4:], estimator.selected_, axis=1).any()
    assert np.abs(np.corrcoef(Z.T) - np.eye(8)).max() < 1e-8


def test_n_supervised_is_a_maximum(expression):
    X, labels, _ = expression
    assert ISPCA(8, n_supervised=3, alpha=None).fit(X, labels).n_supervised_ == 3
    found = ISPCA(8, random_state=0).fit(X, labels).n_supervised_
    assert ISPCA(8, n_supervised=7, random_state=0).fit(X, labels).n_supervised_ == found


def test_spca_screens_by_number_threshold_or_test(expression):
    X, labels, _ = expression
    scores = np.abs([np.corrcoef(x, labels == "sick")[0, 1] for x in X.T])
    by_number = SPCA(n_features=7, n_components=2).fit(X, labels).selected_
    np.testing.assert_array_equal(by_number, np.sort(np.argsort(-scores)[:7]))
    by_threshold = SPCA(threshold=0.5, n_components=2).fit(X, labels).selected_
    np.testing.assert_array_equal(by_threshold, np.flatnonzero(scores >= (scores.min() + scores.max()) / 2))
    inside = np.sort(scores)[-30:]
    considered = SPCA(threshold=0.5, max_features=30, n_components=2).fit(X, labels).selected_
    np.testing.assert_array_equal(considered, np.flatnonzero(scores >= (inside[0] + inside[-1]) / 2))


# The records of the steps.


def test_steps_say_what_happened(expression):
    X, labels, _ = expression
    estimator = ISPCA(8, random_state=0, n_permutations=300).fit(X, labels)
    first, last = estimator.steps_[0], estimator.steps_[-1]
    scores = np.abs([np.corrcoef(x, labels == "sick")[0, 1] for x in X.T])
    assert first.accepted
    assert first.score == pytest.approx(scores.max())
    assert (first.p_value, first.n_permutations, first.stopped_early) == (0.0, 300, False)
    assert first.n_features == len(first.features) == np.count_nonzero(estimator.directions_[0])
    np.testing.assert_array_equal(np.sort(first.features), np.flatnonzero(estimator.directions_[0]))
    np.testing.assert_allclose(scores[first.features], np.sort(scores[first.features])[::-1])
    assert first.threshold == pytest.approx(scores[first.features].min())
    assert first.target_class == "sick"
    z = estimator.transform(X)[:, 0]
    assert first.component_score == pytest.approx(np.corrcoef(z, labels == "sick")[0, 1])
    assert not last.accepted
    assert last.stopped_early
    assert last.n_permutations < 300
    assert last.p_value >= 0.01
    assert last.n_features == 0


def test_no_test_is_recorded_where_the_maximum_ends_the_steps(expression):
    X, labels, _ = expression
    estimator = ISPCA(8, n_supervised=1, random_state=0).fit(X, labels)
    assert [step.accepted for step in estimator.steps_] == [True]


def test_verbose_tells_the_steps(expression, capsys):
    X, labels, _ = expression
    estimator = ISPCA(4, random_state=0, verbose=1).fit(X, labels)
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "[ISPCA] 0 of 120 features left out"
    assert len(lines) == 1 + len(estimator.steps_)
    assert "p < 0.001" in lines[1]
    SPCA(4, random_state=0, verbose=1, alpha=0.05).fit(X, labels)
    assert "features selected" in capsys.readouterr().out
    ISPCA(4, random_state=0).fit(X, labels)
    assert capsys.readouterr().out == ""


# The sign rules.


def test_supervised_components_correlate_positively_with_their_target(expression):
    X, labels, numbers = expression
    for y in (labels, numbers):
        estimator = ISPCA(5, alpha=None)
        Z = estimator.fit_transform(X, y)
        target = y if y is numbers else (y == "sick")
        assert all(np.corrcoef(z, target)[0, 1] > 0 for z in Z.T)


def test_with_several_classes_they_correlate_with_the_class_they_separate(expression):
    X, _, numbers = expression
    y = np.array(["low", "middle", "high"])[np.digitize(numbers, np.quantile(numbers, [1 / 3, 2 / 3]))]
    estimator = ISPCA(5, alpha=None)
    Z = estimator.fit_transform(X, y)
    assert {step.target_class for step in estimator.steps_} <= {"low", "middle", "high"}
    for z, step in zip(Z.T, estimator.steps_, strict=True):
        assert np.corrcoef(z, y == step.target_class)[0, 1] > 0


def test_the_largest_entry_of_an_unsupervised_direction_is_positive(expression):
    X, labels, _ = expression
    estimator = ISPCA(10, n_supervised=1, alpha=None).fit(X, labels)
    for v in estimator.directions_[1:]:
        assert v[np.abs(v).argmax()] > 0


# As a part of scikit-learn.


def test_pickling_keeps_everything(estimator, expression):
    X, labels, _ = expression
    Z = estimator.fit_transform(X, labels)
    again = pickle.loads(pickle.dumps(estimator))
    np.testing.assert_allclose(again.transform(X), Z, atol=1e-9)
    np.testing.assert_array_equal(again.inverse_transform(Z), estimator.inverse_transform(Z))
    assert [step.p_value for step in again.steps_] == [step.p_value for step in estimator.steps_]


@pytest.mark.parametrize(
    "estimator",
    [
        ISPCA(3, test="residual", alpha=0.2, exclude=[1], random_state=4),
        SPCA(3, statistic="spearman", threshold=0.3),
    ],
)
def test_clone_and_parameters(estimator):
    params = estimator.get_params()
    copy = clone(estimator)
    assert copy is not estimator
    assert copy.get_params() == params
    assert type(estimator)(**params).get_params() == params
    assert copy.set_params(max_features=7).get_params() == params | {"max_features": 7}
    for name in ("random_state", "max_features"):
        assert getattr(copy, name) == copy.get_params()[name]


def test_the_statistic_chooses_the_features(rng):
    y = np.repeat([0, 1], 20)
    X = rng.normal(size=(40, 10))
    X[:, 3] = 4.0 * y + rng.normal(size=40)
    X[0, 3] = 1e6  # one outlier hides the difference from Pearson, not from the ranks
    pearson, spearman = (
        SPCA(n_features=1, statistic=name).fit(X, y).selected_ for name in ("pearson", "spearman")
    )
    assert spearman == [3] != pearson


def test_grid_search_over_a_pipeline(expression):
    X, labels, _ = expression
    model = Pipeline([("reduce", SPCA(n_components=2, random_state=0)), ("classify", LogisticRegression())])
    grid = {"reduce__statistic": ["pearson", "spearman"], "reduce__n_features": [5, 20]}
    search = GridSearchCV(model, grid, cv=3, error_score="raise").fit(X, labels)
    assert search.best_score_ > 0.7
    assert search.best_estimator_["reduce"].statistic == search.best_params_["reduce__statistic"]
    grid = {"reduce": [ISPCA(2, random_state=0), ISPCA(2, test="residual", random_state=0)]}
    assert GridSearchCV(model, grid, cv=3, error_score="raise").fit(X, labels).best_score_ > 0.7


@pytest.mark.slow
def test_parallel_cross_validation(expression):
    X, labels, _ = expression
    model = make_pipeline(ISPCA(3, random_state=0), LogisticRegression())
    serial, parallel = (cross_val_score(model, X, labels, cv=3, n_jobs=jobs) for jobs in (1, 2))
    np.testing.assert_array_equal(serial, parallel)
    assert serial.mean() > 0.7


def test_fitting_again_forgets_the_first_fit(expression):
    X, labels, numbers = expression
    estimator = ISPCA(3, random_state=0).fit(X[:, :50], labels).fit(X, numbers)
    expected = ISPCA(3, random_state=0).fit(X, numbers)
    np.testing.assert_array_equal(estimator.components_, expected.components_)
    assert not hasattr(estimator, "classes_")


def test_the_global_random_state_is_left_alone(expression):
    X, labels, _ = expression
    before = np.random.get_state()[1].copy()  # noqa: NPY002
    ISPCA(2).fit(X, labels)
    np.testing.assert_array_equal(np.random.get_state()[1], before)  # noqa: NPY002
