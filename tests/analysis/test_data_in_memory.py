"""Arrays and frames that do not fit together are refused; nothing is matched silently by its place."""

import numpy as np
import pandas as pd
import pytest

import ispca
from ispca.foundation.messages import SettingError

FAST = {"bags": 0, "components": 3, "draws": 40, "cv": 0}


@pytest.fixture(scope="module")
def adjusted(study):
    columns = study.describing[["age", "sex"]].assign(years=study.describing["age"].to_numpy()[::-1])
    found = ispca.analyze(study.genes, study.describing["state"], covariates=columns, **FAST)
    return found, columns


@pytest.fixture(scope="module", params=[True, False])
def in_order(request, study):
    """Samples with and without names, what describes them in the same order, and the analysis of both."""
    X, describing = study.genes, study.describing.assign(weight=1.0 + np.arange(40))
    if not request.param:
        X, describing = X.reset_index(drop=True), describing.reset_index(drop=True)
    given = {"y": describing["state"], "groups": describing["patient"], "weights": describing["weight"]}
    given["covariates"] = describing[["age"]]
    return X, given, ispca.analyze(X, **given, **FAST)


@pytest.mark.parametrize("role", ["y", "groups", "weights", "covariates"])
def test_rows_in_another_order_are_refused_and_the_advice_works(in_order, role):
    X, given, expected = in_order
    shuffled = given[role].sample(frac=1, random_state=0)
    with pytest.raises(ValueError, match=rf"Pass {role}.loc\[X.index\] to put its rows in the order of X"):
        ispca.analyze(X, **given | {role: shuffled}, **FAST)
    found = ispca.analyze(X, **given | {role: shuffled.loc[X.index]}, **FAST)
    np.testing.assert_array_equal(found.coefficients["mean"], expected.coefficients["mean"])


def test_the_code_of_the_report_repeats_the_analysis(study):
    X, test = study.frame, (study.genes.join(study.describing), study.describing["state"])
    for y, groups in (("state", "patient"), (study.describing["state"], study.describing["patient"])):
        found = ispca.analyze(X, y, covariates=["age", "sex"], groups=groups, test=test, **FAST)
        given = {"X": X, "y": y, "groups": groups, "test": test}
        exec(found.settings.python(found.values), given)
        np.testing.assert_array_equal(given["analysis"].coefficients["mean"], found.coefficients["mean"])
        assert given["analysis"].test == found.test


def test_positions_are_no_names_but_other_names_are_refused(study, adjusted):
    y = study.describing["state"]
    assert ispca.analyze(study.genes, y.reset_index(drop=True), **FAST).details["n_samples"] == 40
    with pytest.raises(ValueError, match=r"Pass y.to_numpy\(\) if its rows are in the order of X"):
        ispca.analyze(study.genes, y.set_axis([f"z{i}" for i in range(40)]), **FAST)
    found, columns = adjusted
    new = study.genes + 0.1
    with pytest.raises(ValueError, match="The index of covariates is not that of X"):
        found.predict(new, covariates=columns[::-1])
    with pytest.raises(ValueError, match="The index of y is not that of X"):
        found.evaluate(new, y[::-1], covariates=columns)


def test_covariates_of_new_samples_are_matched_by_name(study, adjusted):
    found, columns = adjusted
    new = study.genes + 0.1
    expected = found.predict(new, covariates=columns)["p(ill)"]
    for given in (columns[["years", "sex", "age"]], dict(columns.items()), columns.to_numpy()):
        np.testing.assert_array_equal(found.predict(new, covariates=given)["p(ill)"], expected)
    other = new.join(columns.rename(columns={"age": "Age"}))
    by_names = found.predict(other, covariates=["Age", "sex", "years"])
    np.testing.assert_array_equal(by_names["p(ill)"], expected)


def test_columns_of_one_name_are_not_mixed_up(study):
    y = study.describing["state"]
    expected = ispca.analyze(study.genes, y, groups=study.describing["patient"], **FAST)
    renamed = study.describing["patient"].rename("state")
    found = ispca.analyze(study.genes, y, groups=renamed, **FAST)
    assert (found.settings.target, found.settings.groups) == ("state", "groups")
    like_feature = ispca.analyze(study.genes, y.rename("g3"), groups=renamed, **FAST)
    for one in (found, like_feature):
        np.testing.assert_array_equal(one.coefficients["mean"], expected.coefficients["mean"])
    assert len(like_feature.predict(study.genes + 0.1)) == 40
    with pytest.raises(ValueError, match="X has a column 'g3' with other values"):
        ispca.analyze(study.genes, y, covariates=study.describing[["age"]].rename(columns={"age": "g3"}), **FAST)
    same = ispca.analyze(study.frame.drop(columns="state"), study.frame["age"], drop=["sex", "patient"], **FAST)
    assert "age" not in same.features["feature"].tolist()


def test_dates_are_no_numbers(study):
    dated = study.genes.assign(when=pd.date_range("2020-01-01", periods=40))
    found = ispca.analyze(dated, study.describing["state"], **FAST)
    assert "when" not in found.features["feature"].tolist()
    assert found.notes[0].startswith("1 column of text left out: when (2020-01-01")


@pytest.mark.parametrize("place", ["given", "column"])
def test_an_order_that_is_not_used_is_said_and_the_advice_works(study, place):
    grades = pd.Series(np.resize(["low", "mid", "high"], 40), study.genes.index, name="grade")
    y = grades.astype(pd.CategoricalDtype(["low", "mid", "high"], ordered=True))
    X, target = (study.genes, y) if place == "given" else (study.genes.assign(grade=y), "grade")
    plain = ispca.analyze(X, target, **FAST)
    assert plain.details["kind"] == "classification"
    assert plain.notes[0].startswith("The order low < mid < high is not used. Pass the codes of y plus 1 and kind")
    ordered = ispca.analyze(study.genes, y.cat.codes + 1, kind="ordinal", **FAST)
    assert ordered.details["kind"] == "ordinal"
    assert not any("is not used" in note for note in ordered.notes)
    two = grades.replace("high", "mid").astype(pd.CategoricalDtype(["low", "mid"], ordered=True))
    assert not any("is not used" in note for note in ispca.analyze(study.genes, two, **FAST).notes)


def test_columns_of_obs_are_not_called_left_out(study):
    anndata = pytest.importorskip("anndata")
    adata = anndata.AnnData(study.genes.to_numpy(), obs=study.describing)
    found = ispca.analyze(adata, "state", groups="patient", **FAST)
    assert not any("left out" in note for note in found.notes)
    with pytest.raises(ValueError, match=r"Pass y.loc\[X.obs_names\]"):
        ispca.analyze(adata, study.describing["state"][::-1], **FAST)


@pytest.mark.parametrize("y", [np.arange(40.0)[:, None] ** 1.5, pd.DataFrame({"level": np.arange(40.0) ** 1.5})])
def test_a_target_with_one_column(study, y):
    assert ispca.analyze(study.genes.to_numpy(), y, **FAST).details["kind"] == "regression"


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"y": 3}, ValueError, "target must have one value per sample, but has 0 dimensions"),
        ({"y": np.ones((40, 3))}, ValueError, "target must have one value per sample, but has 2 dimensions"),
        ({"kind": "survival"}, SettingError, r"kind='survival' needs events and times: pass y=\(events, times\)"),
        ({"seed": 3}, TypeError, "no setting 'seed'. Pass random_state"),
        ({"data": "x.csv"}, TypeError, "no setting 'data'"),
        ({"target": "age"}, SettingError, "y takes the place of target. Leave out one of them"),
        ({"samples": "sheet.csv"}, SettingError, "samples is for files, but X is in memory. Leave it out"),
        ({"transpose": True}, SettingError, "transpose is for files"),
        ({"test": (1, 2, 3, 4, 5)}, SettingError, "test must be X, y, covariates and offset, got 5 items"),
    ],
)
def test_other_mistakes(study, options, error, message):
    y = options.pop("y", "state")
    with pytest.raises(error, match=message):
        ispca.analyze(study.frame, y, **FAST, **options)


def test_values_do_not_replace_columns_of_a_file(study, tmp_path, analysis):
    path = tmp_path / "data.csv"
    study.frame.to_csv(path, index_label="id")
    with pytest.raises(SettingError, match="covariates must be names of columns"):
        ispca.analyze(path, "state", covariates=study.describing[["age"]], **FAST)
    with pytest.raises(ValueError, match="y, covariates and offset of a file must be columns of it"):
        analysis.evaluate(path, study.describing["state"])


def test_test_samples_in_a_frame_and_numpy_integers(study):
    options = {"components": np.int64(3), "draws": np.int64(40), "cv": np.int64(0), "random_state": np.int64(1)}
    first, rest = study.frame[:30], study.frame[30:]
    found = ispca.analyze(first, target="state", covariates=["age"], groups="patient", test=rest, **options)
    assert found.test["samples"] == 10
    assert type(found.settings.seed) is int
