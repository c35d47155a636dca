"""Nothing is lost: foreign folders stay, the list is rebuilt from our own, and deleted runs wait in the trash."""

import json
import os
import re
import shutil
import sys
from contextlib import closing
from datetime import date, timedelta
from pathlib import Path

import pytest

from app_server import Server, make_client, make_settings, table
from ispca.app.run_folders import GONE, MARK, TRASH_DAYS, as_found, discard, empty_trash, rebuild
from ispca.app.store import CANCELLED, DONE, RUNNING, RunStore, new_run

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="looks into /proc"),
]
ID = "0123456789abcdef"


def contents(folder):
    return {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """The folder of a stopped server with an analysis, its predictions, and the database before both."""
    folder = tmp_path_factory.mktemp("finished")
    with Server(folder, "--runs", "1") as server:
        id = server.fit(table())
        older = {path.name: path.read_bytes() for path in folder.glob("ispca.sqlite*")}
        assert server.wait(id)["state"] == "done"
        found = server.api("POST", f"/runs/{id}/predict", {"matrix": server.upload(table(6, seed=1))})[1]
        assert server.wait(found["id"])["state"] == "done"
    return folder, older


@pytest.fixture
def kept(finished, tmp_path):
    """A copy of the folder, and the database before both runs had ended."""
    shutil.copytree(finished[0], tmp_path / "app")
    return tmp_path / "app", finished[1]


def foreign_project(folder):
    """Folders of the same names as ours, and entries that look like ours."""
    mark = {"ispca": "Run", "record": {"id": ID}}
    for name, text in {
        "runs/experiment 1/model.pt": "weights",
        f"runs/{ID}/results/report.html": "report",
        f"runs/fedcba9876543210/{MARK}": json.dumps(mark),
        f"runs/{ID[::-1]}0/{MARK}": "[" * 100_000,
        "runs/printed.txt": "notes",
        f"runs/trash/2020-01-01/{ID}/model.pt": "weights",
        "runs/trash/old.txt": "old",
        f"uploads/{ID}/data.csv": "a,b",
        "uploads/half/data.csv": "a",
        "server.lock": "of another server",
    }.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    (folder / "runs" / "linked").symlink_to(folder.parent)
    return contents(folder)


@pytest.mark.parametrize("linked", [False, True])
def test_a_project_with_folders_of_the_same_names_stays_as_it_is(tmp_path, linked):
    project = tmp_path / "project"
    before = foreign_project(project)
    folder = project
    if linked:
        folder = tmp_path / "app"
        folder.mkdir()
        for name in ("runs", "uploads"):
            (folder / name).symlink_to(project / name)
    for _ in range(2):
        with Server(folder, "--runs", "1") as server:
            assert server.api("GET", "/runs") == (200, [])
            id = server.fit(table())
            server.api("DELETE", f"/runs/{id}")
            assert server.api("GET", "/trash")[1] == {"count": 1}
            assert server.api("DELETE", "/trash")[0] == 204
    after = contents(project)
    assert {path: content for path, content in after.items() if path in before} == before
    assert {path.name for path in after.keys() - before.keys()} <= {"ispca.sqlite"}


@pytest.mark.parametrize("what", ["damaged", "cut", "lost", "older"])
def test_every_report_and_model_is_still_there(kept, what):
    folder, older = kept
    database = folder / "ispca.sqlite"
    with closing(RunStore(database)) as store:
        listed = {run.id: run for run in store.runs()}
    files = contents(folder / "runs")
    for path in folder.glob("ispca.sqlite*"):
        path.unlink()
    if what == "older":
        for name, content in older.items():
            (folder / name).write_bytes(content)
    elif what != "lost":
        database.write_bytes(b"not a database" * 1000 if what == "damaged" else make_database(folder)[:5000])
        with pytest.raises(AssertionError, match="is damaged") as found:
            Server(folder)
        # What the message says to do.
        (path,) = re.findall(r"(\S+) is damaged .* Move it away and start again", str(found.value))
        assert path == str(database)
        database.rename(folder / "moved away")
    with Server(folder) as server:
        assert {run["id"]: run["name"] for run in server.api("GET", "/runs")[1]} == {
            id: run.name for id, run in listed.items()
        }
        for id, run in listed.items():
            shown = server.run(id)
            assert (shown["state"], shown["verdict"], shown["parent"]) == (DONE, run.verdict, run.parent)
            assert shown["created"] == run.created
            for file in shown["files"]:
                status, _, body = server.request("GET", f"/runs/{id}/files/{file['name']}")
                assert (status, body) == (200, files[Path(id, "results", file["name"])])
        (fit,) = (id for id, run in listed.items() if run.kind == "fit")
        assert server.request("GET", f"/runs/{fit}/report")[0] == 200
        assert server.request("GET", f"/new?matrix={listed[fit].uploads['matrix']}")[0] == 200
        assert server.api("POST", f"/runs/{fit}/compare", {"splits": 1})[0] == 201
    assert {path: content for path, content in contents(folder / "runs").items() if path in files} == files


def make_database(folder):
    path = folder / "other.sqlite"
    with closing(RunStore(path)) as store:
        for _ in range(50):
            store.add_run(new_run("fit", "x" * 1000, {}, {}))
    content = path.read_bytes()
    path.unlink()
    return content


def test_deleted_runs_wait_in_the_trash_and_come_back(kept):
    folder, _ = kept
    with Server(folder) as server:
        (fit,) = (run["id"] for run in server.api("GET", "/runs")[1] if run["kind"] == "fit")
        files = contents(folder / "runs" / fit)
        assert server.request("DELETE", f"/api/runs/{fit}")[0] == 204
        assert server.api("GET", "/runs")[1] == []
        assert server.api("GET", "/trash")[1] == {"count": 2}
        page = server.request("GET", "/")[2].decode()
        assert f"stay in the trash for {TRASH_DAYS} days" in page
    (deleted,) = (folder / "runs" / "trash").glob(f"*/{fit}")
    assert contents(deleted) == files
    deleted.rename(folder / "runs" / fit)
    with Server(folder) as server:
        assert [run["id"] for run in server.api("GET", "/runs")[1]] == [fit]
        assert server.request("GET", f"/runs/{fit}/report")[0] == 200


@pytest.fixture
def site(kept):
    settings = make_settings(kept[0])
    client, store = make_client(settings)
    with closing(store):
        yield settings, store, client


def test_the_trash_is_emptied_after_some_days(site):
    settings, store, _ = site
    first, second = (run.id for run in store.runs())
    for id in (first, second):
        discard(settings, id)
    (day,) = settings.trash_folder.iterdir()
    old = day.with_name(f"{date.today() - timedelta(days=TRASH_DAYS):%Y-%m-%d}")
    old.mkdir()
    (day / first).rename(old / first)
    empty_trash(settings, TRASH_DAYS)
    assert [path.name for path in settings.trash_folder.glob("*/*")] == [second]
    # Deleted, although a backup of the database lists it.
    rebuild(settings, store)
    assert [run.id for run in store.runs()] == [first]
    assert as_found(settings, store.run(first)).message == GONE


def test_a_folder_that_was_deleted_by_hand_is_named_everywhere(site):
    settings, store, client = site
    (fit,) = (run.id for run in store.runs() if run.kind == "fit")
    shutil.rmtree(settings.run_folder(fit))
    for shown in (client.get(f"/api/runs/{fit}").json(), client.get("/api/runs").json()[-1]):
        assert (shown["state"], shown["message"], shown["verdict"]) == ("failed", GONE, None)
    for path in ("/", f"/runs/{fit}"):
        assert "Failed" in client.get(path).text
    # The page does not offer to run it again.
    assert client.get(f"/api/runs/{fit}").json()["repeatable"] is False
    answer = client.post(f"/api/runs/{fit}/again")
    assert (answer.status_code, answer.json()["error"]) == (409, GONE)
    assert client.delete(f"/api/runs/{fit}").status_code == 204


def test_what_the_files_of_a_run_say_holds(site):
    settings, store, _ = site
    (fit,) = (run for run in store.runs() if run.kind == "fit")
    # A run that was cancelled and not written as done stays so; one that seems to go on was done.
    store.end(fit.id, CANCELLED)
    rebuild(settings, store)
    assert store.run(fit.id).state == CANCELLED
    store._change("UPDATE runs SET state = ?, ended = NULL WHERE id = ?", (RUNNING, fit.id))
    rebuild(settings, store)
    assert store.run(fit.id)[:-2] == fit[:-2]


def test_folders_of_earlier_versions_are_marked(site):
    settings, store, _ = site
    marks = [*settings.folder.glob(f"runs/*/{MARK}"), *settings.folder.glob(f"uploads/*/{MARK}")]
    for path in marks:
        os.unlink(path)
    for run in store.runs():
        # Without its mark, a folder stays.
        discard(settings, run.id)
        assert settings.run_folder(run.id).is_dir()
    rebuild(settings, store)
    assert all(path.exists() for path in marks)
