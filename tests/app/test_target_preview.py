"""The estimated time of a run."""

import pytest

from ispca.app.preview import MOST_CORES, START, estimate_seconds
from ispca.targets import find_target

# CPU seconds of `ispca fit` with five folds and without bags.
MEASURED = [
    (62, 2000, "classification", 2, 4.4),
    (71, 4088, "regression", 0, 5.5),
    (50, 4434, "classification", 4, 19.8),
    (86, 7129, "survival", 0, 11.0),
    (102, 5966, "classification", 2, 4.9),
    (181, 12533, "classification", 2, 7.2),
    (203, 1543, "classification", 5, 16.9),
    (200, 10000, "classification", 2, 11.4),
    (180, 30000, "classification", 2, 14.4),
    (104, 22283, "classification", 2, 8.3),
    (1000, 2000, "classification", 2, 70.5),
    (1000, 2000, "regression", 0, 40.7),
    (300, 5000, "classification", 3, 33.4),
    (1000, 2000, "classification", 3, 154.2),
]


@pytest.mark.parametrize(("n_samples", "n_features", "kind", "n_classes", "seconds"), MEASURED)
def test_the_estimate_is_near_what_was_measured(monkeypatch, n_samples, n_features, kind, n_classes, seconds):
    monkeypatch.setattr("os.cpu_count", lambda: MOST_CORES)
    target = {"kind": find_target(kind).option, "classes": range(n_classes)}
    found = {"samples": n_samples, "features": n_features, "target": target}
    assert seconds / 1.7 < estimate_seconds(found, {"bags": 0}) * MOST_CORES < 1.7 * seconds


def test_folds_take_time():
    found = {"samples": 100, "features": 5000}
    none, five, ten = (estimate_seconds(found, {"cv": cv, "bags": 0}) for cv in (0, None, 10))
    assert START / MOST_CORES < none < five < ten


def test_bags_take_time():
    found = {"samples": 100, "features": 5000}
    none, ten, default, fifty = (estimate_seconds(found, {"bags": bags}) for bags in (0, 10, None, 50))
    assert none < ten < default == fifty
