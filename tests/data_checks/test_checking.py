"""All checks together: false alarms, real data, and warnings that can be filtered."""

import os
import pickle
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

import ispca
from ispca.data_checks import KINDS, Finding, check_data, warn
from ispca.datasets import load, make_expression


def test_simulated_data_have_no_findings():
    for seed in range(20):
        data = make_expression(n_samples=60, n_features=800, n_classes=2 + seed % 2, random_state=seed)
        assert check_data(data.data, data.target, "classification", n_folds=5) == []


@pytest.mark.slow
def test_noise_has_findings_at_a_rate_far_below_5_percent():
    found = Counter()
    for seed in range(100):
        rng = np.random.default_rng(seed)
        n, D = int(rng.integers(10, 100)), int(rng.integers(2, 400))
        # Sorted by class, so that the order of the file is checked too.
        X, y = rng.normal(size=(n, D)), np.sort(np.arange(n) % 2)
        X = np.exp(2 * X) if seed % 3 == 0 else rng.poisson(np.exp(X + 3)).astype(float) if seed % 3 == 1 else X
        sheet = {"batch": rng.integers(0, 3, n), "date": rng.permutation(20240101 + np.arange(n) % 28)}
        findings = check_data(X, y, "classification", sheet=sheet)
        findings += check_data(X, rng.normal(size=n), "regression", sheet=sheet)
        # These are true: the samples are sorted, and some values are raw.
        true = ("sorted by class: if", "look like raw")
        found.update(kind for kind, sentence, *_ in findings if not any(words in sentence for words in true))
    assert max(found.values(), default=0) <= 2


# What is found in each real set; docs/guide/warnings.md has the same table. None has a leak.
REAL = {
    "arcene": ["outliers", "scale"],
    "chowdary": ["file_order"],
    "colon": [],
    "glioma-4c": ["file_order"],
    "gordon": ["outliers", "file_order"],
    "gravier": ["odd_features", "file_order"],
    "leukemia": ["file_order"],
    "lung-5c-1543": ["file_order"],
    "ovarian": ["file_order"],
    "prostate": ["outliers", "file_order"],
    "reg-riboflavin": [],
    "surv-beer": [],
    "basehock": ["duplicates", "file_order"],
    "dexter": [],
    "pcmac": ["scale", "file_order"],
    "count-blog": ["duplicates", "odd_features"],
}
OTHER_KINDS = {"reg": "regression", "surv": "survival", "count": "count"}


@pytest.mark.slow
@pytest.mark.parametrize("name", REAL)
def test_real_data(name):
    if not (Path(os.environ.get("ISPCA_DATA", "nowhere")) / f"{name}.npz").exists():
        pytest.skip(f"real data: set ISPCA_DATA to the folder with {name}.npz")
    data = load(name)
    kind = OTHER_KINDS.get(name.partition("-")[0], "classification")
    assert [finding.kind for finding in check_data(data.data, data.target, kind, n_folds=5)] == REAL[name]


@pytest.mark.parametrize("kind", KINDS)
def test_a_warning_tells_its_kind_and_points_at_the_line(kind):
    with pytest.warns(ispca.DataWarning, match="Look here") as caught:
        warn([Finding(kind, "Look here.")])
    assert caught[0].filename == __file__
    copied = pickle.loads(pickle.dumps(caught[0].message))
    assert (copied.kind, str(copied)) == (kind, "Look here.")


def test_a_leak_is_not_called_odd_as_well():
    data = make_expression(n_samples=60, n_features=800, random_state=0)
    X = data.data.copy()
    X[:, 4] = data.target == data.target[0]
    names = [f"g{j}" for j in range(800)]
    (finding,) = check_data(X, data.target, "classification", features=names)
    assert finding.kind == "leak"


def test_raw_scales_are_found_without_the_command_line():
    data = make_expression(n_samples=60, n_features=800, random_state=0)
    sizes = np.random.default_rng(0).uniform(0.5, 2.0, (60, 1))
    counts = np.random.default_rng(1).poisson(sizes * 2.0 ** (data.data - 3)).astype(float)
    for X, words in (
        (counts, "of counts per million, because"),
        (2.0**data.data + 0.5, "look like raw intensities"),
    ):
        (finding,) = check_data(X, data.target, "classification")
        assert finding.kind == "scale"
        assert words in finding.sentence
        assert "--" not in finding.sentence
        assert check_data(np.log2(X + 1), data.target, "classification") == []
