"""Arrays in files: conversion, chunks, scratch copies, and what goes wrong with files."""

import errno
import os
import shutil
import signal
import subprocess
import sys
import tempfile

import numpy as np
import pytest

from ispca import ISPCA
from ispca.containers import scratch, stored_array, wrap_container
from ispca.containers.scratch import ScratchColumns
from ispca.containers.source import FEATURE_VECTORS, block_width, reading_text
from ispca.reduction.design.partitioned import project_source

h5py = pytest.importorskip("h5py")
zarr = pytest.importorskip("zarr", minversion="3")

rng = np.random.default_rng(0)
X = rng.normal(size=(40, 3000)).astype(np.float32)
y = np.arange(40) % 2
SMALL = 2**20


def in_zarr(folder, values=X, chunks=None, **options):
    place, chunks = str(folder / "X.zarr"), chunks or values.shape
    array = zarr.create_array(place, shape=values.shape, chunks=chunks, dtype=values.dtype, **options)
    array[:] = values
    return array


def in_hdf5(folder, values=X, **options):
    return h5py.File(folder / "X.h5", "w").create_dataset("X", data=values, **options)


def in_rows(folder, values=X):
    return in_hdf5(folder, values, chunks=(3, values.shape[1]), compression="gzip")


@pytest.fixture
def scratch_folder(tmp_path, monkeypatch):
    folder = tmp_path / "scratch"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


@pytest.mark.parametrize("dtype", [bool, np.uint8, np.int64, np.float16, ">f4", np.float32, np.float64])
@pytest.mark.parametrize("make", [in_hdf5, in_zarr, in_rows], ids=lambda make: make.__name__)
def test_any_columns_of_any_type(tmp_path, make, dtype):
    values = (8 * X[:, :700]).astype(dtype)
    source = wrap_container(make(tmp_path, values)).arrange(SMALL)
    kind = np.float64 if dtype is np.float16 else np.dtype(dtype).newbyteorder("=")
    for columns in (slice(0, 512), slice(512, 700), np.array([0, 1, 5, 511, 512, 699]), np.array([], int)):
        found = source.read(columns)
        assert found.dtype == kind
        np.testing.assert_array_equal(found, values[:, columns])


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("mode", ["r", "c"])
def test_views_of_memory_maps(tmp_path, order, mode):
    path = tmp_path / "X.npy"
    np.save(path, np.asarray(X, order=order))
    mapped = np.load(path, mmap_mode=mode)
    if mode == "c":
        mapped[5, 7] = 99.0  # a change that the file does not have
    for view in (mapped, mapped[3:, 10:], mapped[::2], mapped[:, ::3], mapped.T, mapped[:, ::-1], mapped[4:5]):
        for columns in (slice(1, 4), np.array([0, 3, 4])):
            np.testing.assert_array_equal(wrap_container(view).read(columns), np.asarray(view)[:, columns])


def test_memory_maps_are_not_held_in_memory(tmp_path):
    values = np.lib.format.open_memmap(tmp_path / "X.npy", "w+", np.float32, (64, 2**19))
    values[:, ::1024] = 1.0
    source = wrap_container(np.load(tmp_path / "X.npy", mmap_mode="r"))
    del values

    def resident():
        with open("/proc/self/smaps_rollup") as file:
            return next(int(line.split()[1]) for line in file if line.startswith("Rss"))

    if not os.path.exists("/proc/self/smaps_rollup"):
        pytest.skip("needs Linux")
    before = resident()
    for start in range(0, 2**19, 2**15):
        source.read(slice(start, start + 2**15))
    assert resident() - before < 40_000  # of 131,072 kilobytes


def test_blocks_consist_of_whole_chunks(tmp_path):
    source = wrap_container(in_zarr(tmp_path, chunks=(40, 300)))
    vectors = 8 * FEATURE_VECTORS * 3000
    assert block_width(source, vectors + 8 * 2000 * 160) == 1800
    assert block_width(source, 8 * 200 * 160) == 512  # no chunk fits
    assert block_width(wrap_container(in_hdf5(tmp_path)), vectors + 8 * 2000 * 160) == 1536


def test_chunks_of_rows_are_copied_once(tmp_path, scratch_folder, capsys):
    rows = in_rows(tmp_path)
    source = wrap_container(rows).arrange(SMALL)
    assert isinstance(source, ScratchColumns)
    assert source.original.n_columns_read == pytest.approx(3000)
    assert not list(scratch_folder.iterdir())
    # One block holds all of it: nothing is read twice.
    assert not isinstance(wrap_container(rows).arrange(2**26), ScratchColumns)
    found = ISPCA(3, random_state=0, memory_budget=SMALL, cross_fit=3, verbose=1).fit(rows, y)
    printed = capsys.readouterr().out
    assert "[ISPCA] read X 1.0 times (0.00048 GB) from dataset /X of X.h5 and " in printed
    expected = ISPCA(3, random_state=0, cross_fit=3).fit(X, y)
    np.testing.assert_allclose(found.components_, expected.components_, atol=1e-5)


@pytest.mark.parametrize("span", [2**13, 2**26])
def test_new_samples_in_chunks_of_rows_are_read_once(tmp_path, monkeypatch, span):
    monkeypatch.setattr(stored_array, "LARGEST_SPAN", span)
    source = wrap_container(in_zarr(tmp_path, chunks=(3, 1100)))
    mean, weights = rng.normal(size=3000), rng.normal(size=(3000, 2))
    found = project_source(source, mean, weights, memory_budget=SMALL)
    np.testing.assert_allclose(found, (X - mean) @ weights, atol=1e-9)
    assert source.n_columns_read == pytest.approx(3000)


def test_tiles_need_not_hold_whole_rows(tmp_path, scratch_folder):
    source = wrap_container(in_zarr(tmp_path, chunks=(8, 1100)))
    copy = ScratchColumns(source, 512, 4 * 4 * 8 * 1100)
    np.testing.assert_array_equal(copy.read(slice(0, 3000)), X)
    np.testing.assert_array_equal(copy.take([2999, 3, 511, 512]), X[:, [2999, 3, 511, 512]])
    assert reading_text(source).startswith("1.0 times")


def test_too_little_space_is_said_first(tmp_path, scratch_folder, monkeypatch):
    usage = shutil.disk_usage(tmp_path)._replace(free=1000)
    monkeypatch.setattr(scratch.shutil, "disk_usage", lambda folder: usage)
    with pytest.raises(OSError, match=r"scratch copy of 480,000 bytes.*the folder .*scratch has too little space"):
        ISPCA(2, memory_budget=SMALL).fit(in_rows(tmp_path), y)


@pytest.mark.parametrize("error", [OSError(errno.ENOSPC, "No space left on device"), KeyboardInterrupt()])
def test_nothing_is_left_of_a_copy_that_failed(tmp_path, scratch_folder, monkeypatch, error):
    files = []

    def failing(file, *_):
        files.append(file)
        raise error

    monkeypatch.setattr(scratch, "write_rows", failing)
    match = "Set TMPDIR to a folder with more" if isinstance(error, OSError) else None
    with pytest.raises(type(error), match=match):
        ISPCA(2, memory_budget=SMALL).fit(in_rows(tmp_path), y)
    assert files[0].closed
    assert not list(scratch_folder.iterdir())


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="needs signals")
def test_an_interrupted_fit_leaves_no_scratch_file(tmp_path, scratch_folder):
    in_rows(tmp_path).file.close()
    code = (
        "import sys, h5py, numpy as np, ispca.containers.scratch as scratch\n"
        "from ispca import ISPCA\n"
        "load = scratch.ScratchColumns.load\n"
        "def slow(self, columns):\n"
        "    print('reading', flush=True)\n"
        "    import time; time.sleep(0.3)\n"
        "    return load(self, columns)\n"
        "scratch.ScratchColumns.load = slow\n"
        "ISPCA(2, memory_budget=2**20).fit(h5py.File(sys.argv[1])['X'], np.arange(40) % 2)\n"
    )
    environment = os.environ | {"TMPDIR": str(scratch_folder)}
    command = [sys.executable, "-c", code, str(tmp_path / "X.h5")]
    with subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as run:
        assert run.stdout.readline() == "reading\n"
        run.send_signal(signal.SIGINT)
        run.communicate(timeout=60)
    assert run.returncode != 0
    assert not list(scratch_folder.iterdir())


def test_missing_values_are_named_by_column(tmp_path):
    values = X.copy()
    values[7, 2811] = np.nan  # in the last but one of the blocks
    with pytest.raises(ValueError, match=r"1 value in 1 column, 2811 \(1\)"):
        ISPCA(2, memory_budget=SMALL).fit(in_hdf5(tmp_path, values), y)


def test_a_damaged_chunk_is_named(tmp_path):
    array = in_zarr(tmp_path, chunks=(40, 512))
    (tmp_path / "X.zarr" / "c" / "0" / "2").write_bytes(b"damaged")
    with pytest.raises(OSError, match=r"Could not read columns 1,024 to 1,535 of Zarr array X\.zarr"):
        ISPCA(2, memory_budget=SMALL).fit(array, y)


def test_a_folder_that_disappears(tmp_path):
    array = in_zarr(tmp_path, chunks=(40, 512))
    shutil.rmtree(tmp_path / "X.zarr")
    with pytest.raises(OSError, match=r"Could not read columns 0 to .*X\.zarr no longer exists"):
        ISPCA(2, memory_budget=SMALL).fit(array, y)


@pytest.mark.parametrize("change", ["deleted", "cut short"])
def test_a_file_that_disappears(tmp_path, change):
    np.save(tmp_path / "X.npy", X)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    if change == "deleted":
        (tmp_path / "X.npy").unlink()
    else:
        os.truncate(tmp_path / "X.npy", 200_000)
    match = "No such file" if change == "deleted" else "the file ends after"
    with pytest.raises(OSError, match=rf"Could not read columns 0 to .* of X\.npy: .*{match}"):
        ISPCA(2, memory_budget=SMALL).fit(mapped, y)


def test_a_file_that_is_closed_or_resized(tmp_path):
    data = h5py.File(tmp_path / "X.h5", "w").create_dataset("X", data=X, maxshape=(None, 3000), chunks=(40, 500))
    source = wrap_container(data)
    data.resize((39, 3000))
    with pytest.raises(ValueError, match="expected 40 samples of float32, but read 39 of float32"):
        source.read(slice(0, 10))
    data.file.close()
    with pytest.raises(OSError, match="the file has been closed"):
        source.read(slice(0, 10))
    with pytest.raises(ValueError, match="an HDF5 file that is closed: keep the file open"):
        ISPCA(2).fit(data, y)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (X[0], "has 1 dimension, not two: pass samples in rows"),
        (X[None], "has 3 dimensions, not two"),
        (np.float32(3), "has no dimensions"),
        (X[:, :0], "is empty: it has 40 samples and 0 features"),
        (X[:0], "is empty: it has 0 samples and 3,000 features"),
        (np.full((40, 3), b"text"), "holds |S4 values, not real numbers: convert it"),
        (X[:, :3] + 1j, "holds complex64 values"),
    ],
)
def test_arrays_that_cannot_be_used(tmp_path, values, message):
    with pytest.raises(ValueError, match=message.replace("|", r"\|")):
        ISPCA(2).fit(in_hdf5(tmp_path, np.asarray(values)), y)


def test_objects_cannot_be_used(tmp_path):
    data = h5py.File(tmp_path / "X.h5", "w").create_dataset("X", (40, 3), dtype=h5py.string_dtype())
    with pytest.raises(ValueError, match="holds object values, not real numbers"):
        ISPCA(2).fit(data, y)
