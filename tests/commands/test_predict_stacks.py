"""``ispca predict`` with stacks and penalized models of survival times and counts."""

import csv

import numpy as np
import pytest

from ispca import PenalizedCounts, PenalizedSurvival, StackedCounts, StackedSurvival
from ispca.cli import main
from ispca.persistence import save_model
from ispca.targets.base_rates import BaseRateCounts, BaseRateSurvival

N = 60


@pytest.fixture
def study(tmp_path, monkeypatch):
    """Three features, of which the first decides; names of features, and the data as a file."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N, 3)).round(4)
    time, count = rng.exponential(np.exp(-X[:, 0])).round(4) + 0.001, rng.poisson(np.exp(X[:, 0]))
    lines = ["id,a,b,c,months,died,count"]
    lines += [f"s{i},{','.join(map(str, X[i]))},{time[i]},{int(i % 3 > 0)},{count[i]}" for i in range(N)]
    (tmp_path / "data.csv").write_text("\n".join(lines) + "\n")
    return X, (np.arange(N) % 3 > 0, time), count


def stored(model, **details):
    model.feature_names_in_ = np.array(["a", "b", "c"], dtype=object)
    save_model(model, "model.ispca", details)


def predictions():
    assert main(["predict", "model.ispca", "data.csv", "--quiet", "--out", "p.csv"]) == 0
    with open("p.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    return {name: np.array([float(row[name] or "inf") for row in rows]) for name in rows[0] if name != "id"}


@pytest.mark.parametrize("stacked", [True, False])
def test_survival(study, stacked, capsys):
    X, y, _ = study
    ridge = PenalizedSurvival(penalty="ridge")
    candidates = {"ridge": ridge, "base rate": BaseRateSurvival()}
    model = StackedSurvival(candidates, n_jobs=1, random_state=0) if stacked else ridge
    stored(model.fit(X, y), kind="survival", target="months", event="died")
    found = predictions()
    first, *others = found
    assert (first, others[0]) == ("risk", "median_survival")
    assert len(others) == 4
    times = [float(name.removeprefix("survival(").rstrip(")")) for name in others[1:]]
    curves = np.column_stack([found[name] for name in others[1:]])
    functions = model.predict_survival_function(X)
    np.testing.assert_allclose(curves, [function(times) for function in functions], rtol=5e-6)
    assert (np.diff(curves, axis=1) <= 0).all()
    medians = found["median_survival"]
    assert all(function(time) <= 0.5 for function, time in zip(functions, medians, strict=True) if time < np.inf)
    assert np.corrcoef(found["risk"], X[:, 0])[0, 1] > 0.8
    assert main(["predict", "model.ispca", "data.csv", "--force", "--out", "p.csv"]) == 0
    assert "concordance index: 0." in capsys.readouterr().out


@pytest.mark.parametrize("stacked", [True, False])
def test_counts(study, stacked):
    X, _, count = study
    ridge = PenalizedCounts(penalty="ridge")
    candidates = {"ridge": ridge, "base rate": BaseRateCounts()}
    model = StackedCounts(candidates, n_jobs=1, random_state=0) if stacked else ridge
    stored(model.fit(X, count), kind="count", target="count")
    found = predictions()
    assert list(found) == ["mean"]
    np.testing.assert_allclose(found["mean"], model.predict(X), rtol=5e-6)
