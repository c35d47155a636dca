"""A local web server with the public file of a small data set, for tests of downloads."""

import threading
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from io import BytesIO

import numpy as np
import pytest
from scipy.io import savemat

from ispca.datasets.arrays import Arrays, checksum
from ispca.datasets.registry import Dataset, Source, all_datasets


@dataclass
class Server:
    """Files by name, and how to misbehave: the status, or bytes promised beyond those sent."""

    address: str = ""
    files: dict = field(default_factory=dict)
    status: int = 200
    missing_bytes: int = 0
    requests: list = field(default_factory=list)
    gate: threading.Barrier | None = None

    def url(self, name):
        return f"{self.address}/{name}"


@contextmanager
def serving():
    state = Server()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            name = self.path.lstrip("/")
            state.requests.append(name)
            if state.gate is not None:
                with suppress(threading.BrokenBarrierError):
                    state.gate.wait(timeout=60)
            body = state.files.get(name)
            status = 404 if body is None else state.status
            body = body if status == 200 else b"an error page"
            self.send_response(status)
            self.send_header("Content-Length", str(len(body) + state.missing_bytes))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *arguments):
            pass

    http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    state.address = f"http://127.0.0.1:{http.server_port}"
    thread = threading.Thread(target=http.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield state
    finally:
        http.shutdown()
        http.server_close()
        thread.join()


@pytest.fixture
def server(monkeypatch):
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with serving() as state:
        yield state


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """An empty cache, and no ISPCA_DATA."""
    folder = tmp_path / "cache"
    monkeypatch.setenv("ISPCA_CACHE", str(folder))
    monkeypatch.delenv("ISPCA_DATA", raising=False)
    return folder


@pytest.fixture
def mat_bytes():
    """Return the bytes of a .mat file as the feature-selection repository has them."""

    def write(X, y):
        file = BytesIO()
        savemat(file, {"X": X, "Y": np.asarray(y)[:, None]}, do_compression=True)
        return file.getvalue()

    return write


@pytest.fixture
def tiny(server, monkeypatch, mat_bytes):
    """A small two-class data set with a .mat file on the server."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(12, 5)).astype("f4").astype(float)
    y = np.repeat([1, 2], [5, 7])
    server.files["TINY.mat"] = mat_bytes(X, y)
    record = Dataset(
        name="tiny",
        title="small",
        n=12,
        D=5,
        target="binary",
        origin="made for the tests",
        study="none",
        scale="normal",
        counts=(5, 7),
        sources=(Source(server.url("TINY.mat"), "mat"),),
        checksum=checksum(Arrays(X, y - 1, np.array(["1", "2"]))),
    )
    monkeypatch.setitem(all_datasets(), "tiny", record)
    return record


@pytest.fixture
def register(monkeypatch):
    """Change a record of the registry for one test."""

    def change(name, **changes):
        record = replace(all_datasets()[name], **changes)
        monkeypatch.setitem(all_datasets(), name, record)
        return record

    return change
