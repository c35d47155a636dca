"""The real download code against a local server that misbehaves in every way."""

import hashlib
import os
import subprocess
import sys
import textwrap
import threading
from dataclasses import replace

import numpy as np
import pytest

from ispca.datasets import DatasetError
from ispca.datasets import load as load_stored
from ispca.datasets.registry import Source, find
from paper import download
from paper.download import main, obtain

pytest.importorskip("pooch")


def load(name, **options):
    """Download a data set, and load it."""
    obtain(find(name), **options)
    return load_stored(name)


def nothing_left(folder):
    return not folder.exists() or not list(folder.iterdir())


def test_a_download_is_converted_verified_and_cached(tiny, cache, server):
    data = load("tiny")
    assert data.data.shape == (12, 5)
    assert data.target.tolist() == [0] * 5 + [1] * 7
    assert data.target_names.tolist() == ["1", "2"]
    assert "checksum of the arrays matches" in data.DESCR
    assert [path.name for path in cache.iterdir()] == ["tiny.npz"]
    again = load_stored("tiny")
    np.testing.assert_array_equal(again.data, data.data)
    assert server.requests == ["TINY.mat"]


def test_a_truncated_download(tiny, cache, server):
    server.missing_bytes = 1000
    with pytest.raises(DatasetError, match=r"Could not download tiny: the download of .*TINY.mat was interrupted"):
        load("tiny")
    assert nothing_left(cache)


@pytest.mark.parametrize("kept", [0, 40, 200])
def test_a_file_that_was_cut_on_the_server(tiny, cache, server, kept):
    server.files["TINY.mat"] = server.files["TINY.mat"][:kept]
    with pytest.raises(DatasetError, match=r"Could not read TINY.mat as the mat file of tiny"):
        load("tiny")
    assert nothing_left(cache)


def test_a_wrong_checksum_of_the_file(tiny, cache, server, register):
    register("tiny", sources=(Source(server.url("TINY.mat"), "mat", sha256="0" * 64),))
    with pytest.raises(DatasetError, match=r"the checksum of .* does not match"):
        load("tiny")
    assert nothing_left(cache)


def test_a_wrong_checksum_of_the_arrays(tiny, cache, register):
    register("tiny", checksum="0" * 64)
    with pytest.raises(DatasetError, match="the checksum of its arrays does not match"):
        load("tiny")
    assert nothing_left(cache)


@pytest.mark.parametrize("status", [404, 500, 503])
def test_a_server_error(tiny, cache, server, status):
    server.status = status
    with pytest.raises(DatasetError, match=f"returned {status} for http"):
        load("tiny")
    assert nothing_left(cache)
    assert len(server.requests) == 1


def test_no_connection(tiny, cache, register):
    # Port 9 (discard) is not served on the loopback.
    register("tiny", sources=(Source("http://127.0.0.1:9/TINY.mat", "mat"),))
    with pytest.raises(DatasetError, match=r"could not connect to 127.0.0.1:9.*Download TINY.mat with a browser"):
        load("tiny")
    assert nothing_left(cache)


def test_a_server_that_does_not_answer(tiny, cache, server, monkeypatch):
    server.gate = threading.Barrier(2)
    monkeypatch.setattr(download, "TIMEOUT", 0.2)
    with pytest.raises(DatasetError, match=r"127.0.0.1:\d+ did not respond within"):
        load("tiny")
    server.gate.abort()
    assert nothing_left(cache)


def test_the_second_source_is_tried(tiny, cache, server, register):
    register("tiny", sources=(Source(server.url("gone.mat"), "mat"), *tiny.sources))
    assert load("tiny").data.shape == (12, 5)
    assert server.requests == ["gone.mat", "TINY.mat"]


def test_all_failures_are_named_in_one_line(tiny, cache, server, register):
    register("tiny", sources=(Source(server.url("gone.mat"), "mat"), Source(server.url("lost.mat"), "mat")))
    with pytest.raises(DatasetError, match=r"404 for .*gone.mat; .*404 for .*lost.mat") as failure:
        load("tiny")
    assert "\n" not in str(failure.value)


def test_a_data_set_without_download_says_what_to_do(cache):
    with pytest.raises(DatasetError, match=r"no direct download .*Put lung-5c-1543.npz into the folder"):
        load("lung-5c-1543")


def test_known_hash(tiny, cache, server):
    right = hashlib.sha256(server.files["TINY.mat"]).hexdigest()
    with pytest.raises(DatasetError, match=r"the checksum of .* does not match"):
        load("tiny", known_hash="0" * 64)
    assert load("tiny", known_hash=right).data.shape == (12, 5)
    assert load("tiny", known_hash=f"sha256:{right}").data.shape == (12, 5)


def test_without_pooch(tiny, cache, monkeypatch):
    monkeypatch.setitem(sys.modules, "pooch", None)
    with pytest.raises(ImportError, match=r"pip install pooch"):
        load("tiny")
    monkeypatch.delenv("ISPCA_CACHE")
    with pytest.raises(DatasetError, match=r"Set ISPCA_DATA or ISPCA_CACHE"):
        load("tiny")


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="root writes everywhere")
def test_a_cache_that_cannot_be_written(tiny, cache):
    cache.mkdir()
    cache.chmod(0o500)
    with pytest.raises(DatasetError, match="Cannot write to"):
        load("tiny")


def test_a_cache_that_is_a_file(tiny, cache):
    cache.write_text("not a folder")
    with pytest.raises(DatasetError, match="Cannot write to"):
        load("tiny")


PROGRAM = textwrap.dedent("""
    import sys
    from ispca.datasets import load
    from ispca.datasets.registry import Dataset, Source, all_datasets
    from paper.download import obtain

    url, checksum = sys.argv[1:]
    all_datasets()["tiny"] = Dataset(
        name="tiny", title="", n=12, D=5, target="binary", origin="", study="", scale="", counts=(5, 7),
        sources=(Source(url, "mat"),), checksum=checksum,
    )
    obtain(all_datasets()["tiny"])
    data = load("tiny")
    print(data.data.sum().hex(), "arrays matches" in data.DESCR)
""")


@pytest.mark.slow
def test_two_processes_download_at_once(tiny, cache, server):
    # No answer before both have asked, so that both are in the middle of it.
    server.gate = threading.Barrier(2)
    command = [sys.executable, "-c", PROGRAM, tiny.sources[0].url, tiny.checksum]
    processes = [
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) for _ in range(2)
    ]
    results = [process.communicate(timeout=120) for process in processes]
    assert [process.returncode for process in processes] == [0, 0], results
    assert results[0] == results[1]
    assert results[0][0].endswith("True\n")
    assert server.requests == ["TINY.mat"] * 2
    assert [path.name for path in cache.iterdir()] == ["tiny.npz"]


def test_the_command_downloads(tiny, cache, server, capsys):
    assert main(["tiny"]) == 0
    assert capsys.readouterr().out == f"{cache / 'tiny.npz'}\n"
    server.status = 500
    assert main(["tiny"]) == 1
    assert capsys.readouterr().err.startswith("Could not download tiny")
    assert main(["tin"]) == 1
    assert "Did you mean tiny" in capsys.readouterr().err


@pytest.mark.parametrize(("name", "filename"), {"glioma": "GLI_85.mat", "lung-5c": "lung.mat"}.items())
def test_sets_without_a_checksum(name, filename, cache, server, register, mat_bytes):
    record = find(name)
    assert [source.filename for source in record.sources] == [filename]
    counts = tuple(range(2, 2 + len(record.counts)))
    n = sum(counts)
    X = np.random.default_rng(0).normal(size=(n, 7)).astype("f4").astype(float)
    server.files[filename] = mat_bytes(X, np.repeat(np.arange(len(counts)) + 1, counts))
    local = tuple(replace(source, url=server.url(filename)) for source in record.sources)
    register(name, sources=local)
    with pytest.raises(DatasetError, match=f"it is {n} x 7 instead of {record.n} x {record.D}"):
        load(name)
    assert not list(cache.iterdir())
    register(name, sources=local, n=n, D=7, counts=counts)
    data = load(name)
    np.testing.assert_array_equal(data.data, X)
    assert "NOT verified by checksum" in data.DESCR.replace("\n  ", " ")
