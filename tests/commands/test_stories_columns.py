"""A new user chooses columns, covariates and groups, the positive class, threads and a folder for the results."""

import json

import numpy as np
import pytest

from user_files import SAMPLES, D, N, table, text, write


def with_columns(study, **columns):
    """Return the rows of the study with further columns after the target."""
    rows = study.rows()
    for name, values in columns.items():
        for row, value in zip(rows, [name, *values], strict=True):
            row.insert(2, value)
    return rows


def test_features_by_pattern(study, user):
    study.write_table("plain.csv")
    answer = user("ispca fit plain.csv --target tissue --features 'g1*'")
    assert f"11 features of {D} chosen by name." in answer.notes
    assert "24 samples, 11 features" in answer.out
    answer = user("ispca fit plain.csv --target tissue --drop 'g1*' 'g2*'")
    assert f"24 samples, {D - 22} features" in answer.out
    answer = user("ispca fit plain.csv --target tissue --features 'h*' --out none", code=3)
    assert answer.out == ""
    assert answer.notes[-1].startswith("No column of plain.csv matches 'h*' (features). Choose from g0, g1")


def test_a_positive_class(study, user):
    study.write_table("plain.csv")
    assert "for tumour, P(sign)" in user("ispca fit plain.csv --target tissue").out
    assert "for normal, P(sign)" in user("ispca fit plain.csv --target tissue --positive normal").out
    answer = user("ispca fit plain.csv --target tissue --positive tumor", code=3)
    assert answer.out == ""
    assert "tumour" in answer.notes[-1]


def test_covariates(study, user):
    """Age and sex are adjusted for, have effects of their own, and are needed for predictions."""
    write("study.csv", with_columns(study, sex=["f", "m"] * (N // 2), age=range(30, 30 + N)))
    answer = user("ispca fit study.csv --target tissue --covariates age,sex --cv 3 --out results")
    assert answer.lines[0].startswith("Verdict: ")
    assert SAMPLES in answer.out
    assert any("'age'" in note for note in answer.notes)
    heading = (
        "Covariates that the features and the target are adjusted for, with 90% intervals given the components:"
    )
    start = answer.lines.index(heading)
    assert answer.lines[start + 1].startswith("  age, per SD (")
    assert answer.lines[start + 2].startswith("  sex=m, vs. reference: odds ratio ")
    assert {"age", "sex=m"} <= {*table("results/scores.csv")[0]}
    assert "Features and target were adjusted for age, sex=m." in text("results/report.html")
    study.write_table("new.csv", target=False)
    answer = user("ispca predict results new.csv", code=3)
    assert "'age'" in answer.notes[-1]


def test_a_covariate_that_is_the_target(study, user):
    write("study.csv", with_columns(study, batch=np.where(study.tissue == "tumour", "A", "B")))
    answer = user("ispca fit study.csv --target tissue --covariates batch", code=3)
    assert answer.out == ""
    assert "batch" in answer.notes[-1]
    assert "--covariates" in answer.notes[-1]


def test_groups_stay_together_in_every_fold(study, user):
    """Noise, but each patient has two nearly equal samples: apart, one of them gives the other away."""
    patients = np.repeat(np.arange(N // 2), 2)
    labels = study.rng.permutation(np.repeat(["normal", "tumour"], N // 4))
    study.tissue = labels[patients]
    study.X = study.rng.normal(8, 1, size=(N // 2, D))[patients] + study.rng.normal(0, 0.01, size=(N, D))
    write("pairs.csv", with_columns(study, patient=[f"p{number}" for number in patients]))
    added = ("--bags=0", "--components", "20", "--draws", "40", "--force")
    apart = user("ispca fit pairs.csv --target tissue --drop patient --cv 4 --json", added=added)
    together = user("ispca fit pairs.csv --target tissue --groups patient --cv 4 --json", added=added)
    assert "copies, or nearly copies, of each other" in apart.warnings[0]
    assert together.warnings == []
    found = json.loads(together.out)["verdict"]
    assert json.loads(apart.out)["verdict"]["value"] > found["value"] + 0.2
    assert found["high"] - found["low"] > 0.3


def test_repeated_names_and_groups(study, user):
    study.ids = [f"p{i // 2}" for i in range(N)]
    study.write_table("repeated.csv", first="patient")
    answer = user("ispca fit repeated.csv --target tissue --groups patient")
    assert "Sample names come from the first column, 'patient'." in answer.notes
    assert "Some sample names appear more than once: p0, p1, p2, p3, p4 and 7 more." in answer.notes
    assert [row[0] for row in table("repeated-results/scores.csv")[1]][:3] == ["p0", "p0", "p1"]


@pytest.mark.parametrize("first", ["", "sample"])
def test_repeated_names_without_groups(first, study, user):
    """A column without a name, as R writes it, or with a usual one."""
    study.ids = [f"p{i // 2}" for i in range(N)]
    study.write_table("repeated.csv", first=first)
    answer = user("ispca fit repeated.csv --target tissue")
    assert "Some sample names appear more than once: p0, p1, p2, p3, p4 and 7 more." in answer.notes
    assert [row[0] for row in table("repeated-results/scores.csv")[1]][:3] == ["p0", "p0", "p1"]


def test_a_default_folder(study, user):
    study.write_table("plain.csv")
    answer = user(
        "ispca fit plain.csv --target tissue",
        added=("--bags=0", "--components", "4", "--draws", "40", "--cv", "0"),
    )
    names = ("model.ispca", "scores.csv", "loadings.csv", "coefficients.csv", "report.html")
    assert answer.lines[-1].endswith("s: " + ", ".join(f"plain-results/{name}" for name in names))
    assert all(text(f"plain-results/{name}") for name in names[1:])
    answer = user("ispca fit plain.csv --target tissue", code=2, added=())
    assert (answer.out, len(answer.notes)) == ("", 1)
    assert "plain-results" in answer.notes[0]
    assert "--force" in answer.notes[0]


def test_threads(study, user):
    """Any number of threads gives the same files."""
    study.write_table("plain.csv")
    for number in (1, 2):
        user(f"ispca fit plain.csv --target tissue --threads {number} --out with{number}")
    assert text("with1/coefficients.csv") == text("with2/coefficients.csv")
    answer = user("ispca fit plain.csv --target tissue --threads 0", code=2)
    assert "must be an integer of at least 1, got '0'" in answer.err
