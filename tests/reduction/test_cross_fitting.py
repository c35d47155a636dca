"""Cross-fitted training scores: held out fold by fold, on the axes of the full fit."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GroupKFold, KFold, ShuffleSplit, StratifiedKFold
from sklearn.pipeline import make_pipeline
from threadpoolctl import threadpool_limits

import naive
from ispca import ISPCA, SPCA
from ispca.reduction.cross_fitting import make_folds, rotation


def factors(n_classes, n=60, D=200, seed=0):
    """Return features with two factors, and classes (or, for one class, a quantity) that depend on them."""
    rng = np.random.default_rng(seed)
    hidden = rng.normal(size=(n, 2))
    X = rng.normal(size=(n, D))
    X[:, :30] += hidden[:, [0]]
    X[:, 30:45] += 1.5 * hidden[:, [1]]
    value = hidden @ [1.0, 0.8] + 0.3 * rng.normal(size=n)
    return X, value if n_classes == 1 else np.argsort(np.argsort(value)) * n_classes // n


def procrustes(source, target):
    left, _, right = np.linalg.svd(source.T @ target)
    return left @ right


def literal(estimator, X, y, splits):
    """Find the components of each fold's training samples, project the others, and turn them to the fit's axes."""
    full = clone(estimator).set_params(cross_fit=None).fit(X, y)
    lengths = np.ones(full.n_components_) if full.whiten else np.sqrt(full.explained_variance_)
    honest, count = np.array(full.transform(X)), full.n_supervised_
    target = (honest / lengths)[:, :count]
    for train, test in splits:
        inside, outside = (literal_ispca if isinstance(full, ISPCA) else literal_spca)(full, X, y, train, test)
        spread = inside.std(axis=0, ddof=1)
        honest[test, :count] = outside / spread @ procrustes(inside / spread, target[train]) * lengths[:count]
    return honest


def literal_spca(full, X, y, train, test):
    """Fit to the training samples with as many features, and return the scores of both parts."""
    count = full.n_supervised_
    forced = {"n_components": count, "n_supervised": count, "n_features": len(full.selected_), "threshold": None}
    part = clone(full).set_params(**forced).fit(X[train], y[train])
    return part.transform(X[train]), part.transform(X[test])


def literal_ispca(full, X, y, train, test):
    """Deflate the samples step by step, each for the class and with as many features as in the fit."""
    standard = ISPCA(1, n_supervised=0, center=full.center, scale=full.scale, exclude=full.exclude).fit(X[train])
    values = np.where(standard.feature_mask_, (X - standard.mean_) / standard.scale_, 0.0)
    inside, outside, targets = values[train], values[test], naive.target_columns(y[train])
    scores = []
    for step in full.steps_[: full.n_supervised_]:
        column = 0 if targets.shape[1] == 1 else list(full.classes_).index(step.target_class)
        correlations = naive.correlation_scores(inside, targets)[:, [column]]
        direction, component = naive.best_component(inside, correlations, targets[:, [column]], step.n_features, 1)
        explained = inside.T @ component / (component @ component)
        scores.append((component, outside @ direction))
        inside = naive.drop_vanished(inside - np.outer(component, explained))
        outside = outside - np.outer(outside @ direction, explained)
    return tuple(np.column_stack(columns) for columns in zip(*scores, strict=True))


ESTIMATORS = {
    "supervised only": ISPCA(2, alpha=None, random_state=0),
    "whitened": ISPCA(2, alpha=None, whiten=True, random_state=0),
    "with unsupervised": ISPCA(5, n_supervised=2, alpha=None, random_state=0),
    "neither centered nor scaled": ISPCA(3, n_supervised=2, alpha=None, center=False, scale=False, random_state=0),
    "excluding features": ISPCA(2, alpha=None, exclude=[0, 3], random_state=0),
    "SPCA": SPCA(4, n_supervised=2, n_features=20, random_state=0),
    "SPCA, ranks": SPCA(2, threshold=0.4, statistic="spearman", whiten=True, random_state=0),
}


@pytest.mark.parametrize("estimator", ESTIMATORS.values(), ids=ESTIMATORS)
@pytest.mark.parametrize("n_classes", [2, 3, 1], ids=["2 classes", "3 classes", "quantity"])
def test_equals_a_loop_of_fits_over_the_folds(estimator, n_classes):
    X, y = factors(n_classes)
    cv = KFold(5) if n_classes == 1 else StratifiedKFold(5)
    found = clone(estimator).set_params(cross_fit=cv).fit_transform(X, y)
    np.testing.assert_allclose(found, literal(estimator, X, y, cv.split(X, y)), atol=1e-10)


@pytest.mark.grid(4)
@pytest.mark.parametrize("n_classes", [2, 3, 1], ids=["2 classes", "3 classes", "quantity"])
@pytest.mark.parametrize("n", [60, 700], ids=["few samples", "many samples"])
def test_sparse_data_give_the_loop_of_fits_too(n_classes, n):
    X, y = factors(n_classes, n=n)
    X = sp.csr_array(np.where(np.abs(X) > 1.2, X, 0.0))
    cv = KFold(5) if n_classes == 1 else StratifiedKFold(5)
    estimator = ISPCA(4, n_supervised=3, alpha=None, max_features=150, random_state=0)
    found = clone(estimator).set_params(cross_fit=cv).fit(X, y).training_scores_
    np.testing.assert_allclose(found, literal(estimator, X, y, cv.split(X, y)), atol=1e-10)


def test_dense_data_of_mostly_zeros_and_single_precision():
    X, y = factors(2)
    mostly_zero = np.where(np.abs(X) > 2.5, X, 0.0)
    estimator = ISPCA(2, alpha=None, cross_fit=4, random_state=0)
    expected = estimator.fit_transform(sp.csc_array(mostly_zero), y)
    np.testing.assert_allclose(clone(estimator).fit_transform(mostly_zero, y), expected, atol=1e-10)
    Z = clone(estimator).fit_transform(X.astype(np.float32), y)
    assert Z.dtype == np.float32
    np.testing.assert_allclose(Z, clone(estimator).fit_transform(X, y), atol=1e-4)


def test_a_feature_that_only_one_fold_can_use():
    X, y = factors(2)
    X[:, 0] = 0.0
    X[:2, 0] = [5.0, 4.0]  # alone on its side of the mean as soon as one of the two is held out
    X[:, 1] = 0.0
    X[0, 1] = 1.0  # not usable at all
    cv = KFold(30)
    estimator = ISPCA(2, alpha=None, max_features=200, random_state=0)
    found = clone(estimator).set_params(cross_fit=cv).fit_transform(X, y)
    np.testing.assert_allclose(found, literal(estimator, X, y, cv.split(X, y)), atol=1e-10)


# What stays as it is.


def test_the_fit_itself_and_unsupervised_scores_do_not_change():
    X, y = factors(3)
    plain = ISPCA(6, random_state=0).fit(X, y)
    honest = ISPCA(6, random_state=0, cross_fit=5).fit(X, y)
    assert 0 < plain.n_supervised_ < 6
    np.testing.assert_array_equal(honest.components_, plain.components_)
    np.testing.assert_array_equal(honest.transform(X), plain.transform(X))
    supervised = plain.n_supervised_
    in_sample = ISPCA(6, random_state=0).fit_transform(X, y)
    np.testing.assert_array_equal(honest.training_scores_[:, supervised:], in_sample[:, supervised:])
    assert (honest.training_scores_[:, :supervised] != in_sample[:, :supervised]).all()
    assert not hasattr(plain, "training_scores_")


def test_whitening_only_scales():
    X, y = factors(2)
    plain = ISPCA(3, n_supervised=2, alpha=None, random_state=0, cross_fit=5).fit(X, y)
    white = clone(plain).set_params(whiten=True).fit(X, y)
    expected = plain.training_scores_ / np.sqrt(plain.explained_variance_)
    np.testing.assert_allclose(white.training_scores_, expected, atol=1e-10)


def test_a_refit_without_cross_fitting_forgets_the_scores():
    X, y = factors(2)
    estimator = ISPCA(2, alpha=None, random_state=0, cross_fit=5).fit(X, y)
    assert not hasattr(estimator.set_params(cross_fit=None).fit(X, y), "training_scores_")


def test_without_supervised_components_there_is_nothing_to_replace():
    X, y = factors(2)
    estimator = ISPCA(3, n_supervised=0, cross_fit=5)
    np.testing.assert_array_equal(estimator.fit_transform(X), ISPCA(3, n_supervised=0).fit_transform(X))
    np.testing.assert_allclose(estimator.fit(X, y).training_scores_, estimator.transform(X), atol=1e-10)


def test_threads_do_not_change_the_scores():
    X, y = factors(3, n=80, D=3000)
    results = []
    for n_threads in (1, 2, 4):
        with threadpool_limits(n_threads):
            results.append(ISPCA(4, alpha=None, random_state=0, cross_fit=7).fit_transform(X, y))
    np.testing.assert_array_equal(results[0], results[1])
    np.testing.assert_array_equal(results[0], results[2])


def test_the_model_of_a_pipeline_learns_from_cross_fitted_scores():
    X, y = factors(2)
    reduction = ISPCA(2, alpha=None, whiten=True, random_state=0, cross_fit=5)
    pipeline = make_pipeline(clone(reduction), LogisticRegression()).fit(X, y)
    alone = LogisticRegression().fit(reduction.fit_transform(X, y), y)
    np.testing.assert_array_equal(pipeline[-1].coef_, alone.coef_)
    np.testing.assert_array_equal(pipeline.predict_proba(X), alone.predict_proba(reduction.transform(X)))


# Pure noise.


@pytest.mark.parametrize("seed", range(6))
def test_noise_looks_like_noise(seed):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(60, 3000)), rng.normal(size=60)
    estimator = ISPCA(1, alpha=None, random_state=seed, cross_fit=10).fit(X, y)
    assert np.corrcoef(estimator.transform(X)[:, 0], y)[0, 1] > 0.95
    assert abs(np.corrcoef(estimator.training_scores_[:, 0], y)[0, 1]) < 0.3


# Folds.


@pytest.fixture
def held_out(monkeypatch):
    """Collect the held-out samples of every fold."""
    found = []

    def record(design, response, splits, *others):
        found.extend(test for _, test in splits)
        return make_folds(design, response, splits, *others)

    monkeypatch.setattr("ispca.reduction.cross_fitting.make_folds", record)
    return found


@pytest.mark.parametrize("n_classes", [2, 1], ids=["classes", "quantity"])
@pytest.mark.parametrize("cv", [4, GroupKFold(4)], ids=["number", "splitter"])
@pytest.mark.filterwarnings("ignore:The groups parameter is ignored")
def test_groups_are_never_divided(n_classes, cv, held_out):
    X, y = factors(n_classes)
    groups = np.arange(60) % 20
    ISPCA(2, alpha=None, random_state=0, cross_fit=cv).fit(X, y, groups=groups)
    assert len(held_out) == 4
    assert sum(len(np.unique(groups[test])) for test in held_out) == 20
    with pytest.raises(ValueError, match=r"divides \d+ groups"):
        ISPCA(2, alpha=None, cross_fit=KFold(4)).fit(X, y, groups=groups)


def test_folds_are_stratified_and_at_most_as_many_as_the_smallest_class_has_members(held_out):
    X, _ = factors(2)
    y = np.repeat(["a", "b", "c"], [30, 26, 4])
    ISPCA(2, alpha=None, random_state=0, cross_fit=10).fit(X, y)
    assert len(held_out) == 4
    assert all((y[test] == "c").sum() == 1 for test in held_out)
    held_out.clear()
    ISPCA(2, alpha=None, random_state=0, cross_fit=10).fit(X, X[:, 0])
    assert [len(test) for test in held_out] == [6] * 10


@pytest.mark.filterwarnings("ignore:Class 'b' has one member only")
def test_a_class_of_one_sample_or_group_cannot_be_cross_fitted():
    X, _ = factors(2)
    y = np.repeat(["a", "b"], [59, 1])
    estimator = ISPCA(2, alpha=None, random_state=0, cross_fit=10)
    with pytest.warns(UserWarning, match="only one sample, so the training scores are not cross-fitted"):
        Z = estimator.fit_transform(X, y)
    np.testing.assert_allclose(Z, estimator.transform(X), atol=1e-10)
    assert not hasattr(estimator, "training_scores_")
    with pytest.warns(UserWarning, match="only one group, so the training scores are not cross-fitted"):
        estimator.fit(X, X[:, 0], groups=np.zeros(60))


@pytest.mark.parametrize(
    ("cv", "message"),
    [
        (ShuffleSplit(3, random_state=0), "exactly once"),
        (KFold(2), "Fold 0 of cross_fit leaves a class without training samples"),
    ],
)
def test_folds_that_cannot_be_used(cv, message):
    X, _ = factors(2)
    with pytest.raises(ValueError, match=message):
        ISPCA(2, alpha=None, cross_fit=cv).fit(X, np.repeat([0, 1], 30))


def test_the_same_seed_gives_the_same_folds():
    X, y = factors(2)
    one, same, other = (
        ISPCA(1, alpha=None, random_state=seed, cross_fit=5).fit_transform(X, y) for seed in (1, 1, 2)
    )
    np.testing.assert_array_equal(one, same)
    assert (one != other).any()


# The rotation.


def test_the_rotation_turns_back_what_was_turned_and_never_shrinks(rng):
    target = rng.normal(size=(30, 3))
    turned = target @ np.linalg.qr(rng.normal(size=(3, 3)))[0]
    np.testing.assert_allclose(turned @ rotation(turned, target), target, atol=1e-12)
    noise = rng.normal(size=(30, 2))
    turn = rotation(noise, target)
    np.testing.assert_allclose(turn @ turn.T, np.eye(2), atol=1e-12)
