"""KernelScores with covariates, which a model behind it needs."""

import numpy as np
import pytest
from sklearn.pipeline import Pipeline

from ispca import HorseshoeSurvival, KernelScores
from ispca.fitting.fit_and_predict import fit_options
from ispca.targets.samples import Samples
from ispca.validation import compare


@pytest.mark.filterwarnings("ignore")
def test_the_effect_of_a_covariate_is_not_lost(rng):
    """The scores predict what the covariates leave, so that a model needs both."""
    X = np.column_stack([rng.normal(size=(80, 30)), 50 + 10 * rng.normal(size=80)])
    y = np.ones(80, dtype=bool), rng.exponential(np.exp(-(X[:, -1] - 50) / 5))
    short = {"prior": "ridge", "n_chains": 2, "n_warmup": 100, "n_draws": 100, "retry": False}
    methods = {
        name: Pipeline([("reduction", KernelScores(adjust=[-1], keep_adjusted=kept)), ("model", model)])
        for name, kept, model in (
            ("kept", True, HorseshoeSurvival(unpenalized=[-1], **short)),
            ("lost", False, HorseshoeSurvival(**short)),
        )
    }
    result = compare(methods, X, y, cv=3, n_jobs=1, baseline="lost")
    assert not result.errors
    kept, lost = result.scores["concordance"].mean(axis=0)
    assert kept > 0.8 > lost


def test_covariates_follow_the_scores(rng):
    X = rng.normal(size=(40, 12))
    y = X[:, 3] + rng.normal(size=40)
    weight = np.where(np.arange(40) < 5, 0.0, 1.0)
    plain = KernelScores(adjust=[2, 5]).fit(X, y, sample_weight=weight)
    kept = KernelScores(adjust=[2, 5], keep_adjusted=True)
    Z = kept.fit_transform(X, y, sample_weight=weight)
    counted = X[5:, [2, 5]]
    centered = (X[:, [2, 5]] - counted.mean(axis=0)) / counted.std(axis=0, ddof=1)
    np.testing.assert_allclose(Z, np.column_stack([plain.training_scores_, centered]))
    np.testing.assert_allclose(kept.transform(X), np.column_stack([plain.transform(X), centered]))
    assert kept.get_feature_names_out().tolist() == ["kernel_score_1", "2", "5"]


def test_groups_reach_the_scores_inside_a_pipeline(rng):
    """Samples of a group are left out together, also where the groups come from a comparison."""
    samples = Samples(rng.normal(size=(20, 3)), rng.normal(size=20), groups=np.arange(20) // 2)
    pipeline = Pipeline([("reduction", KernelScores()), ("model", HorseshoeSurvival())])
    assert fit_options(pipeline, samples)["reduction__groups"] is samples.groups
