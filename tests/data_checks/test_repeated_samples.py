"""Several samples of one source: which ways to name samples and columns are recognized, and which never alarm."""

import re
from itertools import product

import numpy as np
import pytest

from ispca.data_checks import check_data
from ispca.data_checks.repeated_samples import find_repeated_samples, name_sources, source_word

TWO = range(1, 3)


def names(form, *parts):
    """Return a name for each combination of parts."""
    return [form.format(*items) for items in product(*parts)]


SINGLE = {
    "class and number": names("{}_{}", ["ALL", "AML"], range(1, 31)),
    "class and number, R's unique names": [
        "ALL",
        *names("ALL.{}", range(1, 30)),
        "AML",
        *names("AML.{}", range(1, 20)),
    ],
    "class, replicate": names("{}_rep{}", ["WT", "KO"], range(1, 7)),
    "class with a digit and number": names("grade{}_{}", range(1, 3), range(1, 6)),
    "one class per sample and number": names("{}-{:02d}", ["CLL", "DLBCL", "FL", "MCL"], range(1, 9)),
    "accessions": names("GSM{}", range(1234, 1294)),
    "runs": names("SRR{}_1", range(7001, 7061)),
    "numbered": names("sample_{}", range(1, 61)),
    "numbered with zeros": names("S{:03d}", range(1, 61)),
    "plain numbers": names("{}", range(1, 61)),
    "numbers with a decimal point": names("{}.0", range(1, 61)),
    "wells": names("{}{}", "ABCDEFGH", range(1, 13)),
    "wells, number first": names("{1}{0}", "ABCDEFGH", range(1, 13)),
    "wells of plates": names("plate{}_{}{}", range(1, 5), "ABCD", range(1, 7)),
    "plate and number": names("plate{}_{}", range(1, 9), range(1, 5)),
    "batch and number": names("B{}_{}", range(1, 5), range(1, 16)),
    "site and patient": names("{:02d}-{:03d}", range(1, 9), range(1, 9)),
    "site and number": names("S{:02d}-{:02d}", range(1, 9), range(1, 9)),
    "TCGA, patients": names("TCGA-{}-{:04d}", ["02", "06", "A1"], range(1, 21)),
    "TCGA, samples of different patients": names(
        "TCGA-{}-{:04d}-01A-11R-A{}", ["02", "06"], range(1, 21), ["07Q"]
    ),
    "TCGA, tumors of different patients": names("TCGA-{}-{:04d}-01", ["02", "06", "A1"], range(1, 21)),
    "chips and positions": names("{}_{}", range(5765043001, 5765043009), "ABCDEF"),
    "methylation arrays": names("{}_R0{}C01", range(200123450001, 200123450009), range(1, 7)),
    "cells": ["AAACCTGAG-1", "AAACCTGTC-1", "AAACGGGCA-1", "AAAGATGTC-1", "CCACCTGAG-1", "GTTACAGAG-1"],
    "dates": names("2021-{:02d}-{:02d}", range(1, 7), range(1, 6)),
    "conditions over time": names("{}_d{}_{}", ["ctrl", "drug"], range(0, 8, 2), range(1, 4)),
    "initials": ["AB", "CD", "EF", "GH", "JK", "LM", "NO", "PQ"],
    "lanes of different samples": names("S{}_L001", range(1, 61)),
    "visit of different patients": names("P{:02d}_baseline", range(1, 31)),
}
REPEATED = {
    "twice the same name": [*names("P{}", range(1, 31)), "P4", "P9"],
    "number": names("P{:02d}_{}", range(1, 13), TWO),
    "number, some once": [*names("P{:02d}", range(1, 31)), "P03_2", "P17_2", "P21_2"],
    "letter": names("P{:02d}-{}", range(1, 13), "abc"),
    "letter without a separator": names("P{:02d}{}", range(1, 13), "ab"),
    "R's unique names": ["P01", "P01.1", "P02", "P02.1", "P03", "P03.1", "P04"],
    "replicate": names("donor{}_rep{}", range(1, 9), range(1, 4)),
    "replicate of cell lines": names("{}.rep{}", ["HeLa", "MCF7", "T47D", "K562"], range(1, 4)),
    "before and after": names("S{}_{}", range(1, 13), ["before", "after"]),
    "names of people": names("{} {}", ["Anna", "Ben", "Cleo", "Dan"], ["pre", "post"]),
    "tumor and normal": names("{}_{}", range(101, 113), ["tumor", "normal"]),
    "tumor and normal, letters": names("{}{}", range(101, 113), "TN"),
    "days": names("mouse{}_day{}", range(1, 9), (0, 7, 14)),
    "visits": names("subject-{} visit {}", range(1, 9), TWO),
    "lanes": names("S{}_L00{}", range(1, 9), TWO),
    "TCGA, tumor and normal": names("TCGA-02-{:04d}-{}A", range(1, 13), ["01", "11"]),
    "TCGA, aliquots": names("TCGA-02-{:04d}-01A-11R-A{}-07", range(1, 13), ["131", "132"]),
}


@pytest.mark.parametrize("scheme", SINGLE)
def test_names_of_different_sources_do_not_alarm(scheme):
    ids = SINGLE[scheme]
    # As many classes as the names suggest, or two.
    n_classes = len({re.split(r"[_.-]", name)[0] for name in ids})
    assert name_sources(ids, n_classes if n_classes < 5 else 2) is None


@pytest.mark.parametrize("scheme", REPEATED)
def test_names_of_one_source_are_found(scheme):
    ids = REPEATED[scheme]
    sources = name_sources(ids, 2)
    assert sources is not None
    (finding,) = find_repeated_samples(ids, {}, np.arange(len(ids)) % 2)
    assert len(finding.rows) == sum(sources.count(source) > 1 for source in sources) > 1
    assert find_repeated_samples(ids, {}, np.arange(len(ids)) % 2, groups=sources) == []


COLUMNS = {
    "patient": np.arange(24) // 2,
    "PatientID": [f"P{i // 2}" for i in range(24)],
    "donor": np.repeat(["D1", "D2", "D3"], 8),
    "mouse no.": np.arange(24) // 3,
    "subject": [*"ABCDEFGHIJKL"] * 2,
    "animal_id": [f"a{i % 8}" for i in range(24)],
}
OTHERS = {
    "patient_age": np.arange(24) // 2,
    "donor sex": ["f", "m"] * 12,
    "patient": [f"P{i}" for i in range(24)],
    "patients": ["yes", "no"] * 12,
    "animal": ["cat", "dog", "horse"] * 200,
    "outpatient clinic": np.arange(24) // 2,
    "impatient": np.arange(24) // 2,
}


@pytest.mark.parametrize("name", COLUMNS)
def test_columns_that_name_sources_are_found(name):
    (finding,) = find_repeated_samples(None, {"age": np.arange(24), name: COLUMNS[name]}, np.arange(24) % 2)
    assert (
        f"Pass column {name!r} as groups to hold out all samples of one {source_word(name)} together"
        in finding.sentence
    )
    assert finding.rows == tuple(range(24))


@pytest.mark.parametrize("name", OTHERS)
def test_other_columns_do_not_alarm(name):
    assert find_repeated_samples(None, {name: OTHERS[name]}, np.arange(len(OTHERS[name])) % 2) == []


def test_a_column_of_replicates_does_not_name_their_source():
    (finding,) = find_repeated_samples(None, {"replicate": [1, 2, 3] * 8})
    assert "Column 'replicate' numbers replicates (1, 2, 3)" in finding.sentence
    assert "column 'replicate' as groups" not in finding.sentence
    # The source is known here.
    (finding,) = find_repeated_samples(None, {"replicate": [1, 2, 3] * 8, "strain donor": np.arange(24) // 3})
    assert "column 'strain donor' as groups" in finding.sentence


def test_a_feature_called_patient_is_found_unless_it_is_measured():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(24, 30)), np.tile(["a", "b"], 12)
    features = ["patient", *(f"g{i}" for i in range(29))]
    assert check_data(X, y, "classification", features=features) == []
    X[:, 0] = np.arange(24) // 2
    assert [finding.kind for finding in check_data(X, y, "classification", features=features)] == ["repeats"]
    assert check_data(X, y, "classification", features=features, groups=X[:, 0]) == []
    X[:, 0] = np.arange(24) % 3
    (finding,) = check_data(X, y, "classification", features=["tech_rep", *features[1:]])
    assert "Column 'tech_rep' numbers replicates (0, 1, 2)." in finding.sentence
    assert check_data(X, y, "classification", features=["REP15", *features[1:]]) == []
