"""Batches, dates and file order that coincide with the target."""

import numpy as np
import pytest

from ispca.data_checks.confounding import find_batches, looks_like_batch
from ispca.data_checks.copies_outliers_and_drift import drift_p_value, find_file_order, inner_products
from ispca.data_checks.findings import as_classes
from ispca.readers.numbers_and_dates import as_days

Y = np.repeat(["ill", "well"], 30)
DAYS = np.array([f"2024-0{1 + i // 10}-{10 + i % 10}" for i in range(60)])


def batches(name, values, y=Y, kind="classification"):
    return find_batches({name: values}, y, as_classes(y, kind))


def test_a_confounded_batch_is_named():
    plates = np.where(Y == "ill", "A", "B")
    plates[:4] = "B"
    (finding,) = batches("Plate", plates)
    assert finding.kind == "batch"
    assert finding.sentence.startswith("The batch column 'Plate' explains 76% of the variation of the class")
    assert "are mixed. Adjust for 'Plate'" in finding.sentence


@pytest.mark.parametrize("swapped", [0, 1])
def test_adjusting_is_not_advised_if_it_would_be_refused_or_remove_the_signal(swapped):
    runs = np.where(Y == "ill", "1", "2")
    runs[:swapped] = "2"
    (finding,) = batches("run_id", runs)
    assert "can hardly be separated, not even by adjusting" in finding.sentence
    assert "Adjust for" not in finding.sentence


def test_dates_are_recognized_by_their_values():
    assert "The date 'sampled'" in batches("sampled", DAYS)[0].sentence
    assert batches("sampled", np.random.default_rng(0).permutation(DAYS)) == []
    assert as_days(np.array(["31.12.2023", "01.02.2024"]))[1] - as_days(np.array(["31.12.2023"]))[0] == 32
    assert as_days(np.array(["2024-01-01", "unknown"])) is None


def test_run_numbers_are_an_order_and_quantities_have_batches_too():
    order = np.arange(60)
    assert batches("scan number", order)
    assert batches("scan number", order, y=order + 5.0, kind="regression")
    assert batches("scan number", np.random.default_rng(0).permutation(order)) == []


@pytest.mark.parametrize("name", ["sex", "age", "tissue", "template", "syndrome"])
def test_other_columns_are_not_batches(name):
    assert not looks_like_batch(name)
    assert batches(name, np.where(Y == "ill", "A", "B")) == []


def test_balanced_batches_and_identifiers_are_no_concern():
    rng = np.random.default_rng(0)
    assert sum(len(batches("batch", rng.integers(0, 6, 60))) for _ in range(200)) <= 1
    assert batches("batch", [f"array{i}" for i in rng.permutation(60)]) == []
    assert batches("batch", ["A"] * 60) == []
    assert find_batches(None, Y, as_classes(Y, "classification")) == []


def file_order(X, classes):
    return find_file_order(inner_products(X), classes)


def test_a_drift_along_a_sorted_file():
    rng = np.random.default_rng(0)
    X, classes = rng.normal(size=(60, 300)), np.repeat([0, 1], 30)
    drifting = X + np.outer(np.linspace(-1, 1, 60), rng.normal(size=300))
    assert "sorted by class, and within the classes the data drift" in file_order(drifting, classes)[0].sentence
    exception = classes.copy()
    exception[50] = 0
    assert file_order(drifting, exception)
    assert file_order(drifting, rng.permutation(classes)) == []
    assert file_order(drifting, None) == []


def test_a_sorted_file_without_a_drift():
    X, classes = np.random.default_rng(0).normal(size=(60, 300)), np.repeat([0, 1], 30)
    (finding,) = file_order(X, classes)
    assert "drift" not in finding.sentence
    assert finding == find_file_order(None, classes)[0]
    assert file_order(X, np.tile([0, 1], 30)) == find_file_order(None, np.tile([0, 1], 30)) == []


def test_classes_that_differ_do_not_drift():
    found = 0
    for seed in range(50):
        rng, classes = np.random.default_rng(seed), np.repeat([0, 1, 2], 20)
        X = rng.normal(size=(60, 300)) + 2 * rng.normal(size=(3, 300))[classes]
        found += drift_p_value(inner_products(X), classes) is not None
    assert found == 0
