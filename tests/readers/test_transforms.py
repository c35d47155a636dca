"""Transformations of raw scales, and how these are recognized."""

import numpy as np
import pytest
import scipy.sparse as sp

from ispca.readers import TableError, read_table
from ispca.readers.subsets_and_transforms import TRANSFORMS, apply_transform, recognize_scale
from ispca.readers.table import SampleColumns

RAW = np.array([[0.0, 1.0, 3.0], [10.0, 0.0, 90.0]])
EXPECTED = {
    "none": RAW,
    "log1p": np.log(RAW + 1),
    "log2": np.log2(RAW + 1),
    "cpm-log": np.log2(RAW / np.array([[4.0], [100.0]]) * 1e6 + 1),
    "binary": np.array([[0.0, 1.0, 1.0], [1.0, 0.0, 1.0]]),
}


@pytest.mark.parametrize("name", TRANSFORMS)
def test_dense_and_sparse(name):
    before = RAW.copy()
    np.testing.assert_allclose(apply_transform(RAW, name), EXPECTED[name])
    sparse = apply_transform(sp.csr_array(RAW), name)
    assert sparse.nnz == 4
    np.testing.assert_allclose(sparse.toarray(), EXPECTED[name])
    np.testing.assert_array_equal(RAW, before)


@pytest.mark.parametrize("container", [np.array, sp.csr_array])
def test_covariates_stay_as_they_are(container):
    covariates = np.array([False, True, False])
    found = apply_transform(container(RAW), "cpm-log", covariates)
    found = found if isinstance(found, np.ndarray) else found.toarray()
    np.testing.assert_array_equal(found[:, 1], RAW[:, 1])
    features = RAW[:, [0, 2]]
    expected = np.log2(features / features.sum(axis=1, keepdims=True) * 1e6 + 1)
    np.testing.assert_allclose(found[:, [0, 2]], expected)


def test_missing_values_stay_missing_and_do_not_count():
    X = np.array([[1.0, np.nan, 3.0]])
    np.testing.assert_allclose(apply_transform(X, "cpm-log"), np.log2(X / 4 * 1e6 + 1))
    assert np.isnan(apply_transform(X, "binary")[0, 1])
    # A sample without any count has no library size.
    assert apply_transform(np.zeros((1, 2)), "cpm-log").tolist() == [[0.0, 0.0]]


@pytest.mark.parametrize("name", ["log1p", "log2", "cpm-log"])
def test_negative_values_have_no_logarithm(name):
    with pytest.raises(TableError, match=f"negative values, such as -2, .* Leave out transform='{name}'"):
        apply_transform(np.array([[1.0, -2.0]]), name)
    assert apply_transform(np.array([[1.0, -2.0]]), "binary").tolist() == [[1.0, 0.0]]


def test_unknown_transformation():
    with pytest.raises(TableError, match="transform must be one of 'none', 'log1p'"):
        apply_transform(RAW, "sqrt")


def write(path, rows):
    path.write_text("\n".join(",".join(map(str, row)) for row in rows) + "\n")
    return path


def test_read_table_transforms_features_only(tmp_path):
    rows = [["id", "g1", "g2", "age", "state"]]
    rows += [[f"s{i}", i, 10 * i, 50 + 1.5 * i, "ab"[i % 2]] for i in range(1, 9)]
    path = write(tmp_path / "data.csv", rows)
    options = {"target": "state", "columns": SampleColumns(covariates=("age",))}
    plain = read_table(path, **options)
    table = read_table(path, **options, transform="log2")
    assert (plain.transform, table.transform) == ("none", "log2")
    np.testing.assert_array_equal(plain.X[:, 2], table.X[:, 2])
    np.testing.assert_allclose(table.X[:, :2], np.log2(plain.X[:, :2] + 1))


@pytest.mark.parametrize("missing", ["mean", "columns"])
def test_missing_values_and_library_sizes(missing, tmp_path):
    rows = [["id", "g1", "g2", "g3", "state"]]
    rows += [["a", 1, "NA", 1, "x"], ["b", 1, 1, 2, "y"], ["c", 1, 1, 1, "x"], ["d", 3, 3, 3, "y"]]
    table = read_table(write(tmp_path / "d.csv", rows), target="state", missing=missing, transform="cpm-log")
    if missing == "mean":
        # The mean of the transformed values, not the transformed mean.
        shares = np.array([1 / 4, 1 / 3, 1 / 3])
        np.testing.assert_allclose(table.X[0, 1], np.log2(1e6 * shares + 1).mean())
    else:
        # Columns that are left out do not count for the library size.
        assert table.features.tolist() == ["g1", "g3"]
        np.testing.assert_allclose(table.X[1], np.log2(1e6 * np.array([1, 2]) / 3 + 1))


def counts(rng, n=30, D=300):
    depth = rng.uniform(0.5, 2.0, (n, 1))
    return rng.poisson(depth * rng.lognormal(3, 2, (1, D)) * rng.gamma(5, 0.2, (n, D))).astype(float)


def intensities(rng, n=30, D=300):
    return np.exp(rng.normal(5, 2, (1, D)) + 0.5 * rng.normal(size=(n, D)))


def test_raw_scales_are_recognized(rng):
    X = counts(rng)
    found = recognize_scale(X)
    assert found.kind == "counts"
    assert f"integers up to {X.max():,.0f}, library sizes from {X.sum(axis=1).min():,.0f} to" in found.sentence
    assert recognize_scale(sp.csr_array(X)) == found
    found = recognize_scale(intensities(rng))
    assert found.kind == "intensities"
    assert "look like raw intensities (positive values with median" in found.sentence
    # They need not range over three orders of magnitude, nor be positive after subtraction of a background.
    narrow = np.maximum(np.exp(rng.normal(4, 1.3, (1, 300)) + 0.5 * rng.normal(size=(30, 300))), 10.0)
    assert np.quantile(narrow, 0.999) < 1000 * 10
    below = intensities(rng) - rng.normal(20, 5, (30, 300))
    for X, negative in ((narrow, False), (below, True)):
        assert recognize_scale(X)[::2] == ("intensities", negative)
        assert recognize_scale(np.log2(np.maximum(X, 8))).kind == "other"


@pytest.mark.parametrize("limit", [0, 10])
def test_rounded_intensities_with_a_limit_are_no_counts(limit, rng):
    X = np.maximum(np.round(intensities(rng)) - 20, limit)
    assert 0.01 < np.mean(limit == X) < 0.5
    assert recognize_scale(X).kind == recognize_scale(sp.csr_array(X)).kind == "intensities"
    # Counts of features that are present in all samples have no zeros, either.
    filtered = counts(rng, D=3000)
    filtered = filtered[:, (filtered > 0).all(axis=0)]
    assert recognize_scale(filtered).kind == recognize_scale(filtered + 1).kind == "counts"


def test_single_cells_are_counts(rng):
    depth = rng.lognormal(0, 0.5, (200, 1))
    X = rng.poisson(depth * rng.lognormal(-2, 2, (1, 500)))
    assert recognize_scale(sp.csr_array(X.astype(float))).kind == "counts"


def test_other_scales_are_not_recognized(rng):
    raw, intensity = counts(rng), intensities(rng)
    # Clinical columns, each symmetric in a unit of its own.
    units = np.exp(rng.normal(5, 3, (1, 100))) * (10 + rng.normal(size=(40, 100)))
    others = {
        "logarithms of counts": np.log2(raw + 1),
        "counts per million": apply_transform(raw, "cpm-log"),
        "logarithms": np.log2(intensity),
        "centered": intensity - intensity.mean(axis=0),
        "normal": rng.normal(size=(30, 300)),
        "fractions": rng.beta(0.5, 0.5, (30, 300)),
        "abundances": raw / raw.sum(axis=1, keepdims=True),
        "genotypes": rng.integers(0, 3, (30, 300)).astype(float),
        "pixels": rng.integers(0, 256, (30, 300)).astype(float),
        "units": units,
        "few columns": raw[:, :40],
        "zeros": np.zeros((30, 300)),
        "no samples": np.zeros((0, 300)),
    }
    assert {name: recognize_scale(X).kind for name, X in others.items()} == dict.fromkeys(others, "other")
