"""Strangers cannot shut out others by many or slow connections, nor learn the secret of the first address."""

import itertools
import os
import re
import resource
import socket
import stat
import sys
from pathlib import Path

import pytest

from app_server import Server, wait_for

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="looks into /proc")
PASSWORD = "correct horse"
FILES, STRANGERS = 150, 80


@pytest.fixture(scope="module")
def lab(tmp_path_factory):
    """A server that others may use, with fewer files to open than strangers come."""

    def limit():
        resource.setrlimit(resource.RLIMIT_NOFILE, (FILES, FILES))

    folder = tmp_path_factory.mktemp("lab")
    os.environ["ISPCA_PASSWORD"] = PASSWORD
    server = Server(folder, "--host", "0.0.0.0", preexec_fn=limit)
    del os.environ["ISPCA_PASSWORD"]
    server.host = f"127.0.0.1:{server.host.rpartition(':')[2]}"
    yield server
    said = server.stop()[1]
    # No line for each of them.
    assert len(said) < 500, said


def connect(lab, address, sent=b"", n=1):
    """Return connections from an address of this machine."""
    found = []
    for _ in range(n):
        found.append(socket.create_connection(lab.host.split(":"), 5, (address, 0)))
        found[-1].sendall(sent)
    return found


def is_open(connection):
    connection.settimeout(0.01)
    try:
        while connection.recv(1000):
            pass
        return False
    except TimeoutError:
        return True
    except OSError:
        return False


BEGUN = {
    "nothing": b"",
    "a header": b"GET /login HTTP/1.1\r\nHost: ",
    "a body": b"POST /login HTTP/1.1\r\nHost: x\r\nOrigin: http://x\r\nContent-Length: 4000\r\n\r\npassword=",
    "no request": b"\x16\x03\x01" * 10,
}


@pytest.mark.slow
@pytest.mark.parametrize("sent", BEGUN)
def test_idle_strangers_do_not_shut_out_anybody(lab, sent):
    idle = connect(lab, "127.0.0.9", BEGUN[sent], STRANGERS)
    try:
        assert lab.request("GET", "/login")[0] == 200
        assert sum(map(is_open, idle)) <= FILES // 3 // 4
        # Somebody who has connected and not yet sent anything keeps the connection.
        (early,) = connect(lab, "127.0.0.1")
        more = connect(lab, "127.0.0.9", BEGUN[sent], STRANGERS // 4)
        early.sendall(b"GET /login HTTP/1.0\r\nHost: x\r\n\r\n")
        assert early.recv(100).startswith(b"HTTP/1.1 200")
        for connection in (early, *more):
            connection.close()
    finally:
        for connection in idle:
            connection.close()


@pytest.mark.parametrize("path", ["/login", "/static/style.css", "/static/run.js"])
def test_a_body_that_is_not_http_writes_no_line(lab, path):
    """In one piece with its request, and after the answer; the end of the lab looks into the log."""
    request = f"GET {path} HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n".encode()
    for parts in ([request + b"zz\r\n"], [request, b"zz\r\n"], [request + b"1\r\na\r\n", b"zz\r\n"]):
        (connection,) = connect(lab, "127.0.0.9", parts[0])
        with connection:
            assert connection.recv(12).startswith(b"HTTP/1.1 ")
            for part in parts[1:]:
                connection.sendall(part)
            wait_for(lambda connection=connection: not is_open(connection), 10)
    assert lab.request("GET", "/login")[0] == 200


@pytest.mark.slow
def test_strangers_from_many_addresses_do_not_shut_out_anybody(lab):
    idle = [
        connection for i in range(2, 42) for connection in connect(lab, f"127.0.0.{i}", b"GET", STRANGERS // 40)
    ]
    assert lab.request("GET", "/login")[0] == 200
    for connection in idle:
        connection.close()


@pytest.fixture(scope="module")
def hasty(tmp_path_factory):
    """A server that gives a request one second."""
    code = (
        "import sys; from ispca import cli; from ispca.app import security\n"
        "security.SECONDS_TO_SEND, security.SECONDS_BETWEEN_LOOKS = 1.0, 0.1\n"
        "sys.exit(cli.main(sys.argv[1:]))"
    )
    options = ("--host", "0.0.0.0", "--password", PASSWORD)
    with Server(tmp_path_factory.mktemp("hasty"), *options, program=("-c", code)) as server:
        server.host = f"127.0.0.1:{server.host.rpartition(':')[2]}"
        yield server


@pytest.mark.slow
@pytest.mark.parametrize("drop", [False, True], ids=["idle", "a byte at a time"])
@pytest.mark.parametrize("sent", ["nothing", "a header", "a body"])
def test_connections_that_take_too_long_are_closed(hasty, sent, drop):
    (slow,) = connect(hasty, "127.0.0.9", BEGUN[sent])

    def closed():
        if drop:
            try:
                slow.sendall(b"x")
            except OSError:
                return True
        return not is_open(slow)

    assert not closed()
    wait_for(closed, 30)


def test_wrong_passwords_of_one_address_do_not_lock_out_others(lab):
    numbers = itertools.count(10)

    def log_in(address, password):
        body = f"password={password}".encode()
        head = "POST /login HTTP/1.0\r\nHost: x\r\nOrigin: http://x\r\n"
        # What a client says of its address is not believed.
        head += f"X-Forwarded-For: 127.0.0.{next(numbers)}\r\nContent-Length: {len(body)}\r\n\r\n"
        (connection,) = connect(lab, address, head.encode() + body)
        with connection:
            return int(connection.recv(100).split()[1])

    assert {log_in("127.0.0.9", "wrong") for _ in range(10)} == {403}
    assert log_in("127.0.0.9", "correct+horse") == 429
    assert log_in("127.0.0.8", "correct+horse") == 303
    assert log_in("127.0.0.9", "correct+horse") == 429


def test_the_browser_opens_a_private_file_that_works_once(tmp_path):
    (tmp_path / "browser").write_text(
        f'#!/bin/sh\nfor file; do :; done\nfile="${{file#file://}}"\nstat -c %a "$file" > {tmp_path}/mode\n'
        f'cat "$file" > {tmp_path}/page\necho "$@" > {tmp_path}/arguments\n'
    )
    (tmp_path / "browser").chmod(0o700)
    private = tmp_path / "private"
    private.mkdir()
    environment = os.environ | {"BROWSER": f"{tmp_path / 'browser'} %s", "TMPDIR": str(private)}
    with Server(tmp_path / "app", browser=True, env=environment) as server:
        wait_for((tmp_path / "arguments").exists)
        assert (tmp_path / "mode").read_text() == "600\n"
        page = (tmp_path / "page").read_text()
        (token,) = set(re.findall(r"token=([\w-]+)", page))
        assert token not in (tmp_path / "arguments").read_text()
        (file,) = private.iterdir()
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
        known, server.cookie = server.cookie, ""
        status, headers, _ = server.request("GET", f"/?token={token}")
        assert (status, "set-cookie" in headers) == (200, True)
        assert not file.exists()
        assert server.request("GET", f"/?token={token}")[0] == 403
        # Whoever is in already is sent to the start; the other, printed address still works, once.
        server.cookie = known
        assert server.request("GET", f"/?token={token}")[0] == 303
        server.cookie, printed = "", server.token
        server.admit()
        assert server.request("GET", "/api/runs")[0] == 200
        server.cookie = ""
        assert server.request("GET", f"/?token={printed}")[0] == 403
        command = Path(f"/proc/{server.process.pid}/cmdline").read_text()
        assert server.token not in command
