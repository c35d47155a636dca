"""A new kind of target is known everywhere as soon as its family, object, option and model are listed."""

import csv
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from sklearn.linear_model import BayesianRidge

from ispca.data_checks import check_data
from ispca.readers import read_table
from ispca.readers.target_column import classify
from ispca.selection.selection_data import read_data
from ispca.selection.submodels_and_panels import SUBMODELS, ProjectedRegressor
from ispca.stacking.candidates import default_candidates
from ispca.validation import compare, compare_with_baselines, recommended_methods, verdict
from ispca.validation.pooling import pooled_table
from made_kind import entries

TESTS = Path(__file__).parents[1]
# Other processes, which more threads would start, do not know the kind.
QUICK = ("--cv", "2", "--draws", "100", "--components", "3", "--threads", "1")

# Each process first lists the kind.
REGISTER = "from made_kind import register; register()\n"
COMMAND = "import sys; from ispca.cli import main; sys.exit(main(sys.argv[1:]))"
# What the page offers and understands.
PAGE = """
import json, sys
from pathlib import Path
from ispca.app.form import make_settings
from ispca.app.pages import new_values, render
from ispca.app.preview import preview
from ispca.app.store import RunStore, Upload
path = Path(sys.argv[1])
store = RunStore(path.with_name("ispca.sqlite"))
store.add_upload(Upload("a1", "doses.csv", "data.csv", 1234, 0.0))
chosen = {"target": "mg", "kind": "dosage"}
print(json.dumps({
    "page": render("new.html", **new_values(store, {"matrix": "a1"})).body.decode(),
    "preview": preview(path, None, chosen),
    "kind": make_settings(chosen, {"matrix": path}).kind,
}))
store.close()
"""
# What Python finds in the folder of results.
LOAD = """
import json, sys
import ispca
from ispca.persistence import load_model
folder, data = sys.argv[1:]
analysis = ispca.load(folder)
print(json.dumps({
    "model": type(load_model(f"{folder}/model.ispca")[-1]).__name__,
    "kind": analysis.settings.kind,
    "predicted": analysis.predict(data)["mean"].tolist(),
}))
"""


def python(script, *words):
    """Run a script with the kind."""
    path = os.pathsep.join(filter(None, (str(TESTS), os.environ.get("PYTHONPATH"))))
    known = os.environ | {"PYTHONPATH": path}
    command = [sys.executable, "-c", REGISTER + script, *words]
    return subprocess.run(command, capture_output=True, text=True, env=known)


def ispca(*words):
    return python(COMMAND, *words)


def value_of(script, *words):
    done = python(script, *words)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.fixture
def dose(monkeypatch):
    for listed, key, entry in entries():
        monkeypatch.setitem(listed, key, entry)


@pytest.fixture
def data(rng):
    X = rng.normal(size=(40, 4))
    return X, 2 * X[:, 0] + rng.normal(size=40)


def write_doses(path, X, y):
    np.savetxt(path, np.column_stack([X, y]), delimiter=",", header="a,b,c,d,mg", comments="")
    return path


@pytest.fixture(scope="module")
def fitted(tmp_path_factory):
    """The files of doses and new doses, the results of `ispca fit`, and what it printed."""
    folder, rng = tmp_path_factory.mktemp("doses"), np.random.default_rng(0)
    X = rng.normal(size=(60, 4))
    y = 2 * X[:, 0] + rng.normal(size=60)
    files = write_doses(folder / "doses.csv", X[:50], y[:50]), write_doses(folder / "new.csv", X[50:], y[50:])
    done = ispca("fit", files[0], "--target", "mg", "--kind", "dosage", *QUICK, "--out", folder / "out")
    assert done.returncode == 0, done.stderr
    return *files, folder / "out", done


@pytest.mark.usefixtures("dose")
def test_methods_are_compared_and_judged(data):
    result = compare({"ridge": BayesianRidge()}, *data, kind="dose", cv=3, n_jobs=1)
    assert list(result.scores) == ["mlpd", "r2", "rmse", "coverage"]
    assert verdict(result)["measure"] == "r2"
    assert len(pooled_table(result)) == 1
    judged = compare_with_baselines(BayesianRidge(), *data, kind="dose", cv=3, n_jobs=1)
    assert judged.methods == ["this model", "base rate"]


@pytest.mark.usefixtures("dose")
def test_there_are_methods_and_candidates():
    assert list(recommended_methods(kind="dose")) == [
        "PCA",
        "SPCA",
        "ISPCA",
        "ISPCA-cross-fitted",
        "kernels",
        "base rate",
    ]
    assert "base rate" in dict(default_candidates("dose"))


@pytest.mark.usefixtures("dose")
def test_columns_and_arrays_are_read_and_checked(data, tmp_path):
    X, y = data
    assert classify(y, "mg", "dose")[2:] == ("dose", "'mg' is treated as a dose.")
    assert (
        read_table(write_doses(tmp_path / "doses.csv", X, y), target="mg", kind="dose").target_kind.name == "dose"
    )
    check_data(X, y, "dose", n_folds=5)


@pytest.mark.usefixtures("dose")
def test_panels_need_a_submodel(data, monkeypatch):
    given = {"groups": None, "sample_weight": None, "offset": None}
    with pytest.raises(ValueError, match=r"^Panels cannot be selected for doses: .* has no submodel\.$"):
        read_data(BayesianRidge(), *data, "dose", given)
    monkeypatch.setitem(SUBMODELS, "dose", ProjectedRegressor)
    assert read_data(BayesianRidge(), *data, "dose", given).target.name == "dose"


def test_fit_writes_its_files_and_a_page(fitted):
    _, _, out, done = fitted
    names = {"coefficients.csv", "held_out.csv", "loadings.csv", "model.ispca", "report.html", "scores.csv"}
    assert {path.name for path in out.iterdir()} == names
    assert "'mg' is treated as a dose." in done.stderr
    assert "target 'mg': a dose." in done.stdout
    assert "Bayesian regression of doses" in (out / "report.html").read_text()


@pytest.mark.slow
def test_fit_writes_a_report_as_json(fitted, tmp_path):
    words = ("--target", "mg", "--kind", "dosage", *QUICK, "--format", "json", "--out", tmp_path / "out")
    assert ispca("fit", fitted[0], *words).returncode == 0
    report = json.loads((tmp_path / "out" / "report.json").read_text())
    assert "related to “mg” (doses)" in report["question"]["text"][0]
    assert "--kind dosage" in report["reproducibility"]["code"][0]["code"]


def test_new_samples_are_predicted_and_evaluated(fitted, tmp_path):
    _, new, out, _ = fitted
    done = ispca("predict", out / "model.ispca", new, "--out", tmp_path / "new.csv")
    assert done.returncode == 0, done.stderr
    with open(tmp_path / "new.csv") as file:
        written = [float(row["mean"]) for row in csv.DictReader(file)]
    loaded = value_of(LOAD, out, new)
    assert (loaded["model"], loaded["kind"]) == ("HorseshoeDose", "dose")
    np.testing.assert_allclose(loaded["predicted"], written, rtol=1e-5)
    assert "RMSE" in done.stdout


def test_methods_are_compared_on_the_command_line(fitted, tmp_path):
    words = ("--target", "mg", "--kind", "dosage", "--splits", "2", *QUICK[2:], "--out", tmp_path / "out")
    done = ispca("compare", fitted[0], *words)
    assert done.returncode == 0, done.stderr
    assert "ISPCA-cross-fitted" in done.stdout
    assert "failed" not in done.stdout


def test_no_submodel_is_said_before_the_data_are_read(fitted, tmp_path):
    done = ispca("select", fitted[2] / "model.ispca", fitted[0], "--out", tmp_path / "out")
    assert done.returncode == 1
    assert done.stderr == "ispca: Panels cannot be selected for doses: this kind of target has no submodel.\n"
    assert not (tmp_path / "out").exists()


def test_the_page_offers_it(fitted):
    pytest.importorskip("starlette")
    found = value_of(PAGE, fitted[0])
    assert '<option value="dosage">Dose of a drug</option>' in found["page"]
    assert found["preview"]["target"]["kind"] == "dosage"
    assert found["preview"]["error"] is None
    assert found["preview"]["seconds"] > 0
    assert found["kind"] == "dose"
