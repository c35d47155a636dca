"""The runner with an evaluation other than predictions: the same keys, resuming, errors and determinism."""

import numpy as np
import pytest

from ispca.fitting.fit_store import Failure
from ispca.fitting.runner import Work, run
from ispca.foundation.splits import make_splits
from ispca.targets import find_target
from ispca.targets.samples import Prediction, Samples
from odd_methods import MeansOfTraining, Noted, TrainingMeans


@pytest.fixture
def predictions(rng, tmp_path):
    X = rng.normal(size=(40, 3))
    X[:, 0] = np.arange(40)
    y = np.arange(40) % 2
    splits = make_splits(5, X, y, None, True, 0)
    return Work(
        {"noted": Noted(str(tmp_path / "fits.log"))},
        Samples(X, y),
        find_target("classification", [0, 1]),
        splits,
        7,
    )


@pytest.fixture
def log(tmp_path):
    return tmp_path / "evaluations.log"


@pytest.fixture
def means(predictions, log):
    return predictions._replace(evaluate=MeansOfTraining(str(log)), record=TrainingMeans)


def n_evaluations(log):
    return len(log.read_text().splitlines())


def assert_same(first, second):
    assert first.keys() == second.keys()
    for place, outcome in first.items():
        assert type(outcome) is type(second[place])
        for name, value in vars(outcome).items():
            np.testing.assert_array_equal(getattr(second[place], name), value)


def test_the_records_of_the_evaluation_come_back(means):
    outcomes = run(means, None, 1, "Testing")
    for number, split in enumerate(means.splits):
        outcome = outcomes[number, "noted"]
        if 0 not in split.train:
            assert outcome == Failure("ArithmeticError: sample 0 is missing")
            continue
        assert isinstance(outcome, TrainingMeans)
        np.testing.assert_array_equal(outcome.means, means.samples.X[split.train].mean(axis=0))
        assert outcome.names == ("first", "classification")
        assert outcome.seed == means.split_seed(number) % 2**31
    assert any(isinstance(outcome, Failure) for outcome in outcomes.values())


def test_one_worker_or_several(means):
    assert_same(run(means, None, 1, "Testing"), run(means, None, 2, "Testing"))


def test_nothing_is_evaluated_again(means, log, tmp_path):
    first = run(means, tmp_path / "fits", 1, "Testing")
    assert n_evaluations(log) == 5
    assert_same(first, run(means, tmp_path / "fits", 2, "Testing"))
    assert n_evaluations(log) == 5
    doubled = run(means._replace(evaluate=MeansOfTraining(str(log), 2.0)), tmp_path / "fits", 1, "Testing")
    assert n_evaluations(log) == 10
    for place, outcome in first.items():
        if isinstance(outcome, TrainingMeans):
            np.testing.assert_array_equal(doubled[place].means, 2 * outcome.means)


def test_predictions_and_other_records_share_a_directory(predictions, means, tmp_path):
    run(means, tmp_path / "fits", 1, "Testing")
    outcomes = run(predictions, tmp_path / "fits", 1, "Testing")
    assert all(isinstance(outcome, Prediction) for outcome in outcomes.values())
    assert not set(predictions.keys().values()) & set(means.keys().values())
