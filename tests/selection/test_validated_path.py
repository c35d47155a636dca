"""The search inside folds: refitted references, held-out densities, and their combination over folds."""

from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import BayesianRidge, LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.pipeline import make_pipeline

from ispca import ISPCA, HorseshoeClassifier
from ispca.families.survival_target import survival_target
from ispca.foundation.splits import Split
from ispca.selection.search import SearchSettings
from ispca.selection.selector import ProjectionSelector
from ispca.selection.validated_path import (
    FoldEvaluation,
    FoldPath,
    Searcher,
    combine_folds,
    halves_of,
    path_measures,
    path_predictions,
)
from ispca.targets import SURVIVAL, find_target
from ispca.targets.samples import Samples
from ispca.validation import compare
from odd_methods import Fragile
from selected_models import REFERENCES, problem, reference

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
NONE = np.array([], dtype=np.intp)
SHORT = {"n_chains": 2, "n_warmup": 100, "n_draws": 100, "retry": False}


def evaluation(max_features, always=NONE, never=NONE, n_draws=40):
    return FoldEvaluation(Searcher(SearchSettings(max_features, always, never), n_draws, 5, 0))


def parts(X, y, n_train):
    return Samples(X[:n_train], y[:n_train]), Samples(X[n_train:], y[n_train:])


@pytest.fixture
def numbers(rng):
    X = rng.normal(size=(60, 6))
    return X, X[:, 4] - 2 * X[:, 1] + 0.3 * rng.normal(size=60)


def test_every_size_is_evaluated_on_held_out_samples(numbers):
    train, test = parts(*numbers, 40)
    found = evaluation(6)(BayesianRidge(), train, test, find_target("regression"))
    assert found.sets[:3] == ([], [1], [1, 4])
    assert found.log_density.shape == (7, 20)
    fitted = BayesianRidge().fit(train.X, train.y)
    mean, deviation = fitted.predict(test.X, return_std=True)
    density = -0.5 * np.log(2 * np.pi * deviation**2) - 0.5 * ((test.y - mean) / deviation) ** 2
    np.testing.assert_allclose(found.reference, density, rtol=1e-12, atol=1e-14)
    means = found.log_density.mean(axis=1)
    assert means[0] < means[1] < means[2]
    # With all features the means are those of the reference, and the noise is nearly so.
    np.testing.assert_allclose(means[-1], density.mean(), atol=0.05)
    assert found.halves is None


def test_a_short_path_repeats_its_last_submodel(numbers):
    train, test = parts(*numbers, 40)
    constant = np.zeros((len(train.X), 6)), np.zeros((len(test.X), 6))
    constant[0][:, 2] = train.X[:, 1]
    constant[1][:, 2] = test.X[:, 1]
    train, test = train._replace(X=constant[0]), test._replace(X=constant[1])
    found = evaluation(4)(BayesianRidge(), train, test, find_target("regression"))
    assert found.sets == ([], [2])
    assert not np.array_equal(found.log_density[0], found.log_density[1])
    for size in (2, 3, 4):
        np.testing.assert_array_equal(found.log_density[size], found.log_density[1])


def test_a_class_without_training_samples(rng):
    X = rng.normal(size=(60, 4))
    y = np.array(["a", "b", "c"])[np.digitize(X[:, 0], [-0.5, 0.5])]
    y[40:][y[40:] == "c"] = "b"
    y[:40][y[:40] == "c"] = "a"
    y[-1] = "c"
    train, test = parts(X, y, 40)
    found = evaluation(2)(LogisticRegression(), train, test, find_target("classification", np.unique(y)))
    assert np.isfinite(found.log_density).all()
    # An unknown class has the smallest probability there is, at every size.
    assert found.log_density[:, -1].max() < -20
    assert found.reference[-1] < -20


def test_the_reference_is_evaluated_as_in_a_comparison(rng):
    X = rng.normal(size=(60, 12))
    y = np.where(X[:, 0] + rng.normal(size=60) > 0, "sick", "healthy")
    order = rng.permutation(60)
    pairs = [(np.setdiff1d(order, part), part) for part in np.split(order, 3)]
    weight = rng.uniform(0.5, 2, 60)
    method = make_pipeline(ISPCA(3), HorseshoeClassifier(**SHORT))
    selector = ProjectionSelector(method, max_features=2, cv=pairs, n_jobs=1, n_draws=50, random_state=5)
    selector.fit(X, y, sample_weight=weight)
    compared = compare({"m": method}, X, y, cv=pairs, sample_weight=weight, n_jobs=1, random_state=5)
    density = np.concatenate([row[0].log_density for row in compared.predictions])
    assert selector.reference_density_ == pytest.approx(np.average(density, weights=weight[order]), rel=1e-12)
    # Measures count over all held-out samples, not per fold.
    chances = np.concatenate([row[0].probabilities[:, 1] for row in compared.predictions])
    ill, found = y[order] == "sick", selector.reference_measures_
    assert found["accuracy"] == pytest.approx(np.average((chances > 0.5) == ill, weights=weight[order]))
    assert found["auc"] == pytest.approx(roc_auc_score(ill, chances, sample_weight=weight[order]))
    assert selector.path_.auc[0] == pytest.approx(0.5, abs=0.2)
    assert selector.path_.auc[1] > 0.6


@pytest.mark.grid(4)
@pytest.mark.parametrize("seed", [0, 2, 3, 10])
def test_an_overconfident_reference_that_beats_chance_gets_a_panel(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(120, 20))
    y = (2 * X[:, 0] + 2 * X[:, 1] + rng.logistic(size=120) > 0).astype(int)
    selector = ProjectionSelector(LogisticRegression(C=1e4), max_features=3, cv=5, n_jobs=1, random_state=0)
    selector.fit(X, y)
    assert selector.reference_measures_["auc"] > 0.75
    assert selector.n_features_ > 0
    assert "no better" not in selector.message_


def test_pairs_of_survival_times_are_those_within_a_fold():
    y = survival_target(([True, True, False, True, True], [1.0, 2.0, 3.0, 1.5, 4.0]))
    splits = [Split(np.array([0]), np.array([0, 1, 2])), Split(np.array([0]), np.array([3, 4]))]
    value = [np.array([[3.0, 2.0, 1.0], [1.0, 2.0, 3.0]]), np.array([[1.0, 2.0], [2.0, 1.0]])]
    folds = [SimpleNamespace(value=part, probabilities=None) for part in value]
    samples = Samples(np.zeros((5, 1)), y)
    found = path_measures(SURVIVAL, *path_predictions(folds, splits, samples, SURVIVAL))
    # Three pairs in the first fold and one in the second.
    np.testing.assert_allclose(found["concordance"], [3 / 4, 1 / 4])


@pytest.mark.parametrize(
    ("name", "measures"),
    [
        ("three classes", ["accuracy", "auc"]),
        ("numbers", ["r2"]),
        ("poisson", ["poisson_deviance"]),
        ("ordinal", ["accuracy", "absolute_error"]),
        ("survival", ["concordance"]),
    ],
)
def test_every_kind_has_a_measure_beside_the_density(name, measures):
    X, y = problem(name)
    kind, model = REFERENCES[name]
    short = {"max_features": 1, "cv": 2, "n_draws": 20, "n_jobs": 1, "random_state": 0}
    selector = ProjectionSelector(model, kind=kind, **short).fit(X, y)
    assert list(selector.reference_measures_) == measures
    for measure in measures:
        nothing, feature = selector.path_[measure]
        smaller = measure in ("poisson_deviance", "absolute_error")
        assert (feature < nothing) if smaller else (feature > nothing)
        assert np.isfinite(selector.reference_measures_[measure])


def test_halves_divide_the_draws():
    predictions = reference("negative-binomial")[1]
    first, second = halves_of(predictions)
    assert (first.n_draws, second.n_draws) == (30, 30)
    np.testing.assert_array_equal(second.mean, predictions.mean[:, 1::2])
    np.testing.assert_array_equal(first.extra, predictions.extra[::2])
    np.testing.assert_allclose(first.weights.sum(), 1)
    assert halves_of(predictions._replace(weights=np.ones(1))) == []


@pytest.mark.parametrize("name", list(REFERENCES))
def test_halves_agree_with_the_whole(name):
    X, y = problem(name)
    kind, model = REFERENCES[name]
    codes = np.searchsorted(np.unique(y), y) if kind == "ordinal" else np.asarray(y)
    target = find_target(
        kind, np.unique(codes) if hasattr(reference(name)[0], "classes_") else None, np.array([1.0])
    )
    samples = Samples(X, codes)
    found = evaluation(2)(clone(model), samples, samples, target)
    assert found.halves.shape == (2, len(y))
    np.testing.assert_allclose(found.halves.mean(), found.log_density[-1].mean(), atol=0.05)
    assert found.log_density[-1].mean() > found.log_density[0].mean()


def fold(sets, log_density, reference, halves=None):
    return FoldPath(sets, np.array(log_density), np.array(reference), halves)


def test_folds_are_combined_by_sample():
    first = fold(([], [3], [3, 1]), [[1.0, 2.0], [3.0, 4.0]], [0.0, 1.0])
    second = fold(([], [1]), [[5.0, 6.0], [7.0, 8.0]], [2.0, 3.0])
    splits = [Split(np.array([0]), np.array([4, 2])), Split(np.array([0]), np.array([2, 1]))]
    found = combine_folds([first, second], splits)
    assert found.samples.tolist() == [1, 2, 4]
    # Sample 2 was held out twice.
    np.testing.assert_array_equal(found.log_density, [[6, 3.5, 1], [8, 5.5, 3]])
    np.testing.assert_array_equal(found.reference, [3, 1.5, 0])
    assert found.halves is None
    np.testing.assert_array_equal(found.fractions(np.array([1])), [0.5])
    # The second fold has no larger panel than its first.
    np.testing.assert_array_equal(found.fractions(np.array([1, 3])), [1, 0.5])
    np.testing.assert_array_equal(found.fractions(np.array([0, 1])), [0, 1])


def test_failed_folds_are_left_out(rng):
    X = rng.normal(size=(40, 3))
    X[:, 0] = np.arange(40)
    y = np.arange(40) % 2
    pairs = [(np.arange(20), np.arange(20, 40)), (np.arange(20, 40), np.arange(20))]
    selector = ProjectionSelector(FragileClassifier(3), max_features=1, cv=pairs, n_jobs=1, prefit=True)
    selector.reference.classes_ = np.array([0, 1])
    with pytest.warns(UserWarning, match=r"failed in 1 of 2 folds, which are left out: ArithmeticError"):
        selector.fit(X, y)
    assert selector.validated_
    broken = ProjectionSelector(FragileClassifier(), max_features=1, cv=pairs, n_jobs=1, prefit=True)
    broken.reference.classes_ = np.array([0, 1])
    with pytest.raises(ValueError, match=r"failed in every fold. The first error: ArithmeticError"):
        broken.fit(X, y)
    assert not broken.validated_
    assert broken.path_.size


class FragileClassifier(Fragile):
    def predict_proba(self, X):
        chance = 1 / (1 + np.exp(-X[:, 1]))
        return np.column_stack([1 - chance, chance])
