"""Refitting: what fails is done again with more draws, and once more by NUTS, and nothing else is touched."""

from types import SimpleNamespace

import numpy as np
import pytest

from ispca.foundation.splits import Split
from ispca.targets.samples import Prediction
from ispca.validation import Comparison
from paper import refitting
from paper.experiment import methods_for

GOOD = {"r_hat": 1.002, "bulk_ess": 900.0, "n_divergent": 0}
BAD = {"r_hat": 1.05, "bulk_ess": 90.0, "n_divergent": 0}
METHODS = ["PCA", "ISPCA", "lasso"]


def comparison(checks, score):
    predictions = [[Prediction(None, posterior=check) for check in row] for row in checks]
    splits = [Split(np.array([number]), np.array([number + 100])) for number in range(len(checks))]
    scores = {"mlpd": np.full((len(checks), len(checks[0])), score)}
    return Comparison(METHODS[: len(checks[0])], "PCA", scores, predictions, splits)


@pytest.fixture
def refits(monkeypatch):
    """Let a longer run mend split 0, and NUTS split 1; record what is asked for."""
    asked = []

    def compare(methods, X, y, *, cv, **options):
        ((name, method),) = methods.items()
        model = method["model"]
        numbers = [int(train[0]) for train, _ in cv]
        asked.append((name, numbers, model.sampler, model.n_warmup, model.n_draws, model.target_accept))
        mended = {0} if model.sampler == "auto" else {0, 1}
        checks = [[GOOD if number in mended else BAD] for number in numbers]
        return comparison(checks, -0.2 if model.sampler == "auto" else -0.1)

    monkeypatch.setattr(refitting, "compare", compare)
    return asked


def test_only_what_fails_is_refitted_and_only_what_still_fails_by_nuts(refits, tmp_path):
    first = comparison([[GOOD, BAD, None], [GOOD, BAD, None], [BAD, GOOD, None]], -0.3)
    context = SimpleNamespace(draws=1000, n_jobs=1)
    result, refitted = refitting.refit(first, methods_for(2), None, None, context, tmp_path)
    longer, nuts = ("auto", 2000, 4000, 0.99), ("nuts", 1000, 2000, 0.95)
    assert refits == [
        ("PCA", [2], *longer),
        ("ISPCA", [0, 1], *longer),
        ("PCA", [2], *nuts),
        ("ISPCA", [1], *nuts),
    ]
    assert refitted.before.tolist() == [[False, True, False], [False, True, False], [True, False, False]]
    # What nothing mends is still counted.
    assert refitted.after.tolist() == [[False, False, False], [False, False, False], [True, False, False]]
    assert result.scores["mlpd"].tolist() == [[-0.3, -0.2, -0.3], [-0.3, -0.1, -0.3], [-0.3, -0.3, -0.3]]
    assert first.scores["mlpd"].tolist() == [[-0.3] * 3] * 3, "the first result is left alone"


def test_a_refit_that_is_worse_is_not_taken(monkeypatch, tmp_path):
    sizes = iter([300.0, 40.0])

    def compare(methods, X, y, **options):
        ess = next(sizes)
        return comparison([[BAD | {"bulk_ess": ess}]], -ess)

    monkeypatch.setattr(refitting, "compare", compare)
    context = SimpleNamespace(draws=1000, n_jobs=1)
    result, refitted = refitting.refit(comparison([[BAD]], -0.3), methods_for(2), None, None, context, tmp_path)
    # 90 at first, 300 after the long run, 40 by NUTS.
    assert result.predictions[0][0].posterior["bulk_ess"] == 300
    assert result.scores["mlpd"].tolist() == [[-300]]
    assert refitted.after.tolist() == [[True]]
    still = Prediction(None, posterior=BAD | {"bulk_ess": np.nan})
    assert refitting.better(Prediction(None, posterior=BAD), still)
    assert not refitting.better(still, Prediction(None, posterior=BAD))
