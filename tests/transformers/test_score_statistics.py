"""Score statistics against R's glm and survival, one feature at a time, with and without covariates."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from scipy.stats import spearmanr

from ispca import ISPCA, SPCA, feature_scores, score_test
from ispca.reduction.response import make_response

INPUTS = {"dense": np.asarray, "sparse": sp.csr_array}
containers = pytest.mark.parametrize("container", INPUTS.values(), ids=INPUTS.keys())


@pytest.fixture
def values(reference):
    return reference("score-tests")


def residual_variance(values, adjusted):
    design = np.ones((len(values["X"]), 1))
    if adjusted:
        design = np.column_stack([design, values["covariates"]])
    y = values["y_gaussian"]
    return np.mean((y - design @ np.linalg.lstsq(design, y, rcond=None)[0]) ** 2)


@containers
@pytest.mark.parametrize("adjusted", [False, True])
@pytest.mark.parametrize("family", ["gaussian", "binomial", "poisson"])
def test_statistics_are_raos(values, family, adjusted, container):
    X = np.column_stack([values["X"], values["covariates"]])
    n_features = values["X"].shape[1]
    adjust = [n_features, n_features + 1] if adjusted else None
    test = score_test(container(X), values[f"y_{family}"], family=family, adjust=adjust, n_permutations=1)
    expected = values[f"rao_{family}" + ("_adjusted" if adjusted else "")]
    if family == "gaussian":
        # R's statistic is not divided by the variance: it is the explained sum of squares.
        expected = expected / residual_variance(values, adjusted)
    np.testing.assert_allclose(test.statistics[:n_features], expected, rtol=1e-6)


@containers
def test_cox_statistics_are_close_to_those_of_the_partial_likelihood(values, container):
    y = (values["event"], values["time"])
    found = score_test(container(values["X"]), y, family="cox", n_permutations=1).statistics
    assert spearmanr(found, values["score_cox"]).statistic >= 0.999
    assert abs(np.median(found / values["score_cox"]) - 1) <= 0.03


def test_martingale_residuals_of_the_null_model(values):
    y = np.array(list(zip(values["event"] == 1, values["time"], strict=True)), [("event", bool), ("time", float)])
    null = make_response(y, "cox").target.null_model()
    np.testing.assert_allclose(null.residuals[:, 0], values["martingale_residuals"], atol=1e-8)


def test_every_form_of_a_survival_target_is_the_same(values):
    X, event, time = values["X"], values["event"] == 1, values["time"]
    structured = np.array(list(zip(event, time, strict=True)), [("status", bool), ("days", float)])
    frame = pd.DataFrame({"time": time, "event": event})
    expected = feature_scores(X, structured)
    for y in (structured, frame, (event, time), (event.astype(int), time)):
        np.testing.assert_array_equal(feature_scores(X, y, family="cox"), expected)
        components = [kind(2, n_supervised=1, **options).fit(X, y).components_ for kind, options in MODELS.items()]
        assert [part.shape for part in components] == [(2, X.shape[1])] * 2
    assert ISPCA(2, alpha=None).fit(X, structured).n_supervised_ == 2


MODELS = {ISPCA: {"alpha": None, "family": "cox"}, SPCA: {"n_features": 5, "family": "cox"}}


def test_a_survival_target_of_another_length_is_refused(values):
    y = (values["event"][1:], values["time"][1:])
    for fit in (ISPCA(family="cox").fit, lambda X, y: feature_scores(X, y, family="cox")):
        with pytest.raises(ValueError, match="inconsistent numbers of samples"):
            fit(values["X"], y)


def test_ordered_categories_are_scored_in_their_order(values):
    X = values["X"]
    codes = np.digitize(X[:, 0], [-0.5, 0.5])
    labels = np.array(["low", "medium", "high"])[codes]
    y = pd.Series(pd.Categorical(labels, ["low", "medium", "high"], ordered=True))
    expected = feature_scores(X, codes, family="ordinal")
    np.testing.assert_array_equal(feature_scores(X, y, family="ordinal"), expected)
    assert expected.argmax() == 0
    with pytest.raises(ValueError, match="order"):
        feature_scores(X, labels, family="ordinal")


def test_rank_statistics_have_no_score_statistic(values):
    test = score_test(values["X"], values["y_gaussian"], statistic="spearman", n_permutations=1)
    assert test.statistics is None


def test_statistics_follow_a_chi_square_distribution():
    """Of features that the target does not depend on, given a covariate on which both depend."""
    rng = np.random.default_rng(0)
    covariate = rng.normal(size=300)
    X = np.column_stack([rng.normal(size=(300, 2000)) + covariate[:, None], covariate])
    y = rng.poisson(np.exp(0.5 * covariate))
    found = score_test(X, y, family="poisson", adjust=[2000], n_permutations=1).statistics[:2000]
    assert np.mean(found > 3.841) == pytest.approx(0.05, abs=4 * np.sqrt(0.05 * 0.95 / 2000))
    assert found.mean() == pytest.approx(1, abs=4 * np.sqrt(2 / 2000))
