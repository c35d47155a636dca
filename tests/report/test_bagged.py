"""The report of a fit with bags: where its intervals come from, and where there are none."""

import warnings

import numpy as np
import pytest
from sklearn.base import clone

from ispca import BaggedPosterior
from ispca.analysis.feature_frequency import FeatureFrequency
from ispca.models.coefficients import coefficients_by_column
from ispca.report import summarize
from ispca.report.report_inputs import Context

N_BAGS = 4


@pytest.fixture(scope="module")
def bagged(two):
    model, X, y = two
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return BaggedPosterior(clone(model), n_bags=N_BAGS, n_jobs=1, random_state=0).fit(X, y)


def context_of(bagged, **more):
    rates = np.linspace(0, 1, len(bagged.frequency_))
    frequency = FeatureFrequency(bagged.frequency_, rates)
    return Context(coefficients=coefficients_by_column(bagged), n_bags=N_BAGS, frequency=frequency, **more)


@pytest.fixture(scope="module")
def summary(two, bagged):
    return summarize(*two, context=context_of(bagged))


def columns_of(table):
    labels = [column["label"] for column in table["columns"]]
    return dict(zip(labels, zip(*table["rows"], strict=True), strict=True))


def test_coefficients_are_those_of_the_bags(summary, bagged, two):
    table = summary["coefficients"]["tables"][0]
    assert table["caption"] == "All coefficients, with bagged 90% intervals"
    found, expected = columns_of(table), coefficients_by_column(bagged)[1:]
    place, scale = int(found["Feature"][0]), two[0][0].scale_
    for label, name in (("Effect", "mean"), ("90% from", "q5"), ("to", "q95")):
        assert found[label][0] == pytest.approx(expected[name][place] * scale[place], rel=1e-3)
    places = [int(name) for name in found["Feature"]]
    np.testing.assert_allclose(found["Frequency, %"], 100 * bagged.frequency_[places])
    np.testing.assert_allclose(found["Error rate, %"], 100 * np.linspace(0, 1, 60)[places], rtol=5e-3)
    assert any(f"repeated in {N_BAGS} bootstrap samples" in text for text in summary["coefficients"]["text"])


def test_leading_features_have_frequencies(summary, bagged):
    section = summary["leading_features"]
    found = columns_of(section["tables"][0])
    places = [int(name) for name in found["Feature"]]
    np.testing.assert_allclose(found["Frequency, %"], 100 * bagged.frequency_[places])
    told = [text for text in section["text"] if text.startswith("Frequency is")]
    assert len(told) == 1
    # It is explained once.
    assert told[0] not in summary["coefficients"]["text"]


def test_an_unknown_error_rate_is_no_column(two, bagged):
    context = context_of(bagged)
    frequency = context.frequency._replace(error_rate=np.full(60, np.nan))
    context = Context(coefficients=context.coefficients, n_bags=N_BAGS, frequency=frequency)
    table = summarize(*two, context=context)["coefficients"]["tables"][0]
    assert [column["label"] for column in table["columns"]][-1] == "Frequency, %"


def test_every_section_knows_the_bags(summary, two):
    plain = summarize(*two)
    chains = "This section is about the model fitted to all samples"
    assert summary["convergence"]["text"][0].startswith(chains)
    assert not plain["convergence"]["text"][0].startswith(chains)
    assert "bagged posterior (Huggins and Miller, 2019): in 4 bootstrap samples" in summary["methods"]["paragraph"]
    assert "Prediction sets of new samples were calibrated" in summary["methods"]["paragraph"]
    assert "bootstrap" not in plain["methods"]["paragraph"]
    assert len(summary["reproducibility"]["references"]) == len(plain["reproducibility"]["references"]) + 2
    assert "prediction set of classes" in summary["prediction"]["text"][-1]
    assert plain["coefficients"]["tables"][0]["caption"].endswith("with 90% intervals given the components")
    assert any("too narrow" in text for text in plain["coefficients"]["text"])
