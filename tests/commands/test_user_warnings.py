"""Each kind of warning as a new user meets it, from files that must trigger it and files that must not."""

import html
import json
import warnings
from pathlib import Path

import numpy as np
import pytest

import ispca
from ispca.data_checks import KINDS, Finding, warn
from user_files import N, Study, type_in, write


@pytest.fixture
def study(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return Study()


@pytest.fixture
def fit(study, capsys):
    """Fit the study, and return what was printed and what was found, by its kind."""

    def run(options=""):
        study.write_matrix("matrix.csv")
        plain = np.arange(N) % 2
        batch, patient = getattr(study, "batch", plain), getattr(study, "patient", np.arange(N))
        rows = zip(study.ids, study.tissue, batch, patient, strict=True)
        write("sheet.csv", [["sample", "tissue", "batch", "patient"], *rows])
        line = f"ispca fit matrix.csv --samples sheet.csv --target tissue --seed 0 --json --out results {options}"
        answer = type_in(line, capsys)
        return answer, {finding["kind"]: finding["sentence"] for finding in json.loads(answer.out)["findings"]}

    return run


def leak(study, strength):
    study.X[:, 7] = strength * (study.tissue == "tumour") + study.rng.normal(8, 0.1, size=N)


def weak_gene(study):
    study.X[:, 7] = (study.tissue == "tumour") + study.rng.normal(8, 1.0, size=N)


def income(study):
    study.X[:, 9] = study.rng.integers(20_000, 90_000, size=N)


def failed_sample(study):
    study.X[5] += 25 * study.rng.normal(size=study.X.shape[1])


def noisy_sample(study):
    study.X[5] += study.rng.normal(size=study.X.shape[1])


def copies(study):
    first, second = (np.flatnonzero(study.tissue == name)[0] for name in ("normal", "tumour"))
    study.X[second], study.patient = study.X[first], np.arange(N)
    return first, second


def copies_of_a_patient(study):
    first, second = copies(study)
    study.patient[second] = first


def batch_by_class(study):
    study.batch = np.where(study.tissue == "tumour", "A", "B")


def sort_samples(study):
    order = np.argsort(study.tissue, kind="stable")
    study.X, study.tissue = study.X[order], study.tissue[order]
    study.ids = [study.ids[i] for i in order]


def tumors(number):
    def change(study):
        study.tissue[:] = "normal"
        study.tissue[3 : 3 + number] = "tumour"

    return change


def one_weak_gene(study):
    study.__init__(seed=7)
    study.X[study.tissue == "tumour", :6] -= 2
    study.X[study.tissue == "tumour", 0] += 1.6


def no_signal(study):
    study.tissue[:] = np.random.default_rng(2).permutation(study.tissue)


def raw_counts(study):
    study.X = study.counts()


def log_counts(study):
    study.X = np.log2(study.counts() + 1)


# What triggers each kind, with options, and what comes close and must not.
CASES = {
    "leak": ((lambda study: leak(study, 3.0), ""), (weak_gene, "")),
    "odd_features": ((income, ""), (noisy_sample, "")),
    "outliers": ((failed_sample, ""), (noisy_sample, "")),
    "duplicates": ((copies, ""), (copies_of_a_patient, "--groups patient")),
    "repeats": ((copies_of_a_patient, ""), (copies_of_a_patient, "--groups patient")),
    "batch": ((batch_by_class, ""), (noisy_sample, "")),
    "file_order": ((sort_samples, ""), (noisy_sample, "")),
    "small_class": ((tumors(4), "--cv 5"), (tumors(5), "--cv 5")),
    "borderline": ((one_weak_gene, "--permutations 1000"), (noisy_sample, "--permutations 1000")),
    "scale": ((raw_counts, ""), (log_counts, "")),
    "weak_signal": ((no_signal, "--bags 6"), (noisy_sample, "--bags 6")),
}


def test_no_kind_is_forgotten():
    # Studies have no messy cells; those of test_findings.py have.
    assert {*CASES, "substitutes"} == set(KINDS)


@pytest.mark.parametrize("kind", CASES)
def test_a_warning_is_printed_and_reported_and_can_be_filtered(study, fit, kind):
    change, options = CASES[kind][0]
    change(study)
    answer, found = fit(options)
    sentence = found[kind]
    assert f"warning: {sentence}" in answer.warnings
    assert sentence in html.unescape(Path("results/report.html").read_text(encoding="utf-8"))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", ispca.DataWarning)
        warn([Finding(kind, sentence)])
        warnings.simplefilter("error", ispca.DataWarning)
        with pytest.raises(ispca.DataWarning) as caught:
            warn([Finding(kind, sentence)])
        assert (str(caught.value), caught.value.kind) == (sentence, kind)


@pytest.mark.grid(3)
@pytest.mark.parametrize("kind", CASES)
def test_similar_data_do_not_trigger_it(study, fit, kind):
    change, options = CASES[kind][1]
    change(study)
    answer, found = fit(options)
    assert kind not in found
    assert len(answer.warnings) == len(found)


def test_clean_data_give_no_warning(fit):
    answer, found = fit()
    assert answer.warnings == []
    assert found == {}


def test_a_sample_in_both_classes_is_a_contradiction(study, fit):
    copies(study)
    sentence = fit()[1]["duplicates"]
    assert sentence.startswith("2 samples are copies, or nearly copies, of each other")
    assert "different classes" in sentence


def test_a_transformation_that_was_chosen_is_not_questioned(study, fit):
    raw_counts(study)
    assert "Pass --transform cpm-log, or log1p to keep the library sizes" in fit()[1]["scale"]
    for name in ("none", "cpm-log"):
        assert "scale" not in fit(f"--transform {name}")[1]


def test_a_class_of_one_sample(study, capsys):
    """The fit goes on without the cross-validation that it cannot do."""
    study.tissue[:] = "normal"
    study.tissue[3] = "tumour"
    study.write_table("data.csv")
    answer = type_in("ispca fit data.csv --target tissue --cv 5", capsys)
    assert answer.lines[0].startswith("Verdict: Class 'tumour' has only 1 sample, which cannot be both fitted and")
    assert answer.warnings


def test_noise(study, capsys):
    study.X = study.rng.normal(size=study.X.shape)
    study.write_table("data.csv")
    answer = type_in("ispca fit data.csv --target tissue --cv 3", capsys)
    assert "not significantly better" in answer.lines[0]
    assert "No single feature" in answer.out
    assert "no signal" not in answer.out
