"""The JSON routes: what they answer, what they refuse, and that nothing half-done stays."""

import asyncio
import json
import shutil

import pytest
from starlette.testclient import TestClient

from app_server import HOST, OWN, make_client, make_settings, upload
from ispca.app import api, requests_and_uploads
from ispca.app.processes import PreviewError, Processes
from ispca.app.run_folders import LOST
from ispca.app.store import CANCELLED, DONE, FAILED, QUEUED, RUNNING


@pytest.fixture
def site(tmp_path, monkeypatch):
    """A browser, the store and the settings of a server that starts no process."""
    monkeypatch.setattr(Processes, "start", lambda self, id: None)
    settings = make_settings(tmp_path)
    client, store = make_client(settings)
    return client, store, settings


def fit(client, **given):
    matrix = upload(client).json()["id"]
    answer = client.post("/api/runs", json={"matrix": matrix, "options": {"target": "b"}} | given)
    assert answer.status_code == 201, answer.text
    return answer.json()["id"]


def end(site, id, state=DONE):
    _, store, settings = site
    (settings.run_folder(id) / "results").mkdir(exist_ok=True)
    store.end(id, state)


def test_a_run_is_queued_with_its_command_and_its_files(site):
    client, _, settings = site
    sheet = upload(client, name="sheet of samples.tsv").json()["id"]
    id = fit(client, name="tumor/normal <b>", sheet=sheet)
    folder = settings.run_folder(id)
    assert {path.name for path in folder.iterdir()} == {
        *("command.json", "x.csv", "sheet-sheet_of_samples.tsv", "ispca.json")
    }
    command = json.loads((folder / "command.json").read_text())
    assert command["files"] == {"matrix": "x.csv", "sheet": "sheet-sheet_of_samples.tsv"}
    # Reports show the names that the user knows.
    assert command["names"] == {"x.csv": "x.csv", "sheet-sheet_of_samples.tsv": "sheet of samples.tsv"}
    run = client.get(f"/api/runs/{id}").json()
    assert (run["state"], run["name"], run["position"], run["files"]) == ("queued", "tumor/normal <b>", 1, [])
    assert "<b>" not in client.get("/").text
    assert [run["id"] for run in client.get("/api/runs").json()] == [id]


@pytest.mark.parametrize(
    ("given", "status"),
    [
        ({"matrix": "unknown"}, 404),
        ({"matrix": ["x"]}, 404),
        ({"matrix": None}, 400),
        ({"options": {"out": "/etc"}}, 400),
        ({"options": {"target": 5}}, 400),
        ({"options": ["target"]}, 400),
        ({"options": {"draws": 10**12}}, 400),
        ({"sheet": "../../x"}, 404),
        # Halves of a pair of surrogates, which no database can store.
        ({"matrix": "\ud800"}, 400),
        ({"name": "\ud800"}, 400),
        ({"options": {"target": "b", "features": ["\udfff"]}}, 400),
    ],
    ids=str,
)
def test_wrong_requests_leave_nothing(site, given, status):
    client, store, settings = site
    wanted = {"matrix": upload(client).json()["id"], "options": {"target": "b"}} | given
    answer = client.post("/api/runs", content=json.dumps(wanted))
    assert answer.status_code == status
    assert answer.json()["error"]
    assert store.runs() == []
    assert list((settings.folder / "runs").iterdir()) == []


@pytest.mark.parametrize("id", ["%ED%A0%80", "%FF", "%00", "x" * 5000])
def test_odd_names_in_addresses_are_unknown(site, id):
    for path in (
        f"/api/runs/{id}",
        f"/runs/{id}",
        f"/runs/{id}/report",
        f"/runs/{id}/files/{id}",
        f"/new?matrix={id}",
    ):
        assert site[0].get(path).status_code == 404
    assert site[0].delete(f"/api/runs/{id}").status_code == 404


@pytest.mark.parametrize("body", [b"", b"[]", b"{", b"null", b"[" * 100_000, b"\xff\xfe", b'"x"'])
def test_bodies_that_are_no_objects_are_refused(site, body):
    assert site[0].post("/api/runs", content=body).status_code == 400


def test_large_bodies_are_refused(site):
    assert site[0].post("/api/runs", content=b" " * (requests_and_uploads.LONGEST_BODY + 1)).status_code == 413


def test_too_many_waiting_runs_are_refused(site, monkeypatch):
    monkeypatch.setattr(api, "MOST_WAITING", 2)
    client = site[0]
    fit(client)
    fit(client)
    matrix = upload(client).json()["id"]
    assert client.post("/api/runs", json={"matrix": matrix, "options": {"target": "b"}}).status_code == 429


def test_only_runs_that_ended_without_results_run_again(site):
    client, _, _ = site
    id = fit(client)
    for state, status in ((QUEUED, 409), (RUNNING, 409), (DONE, 409), (FAILED, 200), (CANCELLED, 200)):
        end(site, id, state)
        assert client.post(f"/api/runs/{id}/again").status_code == status
    assert client.post("/api/runs/unknown/again").status_code == 404


def test_only_an_analysis_that_is_done_predicts_and_is_compared(site):
    client, _, _ = site
    id = fit(client)
    matrix = upload(client).json()["id"]
    assert client.post(f"/api/runs/{id}/predict", json={"matrix": matrix}).status_code == 409
    end(site, id)
    child = client.post(f"/api/runs/{id}/predict", json={"matrix": matrix}).json()["id"]
    compared = client.post(f"/api/runs/{id}/compare", json={"splits": 2}).json()["id"]
    assert client.post(f"/api/runs/{id}/compare", json={"splits": -2}).status_code == 400
    for other in (child, compared):
        assert client.post(f"/api/runs/{other}/compare", json={}).status_code == 409
    assert [run["id"] for run in client.get(f"/api/runs/{id}").json()["children"]] == [child, compared]


def test_deleting_takes_children_and_unused_files_along(site):
    client, store, settings = site
    kept, id = fit(client), fit(client)
    end(site, id)
    matrix, waiting = (upload(client).json()["id"] for _ in range(2))
    client.post(f"/api/runs/{id}/predict", json={"matrix": matrix})
    assert client.delete(f"/api/runs/{id}").status_code == 204
    assert client.delete(f"/api/runs/{id}").status_code == 404
    assert {run.id for run in store.runs()} == {kept}
    assert {path.name for path in (settings.folder / "runs").iterdir()} == {kept, "trash"}
    used = set(store.run(kept).uploads.values())
    assert {upload.id for upload in store.uploads()} == used | {waiting}
    assert {path.name for path in (settings.folder / "uploads").iterdir()} == used | {waiting}


def test_a_queued_run_is_cancelled(site):
    client, _, _ = site
    id = fit(client)
    assert client.post(f"/api/runs/{id}/cancel").json()["state"] == "cancelled"


def test_results_are_shown_only_when_they_are_whole(site):
    client, store, settings = site
    id = fit(client)
    results = settings.run_folder(id) / "results"
    results.mkdir()
    (results / "report.html").write_text("<script>1</script>")
    (results / 'odd"name\n.csv').write_text("x")
    (results / "link").symlink_to("/etc/passwd")
    (settings.run_folder(id) / "result.json").write_text('{"a": NaN, "b": Infinity}')
    assert client.get(f"/runs/{id}/report").status_code == 404
    store.end(id, DONE)
    run = client.get(f"/api/runs/{id}").json()
    assert run["result"] == {"a": None, "b": None}
    assert [file["name"] for file in run["files"]] == ['odd"name\n.csv', "report.html"]
    assert "sandbox" in client.get(f"/runs/{id}/report").headers["content-security-policy"]
    answer = client.get(f"/runs/{id}/files/odd%22name%0A.csv")
    assert answer.status_code == 200
    assert "\n" not in answer.headers["content-disposition"]
    assert client.get(f"/runs/{id}/files/link").status_code == 404


def test_failed_previews_are_answers(site, monkeypatch):
    client, _, _ = site
    matrix = upload(client).json()["id"]

    async def preview(self, request):
        if request["options"]:
            raise PreviewError("Too slow.")
        return {"error": {"problem": "Bad.", "advice": "Save it again.", "control": "id"}}

    monkeypatch.setattr(Processes, "preview", preview)
    answer = client.post("/api/preview", json={"matrix": matrix})
    assert (answer.status_code, answer.json()) == (
        422,
        {"error": "Bad.", "advice": "Save it again.", "control": "id"},
    )
    answer = client.post("/api/preview", json={"matrix": matrix, "options": {"target": "b"}})
    assert (answer.status_code, answer.json()["error"]) == (422, "Too slow.")


def test_a_preview_stops_when_its_client_leaves(site, monkeypatch):
    client, _, _ = site
    body = json.dumps({"matrix": upload(client).json()["id"]}).encode()
    state = []

    async def preview(self, request):
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            state.append("stopped")
            raise

    monkeypatch.setattr(Processes, "preview", preview)
    messages = iter([{"type": "http.request", "body": body}, {"type": "http.disconnect"}])

    async def receive():
        await asyncio.sleep(0.01)
        return next(messages)

    async def send(message):
        pass

    cookie = "; ".join(f"{name}={value}" for name, value in client.cookies.items())
    headers = {"host": HOST, "cookie": cookie, "origin": OWN["Origin"]}
    scope = {
        **{"type": "http", "method": "POST", "path": "/api/preview", "query_string": b"", "scheme": "http"},
        "headers": [(name.encode(), value.encode()) for name, value in headers.items()],
    }
    asyncio.run(asyncio.wait_for(client.app(scope, receive, send), 10))
    assert state == ["stopped"]


def test_a_full_database_is_named(site, monkeypatch):
    client, store, settings = site
    matrix = upload(client).json()["id"]
    pages = store._rows("PRAGMA page_count")[0][0]
    store._change(f"PRAGMA max_page_count = {pages}")
    given = {"matrix": matrix, "options": {"target": "b", "features": ["x" * 900] * 500}}
    answer = client.post("/api/runs", json=given)
    assert answer.status_code == 507
    assert "full" in answer.json()["error"]
    assert list((settings.folder / "runs").iterdir()) == []


def test_an_upload_that_was_deleted_by_hand_is_named(site):
    client, _, settings = site
    matrix = upload(client).json()["id"]
    shutil.rmtree(settings.upload_folder(matrix))
    for path in ("/api/preview", "/api/runs"):
        answer = client.post(path, json={"matrix": matrix, "options": {"target": "b"}})
        assert (answer.status_code, "Upload it again" in answer.json()["error"]) == (404, True)


def test_a_run_whose_results_are_gone_runs_again(site):
    client, _, settings = site
    id = fit(client)
    end(site, id)
    (settings.run_folder(id) / "results").rmdir()
    shown = client.get(f"/api/runs/{id}").json()
    assert (shown["state"], shown["message"], shown["repeatable"]) == ("failed", LOST, True)
    assert client.post(f"/api/runs/{id}/predict", json={"matrix": upload(client).json()["id"]}).status_code == 409
    assert client.post(f"/api/runs/{id}/again").json()["state"] == "queued"


def test_a_database_that_cannot_be_read_is_named(site):
    client, store, _ = site
    id = fit(client)
    store._connections[0].close()
    # An error that is raised would be logged with its traceback.
    client = TestClient(client.app, base_url=client.base_url, cookies=client.cookies)
    for path in ("/", f"/runs/{id}", "/new?matrix=x", "/api/runs", f"/api/runs/{id}"):
        answer = client.get(path)
        assert (answer.status_code, "cannot be read" in answer.text) == (507, True)
