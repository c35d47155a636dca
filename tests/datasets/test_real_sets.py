"""Every data set by name, where its file is."""

import numpy as np
import pytest
import scipy.sparse as sp

from ispca.datasets import list_datasets, load
from ispca.datasets.loading import PREPROCESSING, locate
from ispca.datasets.registry import find

NOT_OBTAINED = {"glioma": "GLI_85.mat", "lung": "SMK_CAN_187.mat", "lung-5c": "lung.mat"}
PRESENT = [record.name for record in list_datasets() if record.name not in NOT_OBTAINED]
# The paper's table: name, n, D and number of classes.
PAPER = {
    "Ovarian": (54, 1536, 2),
    "Colon": (62, 2000, 2),
    "Prostate": (102, 5966, 2),
    "Leukemia": (72, 7129, 2),
    "Glioma": (85, 22283, 2),
    "Glioma-4c": (50, 4434, 4),
    "Lung": (187, 19993, 2),
    "Lung-5c": (203, 3312, 5),
    "Arcene": (200, 10000, 2),
    "Dexter": (600, 20000, 2),
    "Basehock": (1993, 4862, 2),
    "PCMac": (1943, 3289, 2),
}


def test_the_registry_holds_the_table_of_the_paper():
    found = {
        record.paper_name: (record.n, record.D, len(record.counts))
        for record in list_datasets()
        if record.paper_name
    }
    assert found == PAPER
    assert list(found) == list(PAPER)


def test_records_are_consistent():
    for record in list_datasets():
        assert record.preprocessing in PREPROCESSING
        assert sum(record.counts) == (record.n if record.is_classification else 0)
        assert (record.checksum is None) == (record.name in NOT_OBTAINED)
        assert record.stand_in_for is None or find(record.stand_in_for).checksum is None
        assert not (record.paper_name and record.stand_in_for)
        assert all(source.url.startswith("https://") for source in record.sources)
    assert {record.stand_in_for for record in list_datasets()} == {None, *NOT_OBTAINED}


@pytest.mark.parametrize("name", PRESENT)
def test_real_data(name, real_data):
    record = find(name)
    # The fixture does not know survival.
    X, y = (None, None) if record.target == "survival" else real_data(name)
    if X is None and not _is_there(name):
        pytest.skip("real data: set ISPCA_DATA to the folder with the .npz files")
    data = load(name, preprocess=False)
    assert data.data.shape == (record.n, record.D)
    assert data.data.dtype == float
    assert sp.issparse(data.data) == record.sparse
    assert data.feature_names.shape == (record.D,)
    assert "checksum of the arrays matches" in data.DESCR
    if X is not None:
        assert abs(data.data - X).max() == 0
        np.testing.assert_array_equal(data.target, y)
    if record.is_classification:
        assert sorted(np.bincount(data.target)) == sorted(record.counts)
        assert len(data.target_names) == len(record.counts)
    else:
        assert data.target_names is None


def _is_there(name):
    return locate(find(name)) is not None


def test_survival_target():
    if not _is_there("surv-beer"):
        pytest.skip("real data: set ISPCA_DATA to the folder with the .npz files")
    data = load("surv-beer")
    assert data.target.dtype.names == ("event", "time")
    assert data.target["event"].sum() == 24
    assert data.target["event"].dtype == bool
    assert (data.target["time"].min(), data.target["time"].max()) == pytest.approx((1.5, 110.6), abs=0.05)


def test_count_and_regression_targets(real_data):
    real_data("count-blog")
    data = load("count-blog")
    assert data.target.dtype.kind == "i"
    assert (data.target.min(), data.target.max()) == (0, 657)
    assert sorted(set(data.day)) == list(range(60))
    real_data("reg-riboflavin")
    data = load("reg-riboflavin")
    assert data.target.dtype == float
    assert data.feature_names[0] == "AADK_at"


def test_the_parts_of_dexter(real_data):
    real_data("dexter")
    assert np.bincount(load("dexter").split).tolist() == [300, 300]


@pytest.mark.parametrize(
    ("name", "formula"),
    [
        ("lung-5c-1543", lambda X: np.log2(X)),
        ("chowdary", lambda X: np.log2(X + 16)),
        ("gordon", lambda X: np.log2(np.maximum(X, 20))),
    ],
)
def test_raw_intensities_become_logs(name, formula, real_data):
    X, _ = real_data(name)
    data, raw = load(name), load(name, preprocess=False)
    np.testing.assert_allclose(data.data, formula(X))
    np.testing.assert_array_equal(raw.data, X)
    assert data.data.max() < 17
    assert "Preprocessing: log2(" in data.DESCR
    assert "NOT APPLIED" not in data.DESCR
    assert "NOT APPLIED" in raw.DESCR


@pytest.mark.parametrize("name", ["basehock", "pcmac", "dexter", "arcene", "prostate"])
def test_the_values_the_paper_uses_are_left_alone(name, real_data):
    X, _ = real_data(name)
    assert abs(load(name).data - X).max() == 0


def test_without_names_features_are_numbered(stored):
    assert load("tiny").feature_names.tolist() == [f"feature {j}" for j in range(1, 6)]
