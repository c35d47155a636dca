"""Effects of covariates beside components."""

import warnings

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from ispca import ISPCA, HorseshoeCounts
from ispca.datasets import make_counts
from ispca.plots import effect_table, plot_effects

SHORT = {"n_warmup": 150, "n_draws": 150, "n_chains": 2, "retry": False, "n_jobs": 1, "random_state": 0}


@pytest.fixture(scope="module")
def counts():
    """Counts with an age and a sex, and a model of both."""
    data = make_counts(120, 50, random_state=0)
    X = np.column_stack([data.data, data.covariates["age"], data.covariates["sex"] == "male"])
    reduction = ISPCA(3, whiten=True, adjust=[-2, -1], keep_adjusted=True, family="poisson", random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = make_pipeline(reduction, HorseshoeCounts(unpenalized=[-2, -1], **SHORT)).fit(X, data.target)
    model[0].feature_names_in_ = np.array([*(f"g{j}" for j in range(50)), "age", "sex=male"], dtype=object)
    return model


def test_covariates_come_first_in_their_units(counts):
    model = counts
    table = effect_table(model)
    assert table["name"].tolist()[:2] == ["age", "sex=male"]
    assert table["covariate"].tolist() == [True, True, False, False, False]
    # Samples have the weights of the model without features.
    age, sex = model[0].scale_[-2:]
    assert table["unit"].tolist()[:3] == [f"per SD ({age:.3g})", "vs. reference", "per SD"]
    coef = model[1].posterior_.flat("coef")
    assert table["effect"][0] == pytest.approx(coef[:, -2].mean())
    # A standardized indicator takes 1 / sd steps from one category to the other.
    assert table["effect"][1] == pytest.approx(coef[:, -1].mean() / sex, rel=0.02)
    np.testing.assert_allclose(table["low"][2:], np.quantile(coef[:, :3], 0.05, axis=0))
    assert table["p_sign"][0] == np.mean(coef[:, -2] > 0)


def test_only_the_strongest_components(counts):
    model = counts
    table = effect_table(model, n_components=1)
    size = np.abs(model[1].coef_[:3])
    assert table["name"].tolist()[2:] == [model[0].get_feature_names_out()[size.argmax()]]


def test_the_plot_shows_ratios(counts):
    model = counts
    ax = plot_effects(model)
    assert ax.get_xlabel() == "rate ratio (90% credible interval)"
    assert ax.get_xscale() == "log"
    table = effect_table(model)
    means = [line.get_xdata()[0] for line in ax.lines if len(line.get_xdata()) == 1]
    np.testing.assert_allclose(means, np.exp(table["effect"]))
    assert [label.get_text() for label in ax.get_yticklabels()][1] == "sex=male (vs. reference)"


def test_classes_and_quantities(two_model, four_model, two):
    assert plot_effects(two_model).get_xlabel() == "odds ratio (90% credible interval)"
    table = effect_table(four_model)
    assert len(table) == 4 * 4
    assert len(set(table["target_class"].tolist())) == 4
    assert not table["covariate"].any()
    data, _ = two
    other = make_pipeline(ISPCA(2, random_state=0), LogisticRegression()).fit(data.data, data.target)
    with pytest.raises(ValueError, match="ends in a horseshoe model"):
        effect_table(other)
