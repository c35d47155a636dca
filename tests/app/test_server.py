"""The whole server as a process: a run from upload to report, kills, many clients, and clean ends."""

import http.client
import os
import signal
import socket
import sqlite3
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

import pytest

from app_server import Server, children_of, open_files, processes_of, table, wait_for
from ispca.app.server import LOCK

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="looks into /proc")


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with Server(tmp_path_factory.mktemp("app"), "--runs", "1", "--memory", "2G") as found:
        yield found


def test_from_upload_to_predictions(server):
    id = server.fit(table())
    run = server.wait(id)
    assert run["state"] == "done", run["message"]
    assert run["verdict"]
    assert {"report.html", "model.ispca"} <= {file["name"] for file in run["files"]}
    status, headers, page = server.request("GET", f"/runs/{id}/report")
    assert status == 200
    assert "sandbox" in headers["content-security-policy"]
    assert b"</html>" in page
    status, headers, _ = server.request("GET", f"/runs/{id}/files/model.ispca")
    assert (status, headers["content-disposition"]) == (200, 'attachment; filename="model.ispca"')
    for name in ("../command.json", "..%2fcommand.json", "%2e%2e%2fcommand.json", "nothing", "..", "results"):
        assert server.request("GET", f"/runs/{id}/files/{name}")[0] == 404
    _, found = server.api("POST", f"/runs/{id}/predict", {"matrix": server.upload(table(6, seed=1))})
    predicted = server.wait(found["id"])
    assert (predicted["state"], predicted["verdict"]) == ("done", "Predicted 6 samples.")
    assert server.request("DELETE", f"/api/runs/{id}")[0] == 204
    assert server.run(found["id"]) == {"error": "This run does not exist. It may have been deleted."}
    assert {path.name for path in (server.folder / "runs").iterdir()} == {LOCK, "trash"}
    assert [path.name for path in (server.folder / "uploads").iterdir()] == [LOCK]


def test_an_error_of_a_run_is_in_words_of_the_page(server):
    run = server.wait(server.fit(table() + b"last,,1,1,1,1,ill\n"))
    assert run["state"] == "failed"
    assert "“Missing values”" in run["error"]["advice"]
    assert run["error"]["control"] == "missing"
    assert run["message"] == f"{run['error']['problem']} {run['error']['advice']}"


@pytest.mark.slow
def test_a_run_is_deleted_while_it_works(server):
    id = server.fit(table(300, 40), draws=20_000)
    (worker,) = wait_for(
        lambda: server.run(id)["stages"] and [pid for pid in workers(server) if is_running(pid, id)]
    )
    assert server.request("DELETE", f"/api/runs/{id}")[0] == 204
    assert processes_of(worker) == []
    assert not (server.folder / "runs" / id).exists()


def test_two_browsers_see_the_same(server):
    first = server.cookie
    id = server.fit(table(300, 40), draws=20_000)
    server.admit()
    assert server.run(id)["id"] == id
    assert server.api("POST", f"/runs/{id}/cancel")[1]["state"] == "cancelled"
    server.cookie = first
    assert server.run(id)["state"] == "cancelled"


@pytest.mark.slow
def test_a_thousand_requests_at_once(server):
    pid = server.process.pid
    before = open_files(pid)
    content = table()

    def ask(number):
        path = ("/", "/api/runs", "/static/style.css", "/api/runs/x")[number % 4]
        if number % 50 == 0:
            return server.request("POST", "/api/uploads?name=x.csv", content)[0]
        return server.request("GET", path)[0]

    with ThreadPoolExecutor(200) as pool:
        codes = list(pool.map(ask, range(1000)))
    assert set(codes) == {200, 201, 404}
    wait_for(lambda: open_files(pid) <= before + 5)
    assert memory_of(pid) < 250e6


def test_a_locked_database_does_not_stop_other_requests(server):
    before = set((server.folder / "uploads").glob("*/tiny.csv"))
    with closing(sqlite3.connect(server.folder / "ispca.sqlite", isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with ThreadPoolExecutor(40) as pool:
            waiting = [pool.submit(server.upload, table()) for _ in range(40)]
            wait_for(lambda: len(set((server.folder / "uploads").glob("*/tiny.csv")) - before) == 40)
            codes = [server.request("GET", path)[0] for path in ("/static/style.css", "/", "/api/runs")]
            assert (codes, any(each.done() for each in waiting)) == ([200, 200, 200], False)
            other.execute("ROLLBACK")
            assert all(each.result() for each in waiting)


def test_many_idle_connections_do_not_stop_others(server):
    connections = [socket.create_connection(server.host.split(":")) for _ in range(400)]
    try:
        for connection in connections:
            connection.send(b"GET / HTTP/1.1\r\nHost: ")
        assert server.request("GET", "/")[0] == 200
    finally:
        for connection in connections:
            connection.close()


def test_a_client_that_leaves_during_an_upload_leaves_nothing(server):
    before = set((server.folder / "uploads").iterdir())
    connection = http.client.HTTPConnection(server.host)
    connection.putrequest("POST", "/api/uploads?name=x.csv")
    for name, value in (
        ("Origin", f"http://{server.host}"),
        ("Cookie", server.cookie),
        ("Content-Length", "1000000"),
    ):
        connection.putheader(name, value)
    connection.endheaders()
    connection.send(b"x" * 1000)
    wait_for(lambda: set((server.folder / "uploads").iterdir()) != before)
    connection.close()
    wait_for(lambda: set((server.folder / "uploads").iterdir()) == before)


def test_a_second_server_on_the_same_folder_is_refused(server):
    with pytest.raises(AssertionError, match="already running") as found:
        Server(server.folder)
    assert str(found.value).count("\n") <= 3


def test_a_second_server_on_the_same_folders_through_links_is_refused(server, tmp_path):
    for name in ("runs", "uploads"):
        (tmp_path / name).symlink_to(server.folder / name)
    with pytest.raises(AssertionError, match="already running"):
        Server(tmp_path)


def test_one_folder_may_be_both(tmp_path):
    (tmp_path / "both").mkdir()
    for name in ("runs", "uploads"):
        (tmp_path / name).symlink_to(tmp_path / "both")
    with Server(tmp_path) as server:
        assert server.upload(table())
    # No lock is left.
    assert [path.parent.name for path in (tmp_path / "both").glob("*/ispca.json")] == [
        path.name for path in (tmp_path / "both").iterdir()
    ]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=["Ctrl-C", "SIGTERM"])
def test_it_ends_with_one_line(tmp_path, number):
    server = Server(tmp_path)
    code, said = server.stop(number)
    assert code == 0
    assert said.splitlines()[1:] == ["ispca app: stopped; no run was interrupted."]
    assert not (tmp_path / "server.lock").exists()


@pytest.mark.slow
def test_kill_9_during_a_run(tmp_path):
    first = Server(tmp_path, "--runs", "1")
    id = first.fit(table(300, 40), draws=20_000, cv=2)
    queued = first.fit(table())
    wait_for(lambda: any("ampling" in stage["name"] for stage in first.run(id)["stages"]))
    groups = workers(first)
    assert any(is_running(pid, id) for pid in groups)
    first.stop(signal.SIGKILL)
    wait_for(lambda: not [pid for group in groups for pid in processes_of(group)], 10)
    with Server(tmp_path, "--runs", "1") as second:
        run = second.run(id)
        assert (run["state"], run["files"], run["result"]) == ("interrupted", [], None)
        names = {path.name for path in (tmp_path / "runs" / id).iterdir()}
        assert names == {"command.json", "tiny.csv", "ispca.json"}
        assert second.wait(queued)["state"] == "done"
        assert second.api("POST", f"/runs/{id}/again")[0] == 200
        wait_for(lambda: second.run(id)["state"] == "running")


def workers(server):
    return children_of(server.process.pid)


def is_running(pid, id):
    try:
        return os.readlink(f"/proc/{pid}/cwd").endswith(id)
    except OSError:
        return False


def memory_of(pid):
    with open(f"/proc/{pid}/statm") as file:
        return int(file.read().split()[1]) * 4096
