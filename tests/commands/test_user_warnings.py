"""Warnings that a new user sees before the fit, each from a file that must trigger it and one that must not."""

import numpy as np
import pytest

from user_files import N, Study, type_in, write


@pytest.fixture
def study(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return Study()


@pytest.fixture
def warnings_of(capsys):
    def fit(study, options=""):
        study.write_table("data.csv")
        return type_in(f"ispca fit data.csv --target tissue {options}", capsys).warnings

    return fit


def only(warnings):
    assert len(warnings) == 1, warnings
    return warnings[0].removeprefix("warning: ")


def test_clean_data_give_no_warning(study, warnings_of):
    assert warnings_of(study) == []


def test_a_leak(study, warnings_of):
    study.X[:, 7] = 3.0 * (study.tissue == "tumour") + study.rng.normal(8, 0.01, size=N)
    assert only(warnings_of(study)).startswith("Feature 'g7' nearly determines the target")


def test_clinical_columns_among_genes(study, warnings_of):
    study.X[:, 9] = study.rng.integers(20_000, 90_000, size=N)
    study.genes[9] = "income"
    assert "'income'" in only(warnings_of(study))


def test_an_outlying_sample(study, warnings_of):
    study.X[5] += 25 * study.rng.normal(size=study.X.shape[1])
    assert "Sample 's05' is far from all others" in " ".join(warnings_of(study))


def test_a_sample_in_both_classes(study, warnings_of):
    first, second = (np.flatnonzero(study.tissue == name)[0] for name in ("normal", "tumour"))
    study.X[second] = study.X[first]
    warning = only(warnings_of(study))
    assert warning.startswith("2 samples are copies, or nearly copies, of each other")
    assert "1 set of copies belongs to different classes" in warning


@pytest.mark.parametrize("confounded", [True, False])
def test_a_batch(study, confounded, capsys):
    study.write_matrix("matrix.csv")
    batch = study.tissue == "tumour" if confounded else np.arange(N) % 2 == 0
    names = np.where(batch, "A", "B")
    write("sheet.csv", [["sample", "tissue", "batch"], *zip(study.ids, study.tissue, names, strict=True)])
    answer = type_in("ispca fit matrix.csv --samples sheet.csv --target tissue", capsys)
    if confounded:
        assert only(answer.warnings).startswith("The batch column 'batch' explains 100% of the variation")
    else:
        assert answer.warnings == []


def test_classes_in_the_order_of_the_file(study, warnings_of):
    order = np.argsort(study.tissue, kind="stable")
    study.X, study.tissue = study.X[order] + np.linspace(0, 3, N)[:, None], study.tissue[order]
    assert "The samples are sorted by class" in " ".join(warnings_of(study))


def test_too_few_samples_of_a_class(study, warnings_of):
    study.tissue[:] = "normal"
    study.tissue[[3, 9]] = "tumour"
    assert "has only 2 samples" in " ".join(warnings_of(study, "--cv 5"))


def test_a_class_of_one_sample(study, capsys):
    """The fit goes on without the cross-validation that it cannot do."""
    study.tissue[:] = "normal"
    study.tissue[3] = "tumour"
    study.write_table("data.csv")
    answer = type_in("ispca fit data.csv --target tissue --cv 5", capsys)
    assert answer.lines[0].startswith("Verdict: Not cross-validated")
    assert answer.warnings


def test_noise(study, capsys):
    study.X = study.rng.normal(size=study.X.shape)
    study.write_table("data.csv")
    answer = type_in("ispca fit data.csv --target tissue --cv 3", capsys)
    assert "not significantly better than the base rate" in answer.lines[0]
    assert "No single feature passed the test" in answer.out
    assert "no signal" not in answer.out
