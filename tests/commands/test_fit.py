"""``ispca fit`` as someone with a file and no Python uses it."""

import csv
import json
import os
import signal
import subprocess
import sys
import time
from functools import partial

import numpy as np
import pytest

from ispca.analysis import fitting
from ispca.analysis.result_files import COLUMNS, feature_table
from ispca.cli import main
from ispca.commands import fit
from ispca.foundation.result_tables import as_table
from ispca.persistence import load_model, read_details
from ispca.stacking.candidates import RECOMMENDED
from ispca.validation import compare_with_baselines

FEW = ["--bags=0", "--cv", "0"]
SHORT = [*FEW, "--components", "4", "--draws", "60", "--quiet"]
TARGET = ["--target", "diagnosis", "--drop", "score"]
FILES = ["coefficients.csv", "loadings.csv", "model.ispca", "report.html", "scores.csv"]


def table(path):
    with open(path, newline="", encoding="utf-8") as file:
        header, *records = csv.reader(file)
    return header, records


def test_the_files(fitted):
    assert sorted(entry.name for entry in fitted.iterdir()) == ["bagged.ispca", *FILES]
    assert [entry.name for entry in fitted.parent.iterdir() if entry.name.startswith(".")] == []
    header, scores = table(fitted / "scores.csv")
    assert header[:3] == ["id", "diagnosis", "supervised_1"]
    assert len(header) == 6
    assert [row[0] for row in scores] == [f"p{i}" for i in range(40)]
    header, loadings = table(fitted / "loadings.csv")
    assert [row[0] for row in loadings] == [f"gene{j}" for j in range(30)]
    header, coefficients = table(fitted / "coefficients.csv")
    assert header == list(COLUMNS)
    assert header[8:] == ["p", "q", "frequency", "error_rate"]
    assert coefficients[0][0] == "(intercept)"
    assert coefficients[0][8:] == [""] * 4
    assert all(0 < float(p) <= 1 and 0 < float(q) <= 1 for p, q in (row[8:10] for row in coefficients[1:]))
    assert {row[10] for row in coefficients[1:]} <= {"0", "0.25", "0.5", "0.75", "1"}
    effects = [abs(float(row[2])) for row in coefficients[1:]]
    assert effects == sorted(effects, reverse=True)
    assert coefficients[1][0] in {f"gene{j}" for j in range(8)}
    assert read_details(fitted / "model.ispca")["target"] == "diagnosis"


def test_advice_is_about_options(data, tmp_path, capsys):
    short = ["--bags=0", "--components", "35", "--draws", "5", "--cv", "0"]
    assert main(["fit", str(data), *TARGET, "--out", str(tmp_path / "out"), *short]) == 0
    told = capsys.readouterr().err
    assert "ispca: --components 35 exceeds the rank of the data: the model has 30." in told
    assert "The chains have NOT converged" in told
    assert "raise --draws, lower --components, or try another --seed." in told
    assert not any(name in told for name in ("n_components", "n_warmup", "n_draws", "random_state"))


def test_scores_are_those_of_the_model(fitted, table_of):
    rows, _ = table_of
    model = load_model(fitted / "model.ispca")
    X = np.array([row[4:] for row in rows()[1:]], dtype=float)
    scores = np.array([row[2:] for row in table(fitted / "scores.csv")[1]], dtype=float)
    with pytest.warns(UserWarning, match="valid feature names"):
        np.testing.assert_allclose(model[0].transform(X), scores, rtol=5e-6, atol=1e-8)


def test_what_it_says(data, tmp_path, capsys):
    assert main(["fit", str(data), *TARGET, "--out", str(tmp_path / "out"), *SHORT[:-1]]) == 0
    captured = capsys.readouterr()
    assert "40 samples, 30 features, target 'diagnosis': classes ill (" in captured.out
    assert "1 supervised component" in captured.out
    assert "p < 0.001" in captured.out
    assert "The chains" in captured.out
    assert "Strongest features" in captured.out
    assert "scores.csv" in captured.out
    assert "1 column of text left out: sex." in captured.err
    assert "'diagnosis' contains text and is treated as class labels" in captured.err
    assert "#" not in captured.err


def test_permutations_go_on_until_the_outcome_is_safe_unless_a_number_is_given(data, tmp_path, capsys):
    models = {}
    for number, options in enumerate(([], ["--permutations", "300"], ["--method", "SPCA"])):
        out = tmp_path / str(number)
        assert main(["fit", str(data), *TARGET, "--out", str(out), *SHORT, *options]) == 0
        models[number] = load_model(out / "model.ispca")[0]
    assert [models[number].n_permutations for number in range(3)] == ["auto", 300, 1000]
    assert [models[number].steps_[0].n_permutations for number in range(2)] == [800, 300]
    report = (tmp_path / "1" / "report.html").read_text(encoding="utf-8")
    assert "--permutations 300" in report
    for wrong in ("many", "0"):
        assert main(["fit", str(data), *TARGET, "--out", str(tmp_path / "x"), "--permutations", wrong]) == 2
        assert "must be auto or an integer of at least 1" in capsys.readouterr().err


def test_the_summary_says_borderline(tmp_path, capsys):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 30))
    y = rng.normal(size=40) + 0.81 * X[:, 0]
    np.savez(tmp_path / "data.npz", X=X, y=y)
    short = ["--bags=0", "--components", "2", "--draws", "20", "--cv", "0"]
    assert main(["fit", str(tmp_path / "data.npz"), "--out", str(tmp_path / "out"), *short]) == 0
    printed = capsys.readouterr().out
    assert ", borderline): " in printed
    assert "The test of step 1 is borderline" in printed
    assert main(["fit", str(tmp_path / "data.npz"), "--out", str(tmp_path / "b"), *short, "--json"]) == 0
    step = json.loads(capsys.readouterr().out)["steps"][0]
    assert step["borderline"]
    assert not step["limit_reached"]
    assert step["p_value_interval"][0] < step["p_value"] < step["p_value_interval"][1] < 0.01


def test_quiet_and_json(data, tmp_path, capsys):
    assert main(["fit", str(data), *TARGET, "--out", str(tmp_path / "a"), *SHORT]) == 0
    assert capsys.readouterr() == ("", "")
    assert main(["fit", str(data), *TARGET, "--out", str(tmp_path / "b"), *SHORT, "--json"]) == 0
    captured = capsys.readouterr()
    values = json.loads(captured.out)
    assert captured.err == ""
    assert (values["samples"], values["features"], values["supervised_components"]) == (40, 30, 1)
    assert values["classes"].keys() == {"ill", "well"}
    assert values["steps"][0]["accepted"]
    assert isinstance(values["converged"], bool)
    for name in FILES:
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()


def test_the_seed_matters(data, tmp_path, fitted):
    assert main(["fit", str(data), *TARGET, "--out", str(tmp_path / "a"), *SHORT, "--seed", "7"]) == 0
    name = "coefficients.csv"
    assert (tmp_path / "a" / name).read_text() != (fitted / name).read_text()


@pytest.mark.parametrize("method", ["PCA", "SPCA", "ISPCA-small"])
def test_other_methods(data, tmp_path, capsys, method):
    out = tmp_path / "out"
    assert main(["fit", str(data), *TARGET, "--out", str(out), *SHORT[:-1], "--method", method]) == 0
    text = capsys.readouterr().out
    assert {"PCA": "0 supervised", "SPCA": "selected by screening", "ISPCA-small": "1 supervised"}[method] in text
    assert "supervised_1" in (out / "scores.csv").read_text() or method == "PCA"


def test_the_settings_of_the_paper(data, tmp_path, fitted, monkeypatch):
    monkeypatch.setitem(RECOMMENDED, "n_permutations", 19)
    out = {}
    for more in ([], ["--paper"]):
        out[len(more)] = tmp_path / f"out{len(more)}"
        command = ["fit", str(data), *TARGET, "--format", "json", "--out", str(out[len(more)]), *SHORT, *more]
        assert main(command) == 0
    steps = [load_model(folder / "model.ispca")[0].steps_[0].n_permutations for folder in out.values()]
    assert steps == [19, 1000]
    assert (out[1] / "scores.csv").read_text() == (fitted / "scores.csv").read_text()
    commands = [(folder / "report.json").read_text().count("--paper") for folder in out.values()]
    assert commands[0] == 0 < commands[1]


def test_cross_fitted_scores_and_their_model(data, tmp_path, fitted, capsys):
    out = tmp_path / "out"
    command = ["fit", str(data), *TARGET, "--out", str(out), "--method", "ISPCA-cross-fitted", *SHORT]
    assert main([*command, "--paper"]) == 2
    assert "--method ISPCA-cross-fitted is not one of the paper's methods" in capsys.readouterr().err
    assert main(command) == 0
    reduction = load_model(out / "model.ispca")[0]
    assert (reduction.cross_fit, reduction.test) == (10, "residual")
    (header, rows), (_, plain) = table(out / "scores.csv"), table(fitted / "scores.csv")
    assert header[2] == "supervised_1"
    assert [row[:2] for row in rows] == [row[:2] for row in plain]
    assert all(row[2] != other[2] for row, other in zip(rows, plain, strict=True))


def test_genes_in_rows(tmp_path, fitted, table_of):
    rows, write = table_of
    turned = write(tmp_path / "turned.tsv", list(zip(*rows(), strict=True)), "\t")
    out = tmp_path / "out"
    assert main(["fit", str(turned), *TARGET, "--transpose", "--out", str(out), *SHORT, "--bags", "4"]) == 0
    assert (out / "coefficients.csv").read_text() == (fitted / "coefficients.csv").read_text()
    assert (out / "scores.csv").read_text() == (fitted / "scores.csv").read_text()


def test_pure_noise_and_few_features(tmp_path, capsys, table_of):
    _, write = table_of
    rng = np.random.default_rng(5)
    values = rng.normal(size=(30, 2))
    noise = [["g1", "g2", "y"], *([f"{a:.3f}", f"{b:.3f}", "ab"[i % 2]] for i, (a, b) in enumerate(values))]
    path = write(tmp_path / "noise.csv", noise)
    assert main(["fit", str(path), "--target", "y", "--out", str(tmp_path / "out"), "--draws", "50", *FEW]) == 0
    assert "No single feature" in capsys.readouterr().out


def test_constant_columns_are_told(tmp_path, capsys, table_of):
    rows, write = table_of
    constant = [[*row, "1.5" if i else "flat"] for i, row in enumerate(rows())]
    path = write(tmp_path / "data.csv", constant)
    assert main(["fit", str(path), *TARGET, "--out", str(tmp_path / "out"), *SHORT[:-1]]) == 0
    assert "1 feature not used, because constant" in capsys.readouterr().out


ERRORS = [
    (["--target", "diagnosys"], 3, "Did you mean diagnosis?"),
    (["--target", "Diagnosis"], 3, "Did you mean diagnosis?"),
    ([], 3, "Pass --target COLUMN."),
    (["--target", "sample"], 3, "40 distinct labels in 40 samples"),
    (["--target", "diagnosis", "--memory", "1k"], 3, "raise the limit with --memory SIZE."),
    (["--target", "diagnosis", "--kind", "quantity"], 3, "Leave out --kind quantity."),
    (["--target", "diagnosis", "--drop", "scor"], 3, "Did you mean score?"),
    (["--target", "diagnosis", "--id", "name"], 3, "no column 'name' (id)"),
]


@pytest.mark.parametrize(("options", "code", "message"), ERRORS)
def test_errors_are_one_line_with_a_hint(data, tmp_path, one_line, options, code, message):
    assert main(["fit", str(data), *options, "--out", str(tmp_path / "out")]) == code
    assert message in one_line()
    assert not (tmp_path / "out").exists()


def test_a_missing_file_and_missing_values(data, tmp_path, one_line, table_of):
    rows, write = table_of
    out = ["--out", str(tmp_path / "out")]
    assert main(["fit", str(tmp_path / "nothing.csv"), *TARGET, *out]) == 3
    assert "There is no file" in one_line()
    holes = rows()
    holes[3][5] = "NA"
    path = write(tmp_path / "holes.csv", holes)
    assert main(["fit", str(path), *TARGET, *out]) == 3
    assert "gene1 (1). Pass --missing mean" in one_line()
    assert main(["fit", str(path), *TARGET, *out, "--missing", "mean", *SHORT]) == 0


def test_usage(data):
    assert main(["fit", str(data), "--target", "x", "--out", "o", "--components", "0"]) == 2
    assert main(["fit", str(data), "--target", "x", "--out", "o", "--seed", "-1"]) == 2


def test_an_existing_directory(data, tmp_path, one_line):
    out = tmp_path / "out"
    out.mkdir()
    command = ["fit", str(data), *TARGET, "--out", str(out), *SHORT]
    assert main(command) == 0  # an empty one will do
    before = (out / "model.ispca").stat().st_mtime_ns
    assert main(command) == 2
    assert "overwrite it with --force" in one_line()
    assert main([*command, "--force"]) == 0
    assert (out / "model.ispca").stat().st_mtime_ns > before
    (out / "thesis.doc").write_text("years of work")
    assert main([*command, "--force"]) == 2
    assert "contains other files (thesis.doc)" in one_line()
    assert (out / "thesis.doc").exists()
    assert main(["fit", str(data), *TARGET, "--out", str(data)]) == 2
    assert "is a file, not a folder" in one_line()


@pytest.mark.parametrize("error", [KeyboardInterrupt(), OSError(28, "No space left on device")])
def test_an_interruption_leaves_nothing_half_written(data, tmp_path, monkeypatch, error, capsys):
    out = tmp_path / "out"
    command = ["fit", str(data), *TARGET, "--out", str(out), *SHORT]
    assert main(command) == 0
    before = {entry.name: entry.read_bytes() for entry in out.iterdir()}
    capsys.readouterr()

    def fail(folder, *args):
        (folder / "scores.csv").write_text("half")
        raise error

    monkeypatch.setattr(fit, "write_files", fail)
    assert main([*command, "--force", "--seed", "3"]) == (130 if isinstance(error, KeyboardInterrupt) else 1)
    assert {entry.name: entry.read_bytes() for entry in out.iterdir()} == before
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["data.csv", "out"]
    line = capsys.readouterr().err
    assert line.count("\n") == 1
    assert isinstance(error, KeyboardInterrupt) or "Free some space" in line


SLOW_WRITER = """
import sys, time
from ispca.cli import main
from ispca.persistence import load_model
from ispca.stacking.candidates import RECOMMENDED
from ispca.commands import fit
real = fit.write_files
def slow(folder, *args):
    real(folder, *args)
    (folder / "model.ispca").write_bytes(b"half")
    print("writing", flush=True)
    time.sleep(60)
fit.write_files = slow
sys.exit(main(sys.argv[1:]))
"""


def accept_interrupts():
    """Let a new process be interrupted: background jobs ignore interrupts, and some libraries block them."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="signals")
@pytest.mark.parametrize("kill", [signal.SIGKILL, signal.SIGINT])
def test_a_kill_while_writing(data, tmp_path, kill):
    out = tmp_path / "out"
    command = ["fit", str(data), *TARGET, "--out", str(out), *SHORT]
    writer = [sys.executable, "-c", SLOW_WRITER, *command]
    process = subprocess.Popen(writer, stdout=subprocess.PIPE, text=True, preexec_fn=accept_interrupts)
    assert process.stdout.readline() == "writing\n"
    process.send_signal(kill)
    code = process.wait(timeout=60)
    process.stdout.close()
    assert not out.exists()
    if kill == signal.SIGINT:
        assert code == 130
        assert [entry.name for entry in tmp_path.iterdir()] == ["data.csv"]
    assert main(command) == 0
    assert sorted(entry.name for entry in out.iterdir()) == FILES
    # What the killed one has left is gone.
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["data.csv", "out"]


def test_progress_is_for_terminals_only(monkeypatch, capsys):
    from ispca.foundation import progress as _progress

    monkeypatch.setattr(_progress, "SECONDS_BEFORE", 0.01)
    monkeypatch.setattr(_progress, "SECONDS_BETWEEN", 0.01)
    with _progress.waiting("Working"):
        time.sleep(0.05)
    assert capsys.readouterr().err == ""
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    with _progress.silence(), _progress.waiting("Working"):
        time.sleep(0.05)
    assert capsys.readouterr().err == ""
    with _progress.waiting("Working"), _progress.progress("Reading", 10, lambda: 5):
        time.sleep(0.05)
    text = capsys.readouterr().err
    assert "Working ... 0:00" in text
    assert "Reading [###############               ] 5/10" in text
    monkeypatch.setattr(_progress, "SECONDS_BEFORE", 5)
    with _progress.waiting("Short"):
        pass
    assert capsys.readouterr().err == ""


def test_the_report(data, tmp_path, fitted, monkeypatch):
    monkeypatch.setattr(fitting, "compare_with_baselines", partial(compare_with_baselines, n_jobs=1))
    page = (fitted / "report.html").read_text(encoding="utf-8")
    assert "1 column of text left out: sex." in page
    assert "again without" in page
    assert "--drop score --method ISPCA" in page
    command = ["fit", str(data), *TARGET, "--out", str(tmp_path / "out"), *SHORT]
    assert main([*command, "--format", "markdown", "--cv", "2"]) == 0
    text = (tmp_path / "out" / "report.md").read_text(encoding="utf-8")
    assert "samples are classified correctly" in text
    assert main([*command, "--force", "--format", "json"]) == 0
    assert sorted(entry.name for entry in (tmp_path / "out").iterdir()) == sorted(
        [*FILES[:3], "report.json", FILES[4]]
    )
    assert json.loads((tmp_path / "out" / "report.json").read_text(encoding="utf-8"))["format"] == 1


@pytest.mark.parametrize(("values", "kind"), [(3, "quantity or ordinal or count"), (20, "class or count")])
def test_an_integer_target_may_be_either_kind(tmp_path, capsys, values, kind):
    rng = np.random.default_rng(0)
    rows = [f"{a:.3f},{b:.3f},{i % values}" for i, (a, b) in enumerate(rng.normal(size=(40, 2)))]
    path = tmp_path / "grades.csv"
    path.write_text("\n".join(["g1,g2,grade", *rows]))
    assert main(["fit", str(path), "--target", "grade", "--out", str(tmp_path / "out"), *SHORT[:-1]]) == 0
    assert f"ispca: Pass --kind {kind} if that is wrong." in capsys.readouterr().err


def test_the_strongest_features_end_where_the_effect_ends():
    # Feature, class, effect, P(sign), mean, deviation, and the ends of the interval.
    rows = [("age", "", 9.0, 1.0, 9.0, 1.0, 8.0, 10.0), ("a", "", 2.0, 1.0, 2.0, 0.1, 1.8, 2.2)]
    rows += [("b", "", -1.0, 0.7, -1.0, 2.0, -4.0, 2.0), ("c", "", 0.3, 1.0, 0.3, 0.1, 0.2, 0.4)]
    rows += [("d", "", 0.01, 1.0, 0.01, 0.001, 0.005, 0.015)]
    # p, q, frequency and error rate do not matter.
    rows = [(*row, *[0.5] * 4) for row in rows]

    def leading(rows):
        columns = dict(zip(COLUMNS, zip(*rows, strict=True), strict=True))
        found = feature_table(as_table(columns), 0, {"age"}, {})
        return found["label"][found["leading"]].tolist()

    assert leading(rows) == ["a", "c"]
    assert leading(rows[2:3]) == []
