"""Survival times, counts, ordered classes and covariates on the command line."""

import csv
import json
import re

import numpy as np
import pytest

from ispca.cli import main
from ispca.families.survival_curves import concordance_index
from ispca.persistence import load_model, read_details
from shared_fits import PATIENTS, count_columns, survival_columns
from shared_fits import write_columns as write

SHORT = ["--bags=0", "--components", "3", "--draws", "40", "--permutations", "200", "--cv", "0"]
SURVIVAL = ["--time", "months", "--event", "died", "--covariates", "age,sex,batch", "--drop", "weight"]
COUNT = ["--target", "relapses", "--kind", "count", "--offset", "log_years", "--covariates", "age,sex"]


def read(path):
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def others(columns):
    """Return samples that are not the training samples: every gene is measured with some noise."""
    noise = np.random.default_rng(9)
    gene = re.compile(r"g\d+")
    return {
        name: values + noise.normal(scale=0.3, size=len(values)) if gene.fullmatch(name) else values
        for name, values in columns.items()
    }


@pytest.fixture
def survival(tmp_path):
    return write(tmp_path / "survival.csv", survival_columns())


@pytest.fixture
def counts(tmp_path):
    return write(tmp_path / "counts.csv", count_columns())


def test_survival_files(shared_fit):
    scores = read(shared_fit("survival").results / "scores.csv")
    columns = survival_columns()
    assert [float(row["months"]) for row in scores] == columns["months"].tolist()
    assert [int(row["died"]) for row in scores] == columns["died"].tolist()
    assert list(scores[0])[-4:] == ["age", "sex=male", "batch=B", "batch=C"]
    loadings = read(shared_fit("survival").results / "loadings.csv")
    assert list(loadings[0]) == ["feature", "supervised_1", *list(loadings[0])[2:]]
    assert not {"age", "sex=male"} & set(loadings[0])
    details = read_details(shared_fit("survival").results / "model.ispca")
    assert details["kind"] == "survival"
    assert details["covariates"] == {"age": None, "sex": ["female", "male"], "batch": ["A", "B", "C"]}
    reduction, model = load_model(shared_fit("survival").results / "model.ispca")
    assert reduction.adjust == model.unpenalized == [-4, -3, -2, -1]
    page = (shared_fit("survival").results / "report.html").read_text(encoding="utf-8")
    assert "--time months --event died" in page
    assert "--covariates age sex batch" in page


def test_survival_predictions(shared_fit, tmp_path, capsys):
    model = str(shared_fit("survival").results / "model.ispca")
    out = tmp_path / "predicted.csv"
    new = str(write(tmp_path / "new.csv", others(survival_columns())))
    assert main(["predict", model, new, "--out", str(out)]) == 0
    rows = read(out)
    assert list(rows[0])[:3] == ["id", "risk", "median_survival"]
    times = [float(name[9:-1]) for name in list(rows[0])[3:6]]
    ends = [f"survival({time:g})_{end}" for time in times for end in ("q5", "q95")]
    assert list(rows[0])[6:] == ends
    for row in rows:
        low, value, high = (
            np.array([row[f"survival({time:g}){end}"] for time in times], float) for end in ("_q5", "", "_q95")
        )
        assert (low <= value).all()
        assert (value <= high).all()
    assert times == sorted(times)
    curves = np.array([[float(row[f"survival({time:g})"]) for time in times] for row in rows])
    assert (np.diff(curves, axis=1) <= 0).all()
    risk = np.array([float(row["risk"]) for row in rows])
    assert np.corrcoef(risk, curves[:, 1])[0, 1] < -0.8
    # A median that the curve does not reach is empty, and null in JSON.
    assert any(row["median_survival"] == "" for row in rows)
    capsys.readouterr()
    assert main(["predict", model, new, "--json", "--quiet"]) == 0
    result = json.loads(capsys.readouterr().out)
    found, measured = result["predictions"], result["evaluation"]
    event, time = (np.asarray(survival_columns()[name]).astype(float) for name in ("died", "months"))
    assert measured["concordance"] == pytest.approx(concordance_index(event == 1, time, risk))
    assert 0 < measured["integrated_brier"] < 0.25
    assert measured["log_density"] < 0
    assert [row["median_survival"] is None for row in found] == [row["median_survival"] == "" for row in rows]


def test_covariates_are_required_and_used(shared_fit, tmp_path, one_line, capsys):
    model = str(shared_fit("survival").results / "model.ispca")
    columns = others(survival_columns())
    without = {name: values for name, values in columns.items() if name != "age"}
    assert main(["predict", model, str(write(tmp_path / "a.csv", without))]) == 3
    assert "has no column 'age' (covariates)" in one_line()
    odd = columns | {"batch": np.where(np.arange(PATIENTS) == 3, "D", columns["batch"])}
    assert main(["predict", model, str(write(tmp_path / "b.csv", odd))]) == 3
    assert "contains 'D', but the model knows only 'A', 'B', 'C'" in one_line()
    assert main(["predict", model, str(write(tmp_path / "c.csv", columns)), "--json", "--quiet"]) == 0
    plain = json.loads(capsys.readouterr().out)["predictions"]
    older = columns | {"age": columns["age"] + 30}
    assert main(["predict", model, str(write(tmp_path / "d.csv", older)), "--json", "--quiet"]) == 0
    changed = json.loads(capsys.readouterr().out)["predictions"]
    differences = [b["risk"] - a["risk"] for a, b in zip(plain, changed, strict=True)]
    assert abs(differences[0]) > 1e-3
    np.testing.assert_allclose(differences, differences[0])


def test_what_survival_says(survival, tmp_path, capsys):
    options = [*SURVIVAL[:-2], "--groups", "patient", "--weights", "weight"]
    assert main(["fit", str(survival), *options, "--out", str(tmp_path / "out"), *SHORT]) == 0
    told = capsys.readouterr()
    assert "60 samples, 40 features, target 'months': survival times, 36 events, 24 censored." in told.out
    assert "  sex=male, vs. reference: hazard ratio " in told.out
    assert "treated as survival times: 36 events, 24 samples censored." in told.err
    assert "Covariate 'age'" in told.err
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    # Quotes are escaped.
    assert re.search(r"groups=\S*patient\S*,\s+weights=\S*weight", page)


def test_weights_are_used(survival, tmp_path):
    command = [
        "fit",
        str(survival),
        "--target",
        "sex",
        "--drop",
        "months",
        "died",
        "weight",
        *SHORT,
        "--quiet",
        "--out",
    ]
    assert main([*command, str(tmp_path / "plain")]) == 0
    assert main([*command[:-1], "--weights", "weight", "--out", str(tmp_path / "weighted")]) == 0
    plain, weighted = (load_model(tmp_path / name / "model.ispca") for name in ("plain", "weighted"))
    assert np.abs(plain[0].mean_ - weighted[0].mean_).max() > 1e-3


def test_counts_with_an_offset(counts, tmp_path, capsys):
    out = tmp_path / "out"
    assert main(["fit", str(counts), *COUNT, "--drop", "grade", "batch", "--out", str(out), *SHORT]) == 0
    told = capsys.readouterr()
    assert "target 'relapses': counts." in told.out
    assert "  age, per SD (" in told.out
    assert "rate ratio" in told.out
    assert "'log_years' is the logarithm of the exposure" in told.err
    columns = others(count_columns())
    longer = columns | {"log_years": columns["log_years"] + np.log(2)}
    found = []
    for name, table in (("one", columns), ("two", longer)):
        path = write(tmp_path / f"{name}.csv", table)
        assert main(["predict", str(out / "model.ispca"), str(path), "--json", "--quiet"]) == 0
        result = json.loads(capsys.readouterr().out)
        found.append(result["predictions"])
        assert result["evaluation"].keys() >= {"poisson_deviance", "absolute_error", "coverage", "log_density"}
        misses = np.array([row["mean"] for row in found[-1]]) - np.asarray(columns["relapses"], dtype=float)
        assert result["evaluation"]["absolute_error"] == pytest.approx(np.abs(misses).mean())
    assert list(found[0][0]) == ["id", "mean", "q5", "q95"]
    np.testing.assert_allclose([row["mean"] for row in found[1]], [2 * row["mean"] for row in found[0]])
    without = {name: values for name, values in columns.items() if name != "log_years"}
    assert main(["predict", str(out / "model.ispca"), str(write(tmp_path / "no.csv", without))]) == 3
    assert "has no column 'log_years' (offset)" in capsys.readouterr().err


def test_ordered_classes(counts, tmp_path, capsys):
    options = ["--target", "grade", "--kind", "ordinal", "--drop", "relapses", "log_years"]
    assert main(["fit", str(counts), *options, "--out", str(tmp_path / "out"), *SHORT]) == 0
    told = capsys.readouterr()
    assert "target 'grade': ordered classes 1 (" in told.out
    assert "separating" not in told.out
    new = write(tmp_path / "new.csv", others(count_columns()))
    assert main(["predict", str(tmp_path / "out" / "model.ispca"), str(new), "--json", "--quiet"]) == 0
    result = json.loads(capsys.readouterr().out)
    row, measured = result["predictions"][0], result["evaluation"]
    assert measured["confusion"]["classes"] == ["1", "2", "3"]
    right = np.trace(measured["confusion"]["counts"])
    assert measured["accuracy"] == right / measured["samples"]
    assert measured["samples"] - right == len(measured["misclassified"])
    assert 0 < measured["ranked_probability"] < 0.25
    assert list(row) == ["id", "prediction", "p(1)", "p(2)", "p(3)"]
    assert row["p(1)"] + row["p(2)"] + row["p(3)"] == pytest.approx(1)


USAGE = [
    (["--time", "months"], "--time needs --event"),
    (["--event", "died"], "--event needs --time"),
    (["--time", "months", "--event", "died", "--target", "age"], "take the place of --target"),
    (["--time", "months", "--event", "died", "--kind", "count"], "do not go with --kind count"),
    (["--kind", "survival"], "--kind survival needs --time and --event."),
    (["--target", "weight", "--offset", "age"], "--offset is for counts. Add --kind count."),
    ([*SURVIVAL, "--paper"], "The paper has no methods for --kind survival"),
    ([*SURVIVAL, "--method", "PSPCA"], "--method PSPCA does not apply to this kind of target."),
]


@pytest.mark.parametrize(("options", "message"), USAGE)
def test_options_that_contradict_each_other(survival, tmp_path, capsys, options, message):
    assert main(["fit", str(survival), *options, "--out", str(tmp_path / "out"), *SHORT]) == 2
    assert message in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


DATA = [
    (["--time", "sex", "--event", "died"], "Column 'sex' (time) contains text (female, male)."),
    (["--time", "months", "--event", "sex"], "it contains 'female', 'male'. Pass --event-value VALUE to"),
    (["--target", "sex", "--covariates", "sex"], "Column 'sex' is given as target and as covariates."),
    (["--target", "sex", "--covariates", "agee"], "Did you mean age?"),
    (["--target", "age", "--kind", "count"], "counts are integers of 0 or more. Pass --kind quantity for other"),
    (["--target", "sex", "--kind", "ordinal"], "The order of the classes in 'sex' is unknown"),
]


@pytest.mark.parametrize(("options", "message"), DATA)
def test_unusable_columns(survival, tmp_path, one_line, options, message):
    assert main(["fit", str(survival), *options, "--out", str(tmp_path / "out")]) == 3
    assert message in one_line()


def test_batch_and_class_that_cannot_be_separated(tmp_path, one_line, capsys):
    columns = survival_columns()
    site = np.where(columns["sex"] == "male", "north", "south")
    path = write(tmp_path / "same.csv", columns | {"site": site})
    command = ["--target", "sex", "--covariates", "site", "--out", str(tmp_path / "out"), *SHORT]
    assert main(["fit", str(path), *command]) == 3
    assert "Covariate 'site' determines the class completely" in (line := one_line())
    assert "Remove 'site' from --covariates" in line
    site[np.flatnonzero(site == "north")[:2]] = "south"
    path = write(tmp_path / "nearly.csv", columns | {"site": site})
    assert main(["fit", str(path), *command]) == 0
    told = capsys.readouterr().err
    assert told.count("so their effects can hardly be separated") == 1
    assert "effects can hardly be separated" in (tmp_path / "out" / "report.html").read_text(encoding="utf-8")


def test_compare_survival_and_weighted_classes(survival, capsys):
    common = ["--splits", "2", "--jobs", "1", "--json", "--quiet", "--components", "2", "--draws", "40"]
    command = ["compare", str(survival), *SURVIVAL, "--groups", "patient", "--methods", "PCA", "base rate"]
    assert main([*command, *common]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["baseline"] == "base rate"
    assert {"concordance", "integrated_brier", "mlpd"} <= set(found["methods"][0])
    weighted = ["compare", str(survival), "--target", "sex", "--drop", "months", "died", "--weights", "weight"]
    assert main([*weighted, "--methods", "PCA", "lasso", *common]) == 0
    assert json.loads(capsys.readouterr().out)["errors"] == []


def select(folder, model, data, *options):
    """Select two features without validation; return them, and the predictions of the panel alone."""
    quick = ["--folds", "0", "--size", "2", "--max-size", "2", "--draws", "40", "--quiet", *options]
    assert main(["select", str(model), str(data), "--out", str(folder / "panel"), *quick]) == 0
    out = folder / "predicted.csv"
    assert main(["predict", str(folder / "panel" / "panel.ispca"), str(data), "--out", str(out), "--quiet"]) == 0
    features = [row["feature"] for row in read(folder / "panel" / "panel.csv")]
    return features, read(out)


def test_panels_of_survival_keep_the_covariates(shared_fit, tmp_path):
    fit = shared_fit("survival")
    features, predicted = select(tmp_path, fit.results / "model.ispca", fit.data)
    assert features[:5] == ["(intercept)", "age", "sex=male", "batch=B", "batch=C"]
    assert len(features) == 7, "two features besides the covariates"
    target = survival_columns()
    risk = np.array([float(row["risk"]) for row in predicted])
    assert np.corrcoef(risk, target["months"])[0, 1] < 0
    details = read_details(tmp_path / "panel" / "panel.ispca")
    assert details["event"] == "died"
    assert details["covariates"]["sex"] == ["female", "male"]


@pytest.mark.slow
def test_groups_and_weights_of_the_fit_are_read_again(survival, tmp_path):
    options = [*SURVIVAL[:-2], "--groups", "patient", "--weights", "weight", "--quiet"]
    assert main(["fit", str(survival), *options, "--out", str(tmp_path / "out"), *SHORT]) == 0
    features, _ = select(tmp_path, tmp_path / "out" / "model.ispca", survival)
    assert len(features) == 7
    page = (tmp_path / "panel" / "report.html").read_text(encoding="utf-8")
    assert "ispca__groups=groups, ispca__sample_weight=sample_weight" in page


@pytest.mark.parametrize("kind", ["counts", "ordered classes"])
def test_panels_of_counts_and_ordered_classes(shared_fit, tmp_path, kind):
    fit = shared_fit(kind)
    features, predicted = select(tmp_path, fit.results / "model.ispca", fit.data)
    if kind == "counts":
        assert len(features) == 5
        found = np.array([float(row["mean"]) for row in predicted])
        assert np.corrcoef(found, fit.columns["relapses"])[0, 1] > 0.3
    else:
        assert len(features) == 3
        assert {row["prediction"] for row in predicted} <= {"1", "2", "3"}
