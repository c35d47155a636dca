"""Strangers and foreign pages are refused, whatever they send, and our own pages are confined."""

import json
import re

import anyio
import httpx
import pytest

from app_server import HOST, OWN, PORT, make_client, make_settings
from ispca.app import security
from ispca.app.server_settings import ServerSettings

PASSWORD = "correct horse"


@pytest.fixture
def client(tmp_path):
    return make_client(make_settings(tmp_path))[0]


@pytest.fixture
def stranger(tmp_path):
    return make_client(make_settings(tmp_path), admitted=False)[0]


@pytest.fixture
def lab(tmp_path):
    return make_client(make_settings(tmp_path, host="0.0.0.0", password=PASSWORD), admitted=False)[0]


def test_the_printed_address_lets_in_and_hides_its_token(stranger):
    assert stranger.get("/").status_code == 403
    answer = stranger.get("/?token=the-token")
    # A page and not a redirect, on which browsers withhold strict cookies if they come from a file.
    assert (answer.status_code, 'content="0; url=/"' in answer.text) == (200, True)
    cookie = answer.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert re.search("samesite=strict", cookie, re.IGNORECASE)
    assert stranger.get("/").status_code == 200


@pytest.mark.parametrize(
    "token", ["", "wrong", "the-token ", "\ud800".encode("utf-8", "surrogatepass"), "x" * 10_000]
)
def test_wrong_tokens_are_refused(stranger, token):
    answer = stranger.get("/", params={"token": token})
    assert answer.status_code == 403
    assert "set-cookie" not in answer.headers
    assert "ispca app" in answer.text


@pytest.mark.parametrize(
    "cookie", ["", "ispca-8000=", "ispca-8000=wrong", "ispca-8000=the-token", "a=\x80\xff", ";=;"]
)
@pytest.mark.parametrize("path", ["/", "/api/runs", "/runs/x", "/runs/x/report", "/new", "/login", "/nothing"])
def test_nothing_is_told_without_the_right_cookie(stranger, path, cookie):
    answer = stranger.get(path, headers={"Cookie": cookie.encode("latin-1")})
    assert answer.status_code == 403
    if path.startswith("/api/"):
        assert "address" in answer.json()["error"]


def test_cookies_of_other_local_programs_do_not_matter(client):
    (own,) = (f"{name}={value}" for name, value in client.cookies.items())
    assert own.startswith(f"ispca-{PORT}=")
    odd = 'theme={"dark": [1, 2]}; @@=;; a b=c'
    for both in (f"{odd}; {own}", f"{own}; {odd}"):
        client.cookies.clear()
        assert client.get("/", headers={"Cookie": both}).status_code == 200


@pytest.mark.parametrize(
    "host",
    [
        *(
            "evil.example",
            f"evil.example:{PORT}",
            "127.0.0.1",
            "127.0.0.1:1",
            "",
            f"127.0.0.1.evil.example:{PORT}",
        ),
        *(f"127.0.0.1:{PORT}:{PORT}", f"a@127.0.0.1:{PORT}", f"127.0.0.1:{PORT}/", f"x/static/?127.0.0.1:{PORT}"),
    ],
)
def test_a_name_that_points_here_is_refused(client, host):
    answer = client.get("/", headers={"Host": host})
    assert answer.status_code == 421
    assert "does not belong" in answer.text


@pytest.mark.parametrize("host", [HOST, f"localhost:{PORT}", f"LOCALHOST:{PORT}", f"[::1]:{PORT}"])
def test_names_of_this_machine_are_served(client, host):
    assert client.get("/", headers={"Host": host}).status_code == 200


def test_the_usual_port_may_be_left_out(tmp_path):
    client, _ = make_client(make_settings(tmp_path, port=80), admitted=False)
    assert client.get("/?token=the-token", headers={"Host": "127.0.0.1"}).status_code == 200


FOREIGN = [
    {},
    {"Origin": "null"},
    {"Origin": "http://evil.example"},
    {"Origin": f"http://127.0.0.1:{PORT + 1}"},
    {"Origin": f"http://localhost:{PORT}"},
    {"Origin": f"http://{HOST}.evil.example"},
    OWN | {"Sec-Fetch-Site": "cross-site"},
    OWN | {"Sec-Fetch-Site": "same-site"},
]


@pytest.mark.parametrize("headers", FOREIGN, ids=str)
@pytest.mark.parametrize(
    ("method", "path"), [("POST", "/api/runs"), ("DELETE", "/api/runs/x"), ("POST", "/login")]
)
def test_pages_of_other_origins_change_nothing(client, method, path, headers):
    del client.headers["Origin"]
    form = {"Content-Type": "application/x-www-form-urlencoded"}
    answer = client.request(method, path, content=b"a=b", headers=form | headers)
    assert answer.status_code == 403
    assert "another page" in answer.json()["error"]


def test_a_foreign_page_that_only_reads_changes_nothing(client):
    del client.headers["Origin"]
    for path in ("/api/uploads", "/api/preview", "/api/runs/x/cancel", "/api/runs/x/again"):
        answer = client.get(path, headers={"Origin": "http://evil.example", "Sec-Fetch-Site": "cross-site"})
        assert answer.status_code in (404, 405)
        assert "access-control-allow-origin" not in answer.headers


@pytest.mark.parametrize(
    "path", ["/", "/static/style.css", "/api/runs", "/nothing", "/api/nothing", "/?token=wrong"]
)
def test_every_answer_confines_the_page(client, path):
    headers = client.get(path).headers
    assert {name: headers[name] for name in security.HEADERS} == security.HEADERS
    assert "'unsafe" not in headers["Content-Security-Policy"]


@pytest.mark.parametrize(
    "path", ["/static/../server.py", "/static/..%2fserver.py", "/static/%2e%2e/server.py", "//etc/passwd"]
)
def test_no_path_leaves_the_folder_of_static_files(client, path):
    assert client.get(path).status_code in (403, 404)


def log_in(client, password, **headers):
    return client.post("/login", data={"password": password}, headers=OWN | headers)


def test_the_password_lets_in(lab):
    assert lab.get("/").headers["location"] == "/login"
    assert lab.get("/api/runs").status_code == 403
    assert lab.get("/?token=the-token").status_code == 403
    assert "password" in lab.get("/login").text
    wrong = log_in(lab, "correct horsE")
    assert wrong.status_code == 403
    assert "set-cookie" not in wrong.headers
    assert log_in(lab, PASSWORD).status_code == 303
    assert lab.get("/").status_code == 200


def test_many_wrong_passwords_are_not_even_looked_at(lab, monkeypatch):
    for _ in range(security.MOST_FAILURES):
        assert log_in(lab, "wrong").status_code == 403
    assert log_in(lab, PASSWORD).status_code == 429
    monkeypatch.setattr(security, "FAILURE_SECONDS", 0.0)
    assert log_in(lab, PASSWORD).status_code == 303


def test_wrong_passwords_at_once_count_one_by_one(lab):
    async def body(ready):
        yield b"password="
        await ready.wait()
        yield b"wrong"

    async def attempts():
        ready, codes = anyio.Event(), []
        transport = httpx.ASGITransport(lab.app)
        async with (
            httpx.AsyncClient(transport=transport, base_url=f"http://{HOST}") as client,
            anyio.create_task_group() as group,
        ):

            async def attempt():
                codes.append((await client.post("/login", content=body(ready), headers=OWN)).status_code)

            for _ in range(30):
                group.start_soon(attempt)
            await anyio.sleep(0.1)
            ready.set()
        return codes

    codes = anyio.run(attempts)
    assert sorted(codes) == [403] * 10 + [429] * 20


def test_only_a_form_is_an_attempt(lab):
    for method in ("HEAD", "PUT", "DELETE"):
        for _ in range(security.MOST_FAILURES):
            lab.request(method, "/login", headers=OWN)
    assert log_in(lab, PASSWORD).status_code == 303


@pytest.mark.parametrize("host", ["x/static/?", "x/static/#", "a b", "", "x@y/static/"])
def test_a_hostile_host_does_not_pass_for_another_path(lab, host):
    assert lab.get("/api/runs", headers={"Host": host}).status_code == 421


def test_the_path_is_that_of_the_request(lab, monkeypatch):
    monkeypatch.setattr(security, "HOST", re.compile(".*"))
    assert lab.get("/api/runs", headers={"Host": "x/static/?"}).status_code == 403


def test_a_long_form_is_not_read(lab):
    assert log_in(lab, "x" * 1_000_000).status_code == 403


def test_refusals_of_the_api_are_json(lab):
    assert json.loads(lab.get("/api/runs").text)["error"]


def test_the_password_is_not_shown():
    assert PASSWORD not in repr(ServerSettings(password=PASSWORD))
