"""p and q of the features of an analysis: those of score_test on the data as the analysis treats them."""

import json

import numpy as np
import pytest

import ispca
from ispca import score_test
from ispca.analysis.feature_significance import N_PERMUTATIONS

QUICK = {"bags": 0, "components": 3, "draws": 60, "cv": 0}


def by_feature(table, name):
    return dict(zip(table["feature"].tolist(), table[name].tolist(), strict=True))


def expected(X, y, names, **options):
    test = score_test(X, y, n_permutations=N_PERMUTATIONS, random_state=0, **options)
    p = (N_PERMUTATIONS * test.p_values + 1) / (N_PERMUTATIONS + 1)
    return dict(zip(names, p, strict=False)), dict(zip(names, test.q_values, strict=False))


def test_they_are_those_of_score_test(study, analysis):
    p, q = expected(study.genes.to_numpy(), study.describing["state"].to_numpy(), study.genes.columns)
    assert by_feature(analysis.features, "p") == pytest.approx(p)
    assert by_feature(analysis.features, "q") == pytest.approx(q)
    assert min(p.values()) > 0
    assert np.isnan(analysis.coefficients["p"][0])


def test_features_are_adjusted_and_covariates_have_none(study):
    frame = study.genes.assign(state=study.describing["state"], age=study.describing["age"])
    found = ispca.analyze(frame, "state", covariates="age", **QUICK)
    values = np.column_stack([study.genes, study.describing["age"]])
    p, q = expected(values, frame["state"].to_numpy(), study.genes.columns, adjust=[60])
    assert by_feature(found.features, "p") == pytest.approx(p)
    assert by_feature(found.features, "q") == pytest.approx(q)
    assert np.isnan(by_feature(found.coefficients, "q")["age"])


def test_groups_and_several_classes(study):
    rng = np.random.default_rng(0)
    y = np.array(["a", "b", "c", "d"])[np.arange(40) // 2 % 4]
    found = ispca.analyze(study.genes, y, groups=study.describing["patient"].to_numpy(), **QUICK)
    p, _ = expected(study.genes.to_numpy(), y, study.genes.columns, groups=study.describing["patient"].to_numpy())
    assert by_feature(found.features, "p") == pytest.approx(p)
    # Each feature has the same in the rows of all classes.
    assert len(found.features) == 4 * 60
    assert len({(row["feature"], row["p"], row["q"]) for row in found.features}) == 60
    counts = rng.poisson(2.0, 40)
    counted = ispca.analyze(study.genes, counts, kind="count", **QUICK)
    assert by_feature(counted.features, "p") == pytest.approx(
        expected(study.genes.to_numpy(), counts, study.genes.columns, family="negative-binomial")[0]
    )


def test_the_report_has_those_of_the_table(analysis, tmp_path):
    found = json.loads(analysis.report(tmp_path / "report.json").read_text())["leading_features"]["tables"][0]
    labels = [column["label"] for column in found["columns"]]
    p, q = by_feature(analysis.features, "p"), by_feature(analysis.features, "q")
    for row in found["rows"]:
        values = dict(zip(labels, row, strict=True))
        assert values["p"] == pytest.approx(p[values["Feature"]], rel=5e-3)
        assert values["q"] == pytest.approx(q[values["Feature"]], rel=5e-3)


def test_none_if_groups_leave_nothing_to_exchange(study, tmp_path):
    sizes = np.repeat(np.arange(4), [7, 9, 11, 13])
    found = ispca.analyze(study.genes, sizes % 2 == 0, groups=sizes, method="PCA", **QUICK)
    assert np.isnan(found.features["p"]).all()
    section = json.loads(found.report(tmp_path / "report.json").read_text())["leading_features"]
    assert not any(column["label"] == "p" for table in section.get("tables", ()) for column in table["columns"])
