"""The server of ``ispca app`` for tests: inside this process without workers, or as a process of its own."""

import http.client
import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from urllib.parse import quote

import numpy as np
from starlette.testclient import TestClient

from ispca.app.server import make_app
from ispca.app.server_settings import ServerSettings
from ispca.app.store import RunStore

PORT, TOKEN = 8000, "the-token"
HOST = f"127.0.0.1:{PORT}"
OWN = {"Origin": f"http://{HOST}"}
# A run of a second.
FAST = {"target": "state", "bags": 0, "draws": 20, "components": 1, "cv": 0}
PATIENCE = 120.0


def table(samples=24, features=5, seed=0):
    """Return a CSV file with a two-class target, as bytes."""
    rng = np.random.default_rng(seed)
    X, ill = rng.normal(size=(samples, features)), np.arange(samples) % 2
    X[:, 0] += 3 * ill
    lines = [",".join(["sample", *(f"g{j}" for j in range(features)), "state"])]
    for i, row in enumerate(X):
        lines.append(",".join([f"s{i}", *(f"{value:.3f}" for value in row), "ill" if ill[i] else "well"]))
    return "\n".join(lines).encode() + b"\n"


def make_settings(folder, **changes):
    for name in ("runs", "uploads"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    return ServerSettings(**{"folder": folder, "port": PORT, "max_runs": 1} | changes)


def make_client(settings, admitted=True):
    """Return a browser of a server in this process, and the store of the server."""
    store = RunStore(settings.folder / "ispca.sqlite")
    app = make_app(settings, store, {TOKEN: bool})
    client = TestClient(app, base_url=f"http://{HOST}", follow_redirects=False, raise_server_exceptions=False)
    if admitted:
        assert client.get(f"/?token={TOKEN}").status_code == 200
        client.headers.update(OWN)
    return client, store


def upload(client, content=b"a,b\n1,2\n", name="x.csv"):
    return client.post(f"/api/uploads?name={quote(name, safe='')}", content=content)


class Server:
    """A running ``ispca app``, and a browser for it."""

    def __init__(
        self, folder: Path, *options: str, program=("-m", "ispca"), browser: bool = False, **popen
    ) -> None:
        command = [sys.executable, *program, "app", "--folder", str(folder), *options]
        command += [] if browser else ["--no-browser"]
        self.folder = folder
        self.process = subprocess.Popen(command, stdout=-1, stderr=-1, text=True, **popen)
        self.host, self.token, self.cookie = "", "", ""
        self.read_address()
        if self.token:
            self.admit()

    def read_address(self):
        """Read the address that is printed, the next one after each use."""
        found = re.search(r"http://([^/]+)/(?:\?token=(\S+))?", self.process.stdout.readline())
        assert found, self.process.communicate()[1]
        self.host, self.token = found[1], found[2]

    def admit(self):
        _, headers, _ = self.request("GET", f"/?token={self.token}")
        self.cookie = headers["set-cookie"].split(";")[0]
        self.read_address()

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.stop()

    def stop(self, number=signal.SIGTERM):
        """Stop the server; return its exit code and what it printed to standard error."""
        if self.process.poll() is None:
            self.process.send_signal(number)
        _, said = self.process.communicate(timeout=60)
        return self.process.returncode, said

    def request(self, method, path, body=None):
        connection = http.client.HTTPConnection(self.host, timeout=PATIENCE)
        try:
            headers = {"Origin": f"http://{self.host}", "Cookie": self.cookie}
            connection.request(method, path, body, headers)
            answer = connection.getresponse()
            return answer.status, {name.lower(): value for name, value in answer.getheaders()}, answer.read()
        finally:
            connection.close()

    def api(self, method, path, given=None):
        status, _, body = self.request(method, f"/api{path}", None if given is None else json.dumps(given))
        return status, json.loads(body) if body else None

    def upload(self, content, name="tiny.csv"):
        status, _, body = self.request("POST", f"/api/uploads?name={name}", content)
        assert status == 201, body
        return json.loads(body)["id"]

    def fit(self, content, **options):
        status, found = self.api("POST", "/runs", {"matrix": self.upload(content), "options": FAST | options})
        assert status == 201, found
        return found["id"]

    def run(self, id):
        return self.api("GET", f"/runs/{id}")[1]

    def wait(self, id, reached=lambda run: run["state"] not in ("queued", "running")):
        return wait_for(lambda: reached(run := self.run(id)) and run)


def wait_for(condition, seconds=PATIENCE):
    """Return what a condition returns as soon as that is true."""
    end = time.monotonic() + seconds
    while not (found := condition()):
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.05)
    return found


def processes_of(group):
    """Return the processes of a group that are alive."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                state, _, pgrp = (entry / "stat").read_text().rpartition(")")[2].split()[:3]
            except OSError:
                continue
            if int(pgrp) == group and state != "Z":
                found.append(int(entry.name))
    return found


def children_of(pid):
    """Return the processes that a process has started."""
    text = "".join(path.read_text() for path in Path(f"/proc/{pid}/task").glob("*/children"))
    return [int(word) for word in text.split()]


def open_files(pid):
    return len(os.listdir(f"/proc/{pid}/fd"))
