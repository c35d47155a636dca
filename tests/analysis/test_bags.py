"""An analysis with bags: frequencies of features, evaluations of sets, and files of earlier versions."""

import csv
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline

import ispca
from ispca import ISPCA, HorseshoeClassifier
from ispca.analysis.feature_frequency import find_weak_signal
from ispca.analysis.fitting import number_of_bags
from ispca.analysis.result_files import COLUMNS
from ispca.analysis.settings import N_BAGS, Settings
from ispca.foundation.messages import SettingError
from ispca.plots import effect_table
from ispca.report.covariates import effects_of


def different(genes):
    return genes + np.random.default_rng(1).normal(0, 2.0, size=genes.shape)


def test_frequencies_and_error_rates_are_those_of_the_bags(analysis):
    names = [f"g{j}" for j in range(60)]
    table = analysis.features
    assert analysis.n_bags == 4
    order = [names.index(name) for name in table["feature"].tolist()]
    np.testing.assert_array_equal(table["frequency"], analysis.bagged.frequency_[order])
    stability = analysis.bagged.stability(10).table
    rates = dict(zip(stability["feature"].tolist(), stability["error_rate"].tolist(), strict=True))
    assert table["error_rate"].tolist() == [rates[name] for name in table["feature"].tolist()]
    assert np.isnan(analysis.coefficients["frequency"][0])


def test_prediction_sets_are_evaluated_as_they_are_printed(study, analysis):
    new, y = different(study.genes), study.describing["state"].to_numpy()
    found, predicted = analysis.evaluate(new, y), analysis.predict(new)
    sets = [text.split(" | ") for text in predicted["prediction_set"].tolist()]
    assert found["set_coverage"] == np.mean([label in each for label, each in zip(y, sets, strict=True)])
    assert found["set_size"] == np.mean([len(each) for each in sets])
    low, high = found["intervals"]["set_coverage"]
    assert low <= found["set_coverage"] <= high


def test_training_samples_have_no_intervals(study, analysis):
    both = analysis.predict(np.vstack([study.genes.iloc[:2], different(study.genes.iloc[:2])]))
    assert [value is None for value in both["p(ill)_q5"]] == [True, True, False, False]
    assert [value is None for value in both["prediction_set"]] == [True, True, False, False]


def test_covariates_and_components_have_no_intervals(shared_fit):
    """Their coverage has not been measured."""
    found = shared_fit("survival").analysis
    plain, effects = effect_table(found.model), effects_of(found.model, found.n_bags)
    np.testing.assert_array_equal(effects["effect"], plain["effect"])
    assert np.isnan([effects[name] for name in ("low", "high", "p_sign")]).all()
    assert np.isfinite(effects_of(found.model, 0)["low"]).all()
    table = found.coefficients
    covariates = np.array([name.startswith(("age", "sex", "batch")) for name in table["feature"].tolist()])
    for name in ("q5", "q95", "p_sign"):
        assert np.isnan(table[name][covariates]).all()
        assert np.isfinite(table[name][~covariates]).all()
    assert np.isfinite(table["mean"]).all()


def test_covariates_are_never_chosen(shared_fit):
    table = shared_fit("survival").analysis.coefficients
    covariates = [name.startswith(("age", "sex", "batch")) for name in table["feature"].tolist()]
    assert np.isnan(table["frequency"][covariates]).all()
    assert np.isfinite(table["frequency"][1:][~np.array(covariates[1:])]).all()


def test_folders_of_earlier_versions(analysis, tmp_path):
    folder = analysis.save(tmp_path / "results")
    assert ispca.load(folder).n_bags == 4
    (folder / "bagged.ispca").unlink()
    with (folder / "coefficients.csv").open(newline="") as file:
        rows = list(csv.reader(file))
    with (folder / "coefficients.csv").open("w", newline="") as file:
        csv.writer(file).writerows(row[:8] for row in rows)
    loaded = ispca.load(folder)
    assert (loaded.n_bags, loaded.coefficients.dtype.names) == (0, COLUMNS)
    assert all(np.isnan(loaded.coefficients[name]).all() for name in COLUMNS[8:])
    assert loaded.features["leading"].tolist() == analysis.features["leading"].tolist()


def test_a_notebook_says_where_intervals_come_from(analysis):
    page = analysis._repr_html_()
    assert "repeated in 4 bootstrap samples" in page
    assert page.count("error rate") == 2
    assert "take the components for given" in replace(analysis, bagged=None)._repr_html_()


def test_bags_where_they_are_impossible_or_not_those_of_the_paper(analysis):
    table = analysis.data
    assert number_of_bags(table, Settings()) == N_BAGS
    assert number_of_bags(table, Settings(bags=7)) == 7
    assert number_of_bags(table, Settings(paper=True)) == 0
    with pytest.raises(SettingError, match="has no bags"):
        Settings(paper=True, bags=3)
    unknown = replace(table, kind="dose")
    assert number_of_bags(unknown, Settings()) == 0
    with pytest.raises(SettingError, match="does not apply to this kind of target"):
        number_of_bags(unknown, Settings(bags=2))


def test_bags_without_components_are_a_finding():
    estimator = make_pipeline(ISPCA(2), HorseshoeClassifier())
    bagged = SimpleNamespace(estimator=estimator, n_supervised_=np.array([0, 0, 0, 2]))
    (finding,) = find_weak_signal(bagged)
    assert finding.kind == "weak_signal"
    assert finding.sentence.startswith("Only 1 of 4 bags found a component")
    bagged.n_supervised_ = np.zeros(4)
    assert find_weak_signal(bagged)[0].sentence.startswith("None of the 4 bags found a component")
    bagged.n_supervised_ = np.array([0, 0, 1, 2])
    assert find_weak_signal(bagged) == []
    bagged.n_supervised_ = np.zeros(4)
    bagged.estimator = make_pipeline(ISPCA(2, n_supervised=0), HorseshoeClassifier())
    assert find_weak_signal(bagged) == find_weak_signal(None) == []
