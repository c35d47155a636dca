"""The analysis in Python: arrays, data frames, AnnData objects and files give the results of the command."""

import json
import warnings

import numpy as np
import pytest
import scipy.sparse as sp

import ispca
from ispca.analysis import table_checks
from ispca.cli import main
from ispca.data_checks import confounding
from ispca.data_checks.confounding import find_confounding
from ispca.foundation.messages import Listener, SettingError
from ispca.readers import TableError

OPTIONS = ["--bags", "4", "--components", "3", "--draws", "60", "--cv", "2"]


def same(one, other):
    assert one.verdict == other.verdict
    np.testing.assert_array_equal(one.score_values, other.score_values)
    np.testing.assert_array_equal(one.coefficients["mean"], other.coefficients["mean"])


@pytest.fixture
def files(study, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    study.genes.to_csv("matrix.csv", index_label="id", float_format="%.17g")
    study.describing.to_csv("sheet.csv", index_label="id")
    return tmp_path


def test_a_file_gives_the_numbers_of_the_command_and_of_the_frame(files, study, analysis, capsys):
    assert main(["fit", "matrix.csv", "--samples", "sheet.csv", "--target", "state", *OPTIONS, "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    of_file = ispca.analyze(
        "matrix.csv", samples="sheet.csv", target="state", bags=4, components=3, draws=60, cv=2
    )
    same(of_file, analysis)
    assert printed["verdict"]["sentence"] == of_file.verdict["sentence"]
    leading = of_file.features[of_file.features["leading"]]["feature"].tolist()[:5]
    assert [row["feature"] for row in printed["strongest_features"]] == leading
    loaded = ispca.load("matrix-results")
    np.testing.assert_allclose(loaded.coefficients["mean"], of_file.coefficients["mean"], rtol=1e-5)
    assert loaded.verdict == of_file.verdict
    of_file.save("again")
    for name in ("scores.csv", "loadings.csv", "coefficients.csv", "held_out.csv"):
        assert (files / "again" / name).read_bytes() == (files / "matrix-results" / name).read_bytes()


@pytest.mark.parametrize("make", [np.asarray, lambda X: sp.csr_array(X.to_numpy())])
def test_arrays(study, analysis, make):
    X = make(study.genes)
    before = X.copy()
    found = ispca.analyze(X, study.describing["state"].to_numpy(), **QUICK_SETTINGS)
    np.testing.assert_allclose(found.score_values, analysis.score_values, atol=1e-8)
    assert found.features["feature"][0] == f"x{analysis.features['feature'][0][1:]}"
    assert (before != X).sum() == 0


def test_polars(study, analysis):
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame({name: study.frame[name].to_numpy() for name in [*study.genes, "state"]})
    same(ispca.analyze(frame, "state", **QUICK_SETTINGS), analysis)


def test_anndata(study, analysis):
    anndata = pytest.importorskip("anndata")
    adata = anndata.AnnData(study.genes.to_numpy(), obs=study.describing)
    adata.var_names = list(study.genes)
    adata.var["symbol"] = [f"S{j}" for j in range(60)]
    found = ispca.analyze(adata, "state", label="symbol", **QUICK_SETTINGS)
    same(found, analysis)
    assert found.features["label"][0].startswith("S")
    np.testing.assert_array_equal(found.predict(adata)["p(ill)"], analysis.predict(study.genes)["p(ill)"])


def test_columns_of_a_frame_and_arrays_mean_the_same(study):
    named = ispca.analyze(study.frame, "state", covariates=["age", "sex"], groups="patient", **QUICK_SETTINGS)
    columns = study.describing[["age", "sex"]]
    given = ispca.analyze(
        study.genes,
        study.describing["state"],
        covariates=columns,
        groups=study.describing["patient"],
        **QUICK_SETTINGS,
    )
    same(named, given)
    assert list(named.table.covariates) == ["age", "sex"]
    assert named.settings.groups == "patient"
    by_name = named.predict(study.frame.iloc[:3])
    by_values = given.predict(study.genes.iloc[:3].to_numpy(), covariates=columns.iloc[:3])
    np.testing.assert_array_equal(by_name["p(ill)"].astype(float), by_values["p(ill)"].astype(float))


@pytest.mark.parametrize("kind", ["quantity", "survival", "count"])
def test_other_targets(study, kind):
    rng = np.random.default_rng(0)
    signal = study.genes.to_numpy()[:, :3].sum(axis=1)
    options = {"covariates": study.describing["age"], "cv": 0, "bags": 0, "components": 2, "draws": 60}
    if kind == "survival":
        y = np.array(
            [(event, time) for event, time in zip(rng.random(40) < 0.7, np.exp(-0.2 * signal) + 0.1, strict=True)],
            dtype=[("event", bool), ("time", float)],
        )
    elif kind == "count":
        y = rng.poisson(np.exp(1 + 0.1 * signal))
        options |= {"kind": "count", "offset": np.log(1 + rng.random(40))}
    else:
        y = signal + rng.normal(size=40)
    found = ispca.analyze(study.genes, y, **options)
    assert found.verdict is None
    assert found.held_out is None
    given = {"covariates": study.describing["age"][:5] + 1}
    given |= {"offset": np.zeros(5)} if kind == "count" else {}
    first = {"survival": "risk"}.get(kind, "mean")
    assert np.isfinite(found.predict(study.genes[:5] + 0.1, **given)[first]).all()
    evaluation = found.evaluate(study.genes[:5] + 0.1, y[:5], **given)
    assert evaluation["samples"] == 5


def test_a_test_set(study):
    half = slice(0, 30), slice(30, 40)
    X, y = study.genes, study.describing["state"]
    found = ispca.analyze(X[half[0]], y[half[0]], test=(X[half[1]], y[half[1]]), **QUICK_SETTINGS)
    assert found.test["samples"] == 10
    assert found.test["accuracy"] == found.evaluate(X[half[1]], y[half[1]])["accuracy"]


def test_warnings_have_a_category(study):
    leaking = study.genes.assign(code=(study.describing["state"] == "ill") * 1.0 + study.genes["g0"] * 1e-6)
    with pytest.warns(ispca.DataWarning, match="nearly determines") as caught:
        found = ispca.analyze(leaking, study.describing["state"], **QUICK_SETTINGS)
    assert "leak" in {getattr(warning.message, "kind", None) for warning in caught}
    assert "leak" in {finding.kind for finding in found.findings}


def test_confounding_is_tested_once(study, monkeypatch):
    """Of all samples; that a fold cannot be fitted is found in the fold."""
    tested = []

    def find(covariates, y, *rest):
        tested.extend([len(y)] if covariates else [])
        return find_confounding(covariates, y, *rest)

    for module in (confounding, table_checks):
        monkeypatch.setattr(module, "find_confounding", find)
    batch = study.describing["state"].to_numpy(copy=True)
    batch[[1, 2]] = np.where(batch[[1, 2]] == "ill", "well", "ill")
    columns = study.describing[["age"]].assign(batch=batch)
    found = ispca.analyze(study.genes, study.describing["state"], covariates=columns, **QUICK_SETTINGS)
    assert tested.count(40) == 1
    (sentence,) = found.confounding
    assert sentence.startswith("Covariate 'batch' explains")
    assert found.notes.count(sentence) == 1


def test_samples_that_do_not_count_do_not_hide_confounding(study):
    y, weights = study.describing["state"], np.ones(40)
    batch = (y == "ill").to_numpy(dtype=float)
    batch[:3], weights[:3] = 1 - batch[:3], 0
    columns = study.describing[["age"]].assign(batch=batch)
    with pytest.raises(ValueError, match=r"Covariate 'batch' determines.*from covariates"):
        ispca.analyze(study.genes, y, covariates=columns, weights=weights, **QUICK_SETTINGS)


def test_nothing_is_printed(study, capfd):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ispca.analyze(study.genes, study.describing["state"], **QUICK_SETTINGS)
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"y": "stat"}, TableError, "X has no column 'stat' \\(target\\). Did you mean state"),
        ({"covariates": ["height"]}, TableError, "X has no column 'height' \\(covariates\\)"),
        ({"n_components": 3}, TypeError, "no setting 'n_components'. Did you mean components"),
        ({"groups": [1, 2]}, ValueError, "groups has 2 values, but X has 40 samples"),
        ({"y": None}, ValueError, "y is missing"),
        ({"method": "PCX"}, SettingError, "method must be one of"),
        (
            {"paper": True, "method": "ISPCA-cross-fitted"},
            SettingError,
            "method='ISPCA-cross-fitted' is not one of the paper's methods",
        ),
    ],
)
def test_errors_name_python_arguments(study, options, error, message):
    y = options.pop("y", "state")
    with pytest.raises(error, match=message):
        ispca.analyze(study.frame, y, cv=0, **options)


def test_missing_values(study):
    holes = study.genes.copy()
    holes.iloc[3, 5] = np.nan
    with pytest.raises(TableError, match="missing='mean'"):
        ispca.analyze(holes, study.describing["state"], **QUICK_SETTINGS)
    found = ispca.analyze(holes, study.describing["state"], missing="mean", **QUICK_SETTINGS)
    with pytest.raises(TableError, match="Pass missing='mean' to replace them"):
        found.predict(holes)
    assert len(found.predict(holes, missing="rows")) == 39


QUICK_SETTINGS = {"bags": 4, "components": 3, "draws": 60, "cv": 2}


def test_an_analysis_keeps_nothing_of_its_calls(study, analysis):
    analysis.predict(study.genes[:3])
    assert not [name for name, value in vars(analysis).items() if isinstance(value, Listener)]
