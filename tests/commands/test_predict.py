"""``ispca predict``: new samples, features by name, and models that are none."""

import csv
import io
import json
import warnings

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from ispca import ISPCA, HorseshoeRegressor, PenalizedRegressor, StackedRegressor
from ispca.analysis.predictions import predictions
from ispca.cli import main
from ispca.persistence import load_model, save_model
from ispca.selection import FeaturePanel
from ispca.selection.reference import reference_predictions
from ispca.selection.submodels_and_panels import SUBMODELS
from ispca.targets import find_target
from ispca.targets.base_rates import BaseRateRegressor
from ispca.targets.samples import Samples

# What is left of a number in a CSV file.
SIX_DIGITS = 5e-6


def parsed(text):
    header, *records = csv.reader(io.StringIO(text))
    return header, records


def test_classes_and_probabilities(fitted, table_of, tmp_path, capsys):
    rows, write = table_of
    data = write(tmp_path / "data.csv", rows(seed=5))
    assert main(["predict", str(fitted / "model.ispca"), str(data)]) == 0
    captured = capsys.readouterr()
    header, records = parsed(captured.out)
    ends = [f"p({name})_{end}" for name in ("ill", "well") for end in ("q5", "q95")]
    assert header == ["id", "prediction", "p(ill)", "p(well)", *ends, "prediction_set"]
    assert [row[0] for row in records] == [f"p{i}" for i in range(40)]
    assert all(row[1] in row[-1].split(" | ") for row in records)
    assert "prediction_set contains the class of about 90% of the new samples" in captured.err
    probabilities = np.array([row[2:4] for row in records], dtype=float)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1, atol=1e-6)
    assert all((row[1] == "ill") == (float(row[2]) > 0.5) for row in records)
    assert "1 column of data.csv ignored" in captured.err


def test_quantities(fitted_regression, table_of, tmp_path, capsys):
    rows, write = table_of
    data = write(tmp_path / "data.csv", rows(seed=5))
    assert main(["predict", str(fitted_regression / "model.ispca"), str(data), "--json"]) == 0
    predicted = json.loads(capsys.readouterr().out)["predictions"]
    assert predicted[0].keys() == {"id", "mean", "sd", "q5", "q95", "mean_q5", "mean_q95"}
    assert all(row["mean_q5"] <= row["mean"] <= row["mean_q95"] for row in predicted)
    assert all(row["q5"] < row["mean"] < row["q95"] for row in predicted)


def test_the_order_of_columns_does_not_matter(fitted, table_of, tmp_path, capsys):
    command = ["predict", str(fitted / "model.ispca")]
    rows, write = table_of
    assert main([*command, str(write(tmp_path / "a.csv", rows()))]) == 0
    expected = capsys.readouterr().out
    shuffled = [[row[0], *row[:0:-1], "7" if i else "extra"] for i, row in enumerate(rows())]
    assert main([*command, str(write(tmp_path / "b.tsv", shuffled, "\t"))]) == 0
    assert capsys.readouterr().out == expected
    turned = list(zip(*rows(), strict=True))
    assert main([*command, str(write(tmp_path / "c.csv", turned)), "--transpose"]) == 0
    assert capsys.readouterr().out == expected
    assert main([*command, str(tmp_path / "c.csv")]) == 0
    captured = capsys.readouterr()
    assert captured.out == expected
    assert "Features of c.csv are in rows." in captured.err


def test_one_new_sample_without_labels(fitted, table_of, tmp_path, capsys):
    rows, write = table_of
    new = [[row[0], *row[4:]] for row in rows()[:2]]
    assert main(["predict", str(fitted / "model.ispca"), str(write(tmp_path / "new.csv", new))]) == 0
    captured = capsys.readouterr()
    assert len(parsed(captured.out)[1]) == 1
    assert "ignored" not in captured.err


def test_missing_features_are_named(fitted, table_of, tmp_path, one_line):
    rows, write = table_of
    command = ["predict", str(fitted / "model.ispca")]
    few = [[*row[:4], *row[11:]] for row in rows()]
    assert main([*command, str(write(tmp_path / "few.csv", few))]) == 3
    line = one_line()
    assert "lacks 7 of the 30 features of the model, which carry" in line
    assert "and 2 more. Features with up to 10% of the weight can be replaced" in line
    text = rows()
    text[1][6] = "high"
    assert main([*command, str(write(tmp_path / "text.csv", text))]) == 3
    assert "1 feature of the model is not numeric in text.csv: gene2" in one_line()
    other = [[row[0], *(f"x{name}" if i == 0 else name for name in row[4:])] for i, row in enumerate(rows())]
    assert main([*command, str(write(tmp_path / "other.csv", other))]) == 3
    assert "lacks 30 of the 30 features of the model: gene0," in one_line()


def test_missing_values(fitted, table_of, tmp_path, capsys):
    rows, write = table_of
    holes = rows()
    holes[2][5] = "NA"
    command = ["predict", str(fitted / "model.ispca"), str(write(tmp_path / "holes.csv", holes))]
    assert main(command) == 3
    assert "gene1 (1). Pass --missing mean" in capsys.readouterr().err
    assert main([*command, "--missing", "rows"]) == 0
    assert [row[0] for row in parsed(capsys.readouterr().out)[1]][:2] == ["p0", "p2"]
    assert main([*command, "--missing", "mean"]) == 0
    assert len(parsed(capsys.readouterr().out)[1]) == 40


def test_out_and_quiet(fitted, data, tmp_path, capsys):
    out = tmp_path / "predictions.csv"
    command = ["predict", str(fitted / "model.ispca"), str(data), "--out", str(out)]
    assert main([*command, "--quiet"]) == 0
    assert capsys.readouterr() == ("", "")
    first = out.read_text()
    assert main(command) == 2
    assert "--force" in capsys.readouterr().err
    assert main([*command, "--force"]) == 0
    assert "Wrote predictions for 40 samples" in capsys.readouterr().out
    assert out.read_text() == first
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["data.csv", "predictions.csv"]


@pytest.fixture
def training(table_of):
    header, *records = table_of[0]()
    frame = pd.DataFrame([row[4:] for row in records], columns=header[4:]).astype(float)
    return frame, frame["gene0"].to_numpy() + frame["gene1"].to_numpy()


def test_preprocessing_and_missing_values(training, table_of, tmp_path, capsys):
    X, y = training
    rows, write = table_of
    holes = rows()
    holes[2][5] = "NA"
    data = str(write(tmp_path / "holes.csv", holes))
    short = {"n_draws": 20, "n_warmup": 40, "n_chains": 2, "retry": False, "random_state": 0}
    steps = [StandardScaler(), ISPCA(2, whiten=True, random_state=0), HorseshoeRegressor(**short)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        scaled = make_pipeline(*steps).fit(X, y)
        imputed = make_pipeline(SimpleImputer(), *map(clone, steps)).fit(X, y)
    save_model(scaled, tmp_path / "scaled")
    assert main(["predict", str(tmp_path / "scaled"), data]) == 3
    assert "in 1 column: gene1 (1)." in capsys.readouterr().err
    assert main(["predict", str(tmp_path / "scaled"), data, "--missing", "mean"]) == 0
    by_mean = parsed(capsys.readouterr().out)[1]
    save_model(imputed, tmp_path / "imputed")
    assert main(["predict", str(tmp_path / "imputed"), data]) == 0
    by_model = parsed(capsys.readouterr().out)[1]
    filled = X.copy()
    filled.loc[1, "gene1"] = X["gene1"].mean()
    for records in (by_mean, by_model):
        np.testing.assert_allclose([float(row[1]) for row in records], scaled.predict(filled), rtol=SIX_DIGITS)


def test_lasso_and_stacks(training, data, table_of, tmp_path, capsys):
    X, y = training
    lasso = PenalizedRegressor(random_state=0)
    stack = StackedRegressor({"lasso": lasso, "base rate": BaseRateRegressor()}, cv=2, n_jobs=1, random_state=0)
    for model in (lasso.fit(X, y), stack.fit(X, y)):
        save_model(model, tmp_path / "model")
        assert main(["predict", str(tmp_path / "model"), str(data)]) == 0
        values = np.array([row[1:] for row in parsed(capsys.readouterr().out)[1]], dtype=float)
        np.testing.assert_allclose(values[:, 0], model.predict(X), rtol=SIX_DIGITS)
        assert (values[:, 2] < values[:, 0]).all()
        assert (values[:, 0] < values[:, 3]).all()
    rows, write = table_of
    holes = rows()
    holes[2][5] = "NA"
    path = str(write(tmp_path / "holes.csv", holes))
    assert main(["predict", str(tmp_path / "model"), path, "--missing", "mean"]) == 3
    assert "does not contain the means of the training data. Pass --missing rows" in capsys.readouterr().err


def test_files_that_are_no_models(fitted, data, tmp_path, one_line):
    for name, content in {"text.csv": b"a,b\n", "cut": (fitted / "model.ispca").read_bytes()[:-9]}.items():
        (tmp_path / name).write_bytes(content)
        assert main(["predict", str(tmp_path / name), str(data)]) == 3
        assert "not a model of ispca" in one_line()
    changed = bytearray((fitted / "model.ispca").read_bytes())
    changed[len(changed) // 2] ^= 4
    (tmp_path / "changed").write_bytes(changed)
    assert main(["predict", str(tmp_path / "changed"), str(data)]) == 3
    assert "was altered" in one_line()
    save_model(load_model(fitted / "model.ispca")[0], tmp_path / "reduction")
    assert main(["predict", str(tmp_path / "reduction"), str(data)]) == 3
    assert "no predictive model" in one_line()


def test_debug_shows_the_traceback(data, tmp_path):
    with pytest.raises(ValueError, match="There is no model file"):
        main(["predict", str(tmp_path / "none"), str(data), "--debug"])


def panel_of(features, X, y):
    """Return a lasso projected onto some features: a pipeline that takes all of them."""
    reference = PenalizedRegressor(random_state=0).fit(X, y)
    drawn = reference_predictions(reference, Samples(X, y), find_target("regression"), 1)
    panel = FeaturePanel(list(features)).fit(X)
    return make_pipeline(panel, SUBMODELS["regression"]().fit(panel.transform(X), drawn))


@pytest.mark.parametrize("features", [("gene2", "gene0"), ()])
def test_a_panel_needs_its_own_columns_only(features, training, table_of, tmp_path, capsys):
    X, y = training
    rows, write = table_of
    model = panel_of(features, X, y)
    save_model(model, tmp_path / "pipeline")
    save_model(model[-1], tmp_path / "panel")
    # Other columns, even unknown ones, may be there, and the panel's in any order.
    few = [[row[0], row[6], row[5], row[4], "9" if i else "new"] for i, row in enumerate(rows())]
    assert main(["predict", str(tmp_path / "panel"), str(write(tmp_path / "few.csv", few))]) == 0
    predicted = parsed(capsys.readouterr().out)
    assert predicted[0] == ["id", "mean", "sd", "q5", "q95"]
    np.testing.assert_allclose([float(row[1]) for row in predicted[1]], model.predict(X), rtol=SIX_DIGITS)
    assert main(["predict", str(tmp_path / "pipeline"), str(write(tmp_path / "all.csv", rows()))]) == 0
    assert parsed(capsys.readouterr().out) == predicted
    if features:
        short = [row[:2] for row in few]
        assert main(["predict", str(tmp_path / "panel"), str(write(tmp_path / "short.csv", short))]) == 3
        assert "lacks 1 of the 2 features of the model: gene0" in capsys.readouterr().err


def test_panels_take_sparse_tables(training):
    X, y = training
    model = panel_of(["gene2", "gene0"], X, y)
    expected = model.predict(X)
    np.testing.assert_array_equal(predictions(model, csr_array(X.to_numpy()))["mean"], expected)
    alone = csr_array(X[["gene2", "gene0"]].to_numpy())
    np.testing.assert_array_equal(predictions(model[-1], alone)["mean"], expected)
