"""PLINK genotypes: values as in bed-reader, the same fit as an array, and one clear error for each bad file."""

import pickle

import numpy as np
import pytest

from ispca import ISPCA
from ispca.containers import open_plink


def genotypes(n=61, n_variants=1500, missing=0.0, seed=0):
    """Return genotypes, of which the first ones depend on the class, and the classes."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 2
    frequency = np.full((n, n_variants), 0.3)
    frequency[:, :20] += 0.4 * y[:, None]
    X = rng.binomial(2, frequency).astype(np.float32)
    X[rng.uniform(size=X.shape) < missing] = np.nan
    return X, y


def write_bed(path, X, names=None):
    """Write genotypes with their .fam and .bim, independently of bed-reader."""
    n, n_variants = X.shape
    codes = np.full((n_variants, -(-n // 4) * 4), 0, dtype=np.uint8)
    codes[:, :n] = np.where(np.isnan(X), 1, 3 - X - (X > 1)).T
    packed = (codes.reshape(n_variants, -1, 4) << np.array([0, 2, 4, 6], dtype=np.uint8)).sum(axis=2)
    path.write_bytes(bytes([0x6C, 0x1B, 1]) + packed.astype(np.uint8).tobytes())
    path.with_suffix(".fam").write_text("".join(f"f{i} s{i} 0 0 0 -9\n" for i in range(n)))
    names = [f"rs{j}" for j in range(n_variants)] if names is None else names
    lines = (f"{j % 22 + 1}\t{name}\t0\t{100 + j}\tA\tG\n" for j, name in enumerate(names))
    path.with_suffix(".bim").write_text("".join(lines))
    return path


@pytest.fixture
def bed(tmp_path):
    return write_bed(tmp_path / "x.bed", genotypes(missing=0.02)[0])


@pytest.mark.parametrize("n", [60, 61, 62, 63])
def test_values_are_those_of_bed_reader(tmp_path, n):
    reader = pytest.importorskip("bed_reader")
    X, _ = genotypes(n, 300, missing=0.1)
    path = write_bed(tmp_path / "x.bed", X)
    with reader.open_bed(path, count_A1=True) as file:
        expected, names, samples = file.read(dtype="float32"), file.sid, file.iid
    opened = open_plink(path)
    np.testing.assert_array_equal(opened.take(slice(None)), expected)
    np.testing.assert_array_equal(expected, X)
    assert opened.names.tolist() == names.tolist()
    assert opened.sample_names.tolist() == samples.tolist()
    chosen = [299, 3, 4, 5, 17, 3]
    np.testing.assert_array_equal(opened.take(chosen), expected[:, chosen])


def test_same_fit_as_an_array_in_memory(tmp_path):
    X, y = genotypes()
    opened = open_plink(write_bed(tmp_path / "x.bed", X))
    expected = ISPCA(4, random_state=0).fit(X, y)
    found = ISPCA(4, random_state=0, memory_budget=2**20).fit(opened, y)
    assert found.n_supervised_ == expected.n_supervised_ >= 1
    np.testing.assert_allclose(found.components_, expected.components_, atol=1e-9)
    np.testing.assert_allclose(found.transform(opened), expected.transform(X), atol=1e-8)
    assert found.feature_names_in_[:2].tolist() == ["rs0", "rs1"]


def test_missing_genotypes_are_replaced_by_the_mean_or_named(tmp_path):
    X, y = genotypes()
    X[5, 1234] = X[7, 3] = np.nan
    opened = open_plink(write_bed(tmp_path / "x.bed", X))
    with pytest.raises(ValueError, match=r"2 values in 2 columns, rs3 \(1\), rs1234 \(1\)\..*missing='mean'"):
        ISPCA(3).fit(opened, y)
    settings = {"n_components": 3, "missing": "mean", "random_state": 0}
    found, expected = ISPCA(**settings).fit(opened, y), ISPCA(**settings).fit(X, y)
    np.testing.assert_allclose(found.components_, expected.components_, atol=1e-9)


def test_variants_without_a_name_are_named_by_position(tmp_path):
    X, _ = genotypes(n_variants=3)
    opened = open_plink(str(write_bed(tmp_path / "x.bed", X, names=["rs7", ".", "."])))
    assert opened.names.tolist() == ["rs7", "2:101", "3:102"]


def test_an_opened_file_is_small_when_pickled(bed):
    opened = open_plink(bed)
    assert len(pickle.dumps(opened)) < 40 * sum(opened.shape)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(opened)).take([1]), opened.take([1]))


def damaged(bed, what):
    content = bed.read_bytes()
    changed = {
        "truncated": content[:-1],
        "too long": content + b"\0",
        "not a bed file": b"PK" + content[2:],
        "empty": b"",
        "sample-major": content[:2] + b"\0" + content[3:],
        "order": content[:2] + b"\7" + content[3:],
    }
    bed.write_bytes(changed[what])


@pytest.mark.parametrize(
    ("what", "message"),
    [
        ("truncated", r"x.bed is truncated: it has 24,002 bytes, but 61 samples in .* need 24,003"),
        ("too long", r"x.bed is too large: it has 24,004 bytes"),
        ("not a bed file", "Could not read x.bed as PLINK genotypes"),
        ("empty", "Could not read x.bed as PLINK genotypes"),
        ("sample-major", "x.bed is in sample-major order, which is out of use. Convert it with: plink --make-bed"),
        ("order", "x.bed is in an unknown order"),
    ],
)
def test_damaged_files_are_refused(bed, what, message):
    damaged(bed, what)
    with pytest.raises(ValueError, match=message):
        open_plink(bed)


@pytest.mark.parametrize("suffix", [".fam", ".bim"])
def test_files_that_do_not_fit_are_refused(bed, suffix):
    other = bed.with_suffix(suffix)
    lines = other.read_text().splitlines(keepends=True)
    other.write_text("".join(lines[:-5]))
    with pytest.raises(ValueError, match=r"Use the three files of one data set"):
        open_plink(bed)
    other.write_text("".join([*lines[:6], "a b\n", *lines[7:]]))
    with pytest.raises(ValueError, match=rf"Line 7 of x{suffix} has 2 fields instead of 6"):
        open_plink(bed)
    other.write_text("")
    with pytest.raises(ValueError, match=rf"x{suffix} is empty"):
        open_plink(bed)
    other.unlink()
    with pytest.raises(ValueError, match=rf"x.bed needs x{suffix} in the same folder"):
        open_plink(bed)


def test_a_file_that_shrinks_while_it_is_used_is_an_error(bed):
    opened = open_plink(bed)
    bed.write_bytes(bed.read_bytes()[:-100])
    with pytest.raises(OSError, match=r"Could not read columns 1,400 to 1,499 of x.bed: the file ends too early"):
        opened.take(slice(1400, 1500))
