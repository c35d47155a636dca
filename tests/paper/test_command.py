"""``python -m paper`` from end to end with few splits and short chains, and what it refuses."""

import csv
import json

import joblib
import pytest

from ispca import HorseshoeClassifier
from ispca.fitting import runner
from ispca.validation import paper_methods
from paper import experiment
from paper.__main__ import main
from paper.scripts import NAMES, script

pytestmark = pytest.mark.slow

SHORT = ["--splits", "2", "--draws", "50", "--jobs", "1"]


def table(path):
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


def test_a_small_version_of_the_experiment(three_sets, tmp_path, capsys):
    out = tmp_path / "out"
    arguments = ["mlpd", "accuracy", *SHORT, "--out", str(out), "--sets", *three_sets, "lung"]
    assert main(arguments) == 0
    printed = capsys.readouterr()
    assert "naive overfits lung: not testable (data missing: lung" in printed.out
    assert "not present: lung" in printed.err
    for metric in ("mlpd", "accuracy"):
        assert (out / f"{metric}.png").stat().st_size > 10_000
        assert (out / f"{metric}.svg").read_text().startswith("<?xml")
        rows = table(out / f"{metric}.csv")
        assert len(rows) == 3 * 11 + 1
        assert rows[-1]["set"] == "lung"
        assert rows[-1]["note"] == "not present"
        assert {row["method"] for row in rows if row["ours"] == "1"} == set(experiment.OURS)
        assert {row["set"] for row in table(out / f"{metric}-residual.csv")} >= set(three_sets)
        assert {row["verdict"] for row in table(out / f"{metric}-verdicts.csv")} <= {
            "agrees",
            "differs",
            "not testable",
        }
    assert len(table(out / "splits.csv")) == 3 * 2 * 11
    settings = json.loads((out / "mlpd-settings.json").read_text())
    assert (settings["splits"], settings["draws"], settings["not_present"]) == (2, 50, ["lung"])
    assert settings["versions"]["numpy"]


def test_failing_posteriors_are_refitted(simulate, tmp_path):
    simulate("colon")
    out = tmp_path / "out"
    assert main(["mlpd", *SHORT, "--out", str(out), "--sets", "colon", "--quiet"]) == 0
    rows = table(out / "posteriors.csv")
    assert [row["method"] for row in rows] == list(paper_methods())[:7]
    # 4 chains of 50 draws cannot have 400 effective ones; 4 of 200 may.
    assert {row["share_before"] for row in rows} == {"1"}
    assert sum(int(row["failed_after"]) for row in rows) < 14
    refitted = [row["refitted"] for row in table(out / "splits.csv") if row["method"].startswith("ISPCA")]
    assert set(refitted) == {"1"}


@pytest.fixture
def counted(monkeypatch):
    """Count the fits that are done in this process."""
    done = []
    original = runner.clone_with_seed

    def clone_with_seed(estimator, seed):
        done.append(estimator)
        return original(estimator, seed)

    monkeypatch.setattr(runner, "clone_with_seed", clone_with_seed)
    return done


def test_an_interrupted_run_goes_on_where_it_was(simulate, tmp_path, monkeypatch, counted):
    simulate("ovarian", "colon")
    arguments = ["mlpd", *SHORT, "--out", str(tmp_path / "out"), "--sets", "ovarian", "colon"]
    load = experiment.load

    def interrupted(name):
        if name == "colon":
            raise KeyboardInterrupt
        return load(name)

    with monkeypatch.context() as patch:
        patch.setattr(experiment, "load", interrupted)
        with pytest.raises(KeyboardInterrupt):
            main(arguments)
    first = len(counted)
    assert first >= 2 * 11 + 1
    assert main(arguments) == 0
    whole = len(counted)
    content = (tmp_path / "out" / "mlpd.csv").read_bytes()
    # The seven posteriors of a split are refitted twice at the most.
    assert 2 * 11 + 1 <= whole - first <= 2 * 11 + 2 * 14
    assert main(arguments) == 0
    assert len(counted) == whole
    assert (tmp_path / "out" / "mlpd.csv").read_bytes() == content


@pytest.mark.parametrize(("n_classes", "K"), [(2, 50), (5, 20)])
def test_the_fits_are_those_of_the_paper(n_classes, K):
    # Finished fits are found again by these hashes.
    methods = experiment.methods_for(n_classes)
    expected = paper_methods(K, model=HorseshoeClassifier(retry=False))
    assert {name: joblib.hash(one) for name, one in methods.items()} == {
        name: joblib.hash(one) for name, one in expected.items()
    }


def test_pictures_and_times(simulate, tmp_path, capsys):
    simulate("leukemia", "gravier", "basehock", "lung-5c")
    out = tmp_path / "out"
    arguments = ["toy", "scatter", "lung", "loadings", "times", *SHORT, "--out", str(out), "--json"]
    assert main(arguments) == 0
    verdicts = json.loads(capsys.readouterr().out)
    assert {verdict["name"] for verdict in verdicts} == {"toy", "scatter", "lung", "loadings", "times"}
    assert {verdict["status"] for verdict in verdicts if verdict["name"] == "toy"} == {"agrees"}
    assert all(verdict["rule"] for verdict in verdicts)
    for name in ("toy", "scatter", "lung", "loadings", "times"):
        assert {path.suffix for path in out.glob(f"{name}.*")} == {".png", ".svg", ".csv"}
    assert len(table(out / "scatter.csv")) == 3 * 3
    assert {row["runs"] for row in table(out / "times.csv")} == {"5"}
    assert not list(out.glob("*.part"))


def test_a_stand_in_answers_under_its_own_name(simulate, tmp_path, capsys):
    simulate("lung-5c-1543")
    assert main(["lung", "loadings", "--out", str(tmp_path / "out"), "--quiet"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 3
    assert all("not testable (data missing: lung-5c; beside it lung-5c-1543 " in line for line in lines)


def test_without_any_data(tmp_path, monkeypatch, capsys):
    (tmp_path / "empty").mkdir()
    monkeypatch.setenv("ISPCA_DATA", str(tmp_path / "replaced"))
    monkeypatch.setenv("ISPCA_CACHE", str(tmp_path / "cache"))
    out = tmp_path / "out"
    assert main(["--quiet", "--data", str(tmp_path / "empty"), "--out", str(out), *SHORT]) == 0
    lines = capsys.readouterr().out.splitlines()
    tested = [line for line in lines if not line.startswith("toy")]
    assert len(tested) > 30
    assert all("not testable (data missing" in line for line in tested)


def test_data_is_read_from_the_folder_given(simulate, tmp_path, monkeypatch, capsys):
    folder = simulate("lung-5c")
    monkeypatch.setenv("ISPCA_DATA", str(tmp_path))
    assert main(["lung", "--data", str(folder), "--out", str(tmp_path / "out"), "--quiet"]) == 0
    assert "not testable" not in capsys.readouterr().out


BAD = {
    "a name": (["lungs"], "named 'lungs'. Choose from toy"),
    "splits": (["toy", "--splits", "1"], "--splits must be at least 2, got 1"),
    "draws": (["toy", "--draws", "0"], "--draws must be at least 4, got 0"),
    "jobs": (["toy", "--jobs", "0"], "--jobs must be a number of processes"),
    "a set": (["toy", "--sets", "colo"], "Did you mean colon"),
    "a set without classes": (["toy", "--sets", "surv-beer"], "has no classes"),
    "data": (["toy", "--data", "/nowhere"], "--data /nowhere is not a directory"),
}


@pytest.mark.parametrize(("arguments", "message"), BAD.values(), ids=BAD)
def test_wrong_arguments_are_refused_before_any_work(arguments, message, tmp_path, capsys):
    with pytest.raises(SystemExit, match="2"):
        main([*arguments, "--out", str(tmp_path / "out")])
    assert message in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_out_must_be_a_directory(tmp_path, capsys):
    (tmp_path / "file").write_text("")
    with pytest.raises(SystemExit, match="2"):
        main(["toy", "--out", str(tmp_path / "file")])
    assert f"File exists: '{tmp_path / 'file'}'" in capsys.readouterr().err


def test_every_script_is_a_module():
    assert all(callable(script(name)) for name in NAMES)
