"""Uploads: no path of the client is used, limits hold while data comes in, and nothing is left of a failure."""

import asyncio
import errno
import os
import re
import shutil
import subprocess
from collections import namedtuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app_server import make_client, make_settings, upload
from ispca.app import requests_and_uploads as uploads
from ispca.app.requests_and_uploads import SUFFIXES, RequestError, delete_unused, display_name, stored_name
from ispca.app.run_folders import MARK, rebuild, write_mark
from ispca.app.store import Upload, new_run

STORED = re.compile(r"[A-Za-z0-9][A-Za-z0-9_]{0,59}(\.[a-z0-9]+){1,2}")
HOSTILE = [
    *(
        "../../etc/passwd.csv",
        "/etc/cron.d/x.csv",
        "C:\\Windows\\x.csv",
        "..\\..\\x.csv",
        "a\0b.csv",
        "CON.csv",
        "nul.csv",
    ),
    *(
        "-rf.csv",
        "--target=y.csv",
        '"; rm -rf ~".csv',
        "a\r\nSet-Cookie: x=y.csv",
        "x" * 10_000 + ".csv",
        "....csv",
    ),
    *(
        "\u202evsc.exe.csv",
        "表.csv",
        "\U0001f600.csv",
        "<script>alert(1)</script>.csv",
        "$(id).csv",
        ".csv",
        "~.csv",
        "%2e%2e.csv",
    ),
]
ALL = [*HOSTILE, "data.CSV.GZ", "aux.csv"]


def left(settings):
    return list((settings.folder / "uploads").iterdir())


@pytest.mark.parametrize("name", ALL, ids=range(len(ALL)))
def test_stored_names_are_harmless(name):
    stored = stored_name(name)
    assert STORED.fullmatch(stored)
    assert stored.partition(".")[0].lower() not in ("con", "nul", "aux")


@given(st.text(), st.sampled_from(SUFFIXES))
def test_any_name_is_stored_under_a_harmless_one(name, suffix):
    assert STORED.fullmatch(stored_name(name + suffix))
    assert not uploads.UNSAFE.search(display_name(name))


@pytest.mark.parametrize("name", HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_names_stay_in_their_folder_and_are_escaped(tmp_path, name):
    settings = make_settings(tmp_path)
    client, _ = make_client(settings)
    found = upload(client, name=name)
    assert found.status_code == 201
    assert len(found.json()["name"]) <= 200
    (folder,) = left(settings)
    assert {file.name for file in folder.iterdir()} == {stored_name(name), MARK}
    assert {path.name for path in tmp_path.iterdir()} <= {
        "runs",
        "uploads",
        *(f"ispca.sqlite{end}" for end in ("", "-wal", "-shm")),
    }
    page = client.get(f"/new?matrix={found.json()['id']}")
    assert page.status_code == 200
    assert "<script>alert" not in page.text


@pytest.mark.parametrize("name", ["x.exe", "x", "", "x.csv.exe", "x.pkl", "x.html", "x.py"])
def test_other_files_are_refused(tmp_path, name):
    client, _ = make_client(make_settings(tmp_path))
    answer = upload(client, name=name)
    assert answer.status_code == 415
    assert ".csv" in answer.json()["error"]
    assert left(make_settings(tmp_path)) == []


@pytest.mark.parametrize("known_length", [True, False])
def test_large_files_are_refused_and_removed(tmp_path, known_length):
    settings = make_settings(tmp_path, max_upload=1000)
    client, _ = make_client(settings)
    answer = upload(client, b"x" * 1001 if known_length else iter([b"x" * 500] * 3))
    assert answer.status_code == 413
    assert "larger than" in answer.json()["error"]
    assert left(settings) == []
    assert upload(client, iter([b"x" * 500] * 2)).status_code == 201


def test_empty_files_are_refused(tmp_path):
    client, _ = make_client(make_settings(tmp_path))
    assert upload(client, b"").status_code == 400
    assert left(make_settings(tmp_path)) == []


def test_a_disk_that_becomes_full_is_reported_and_kept_usable(tmp_path, monkeypatch):
    settings = make_settings(tmp_path)
    client, _ = make_client(settings)
    usage = namedtuple("usage", "total used free")
    free = iter([uploads.SPARE_BYTES + 600, uploads.SPARE_BYTES + 100])
    monkeypatch.setattr(uploads.shutil, "disk_usage", lambda path: usage(0, 0, next(free)))
    answer = upload(client, iter([b"x" * 500] * 2))
    assert answer.status_code == 507
    assert "disk is full" in answer.json()["error"]
    assert left(settings) == []


@pytest.mark.skipif(os.name == "nt" or os.geteuid() != 0, reason="needs to mount a small file system")
def test_a_really_full_disk(tmp_path, monkeypatch):
    disk = tmp_path / "disk"
    disk.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", disk], capture_output=True).returncode:
        pytest.skip("cannot mount a file system here")
    try:
        monkeypatch.setattr(uploads, "SPARE_BYTES", -(2**40))
        settings = make_settings(disk)
        client, store = make_client(settings)
        answer = upload(client, b"x" * 2**21)
        assert answer.status_code == 507
        assert left(settings) == []
        found = upload(client).json()["id"]
        (disk / "filler").write_bytes(b"x" * shutil.disk_usage(disk).free)
        answer = client.post("/api/runs", json={"matrix": found, "options": {"target": "b"}})
        assert answer.status_code == 507
        assert list((disk / "runs").iterdir()) == []
        assert client.get("/api/runs").json() == []
        store.close()
    finally:
        subprocess.run(["umount", "-l", disk], check=True)


@pytest.mark.parametrize("failure", [asyncio.CancelledError(), OSError(errno.EIO, "broken"), RuntimeError("left")])
def test_nothing_is_left_when_the_client_leaves(tmp_path, failure):
    settings = make_settings(tmp_path)
    _, store = make_client(settings)

    async def stream():
        yield b"a,b\n"
        assert len(left(settings)) == 1
        raise failure

    with pytest.raises(type(failure)):
        asyncio.run(uploads.receive(stream(), "x.csv", settings, store))
    assert left(settings) == []
    assert {upload.id for upload in store.uploads()} == set()


def test_a_full_disk_says_so(tmp_path):
    settings = make_settings(tmp_path)
    _, store = make_client(settings)

    async def stream():
        raise OSError(errno.ENOSPC, "full")
        yield b""

    with pytest.raises(RequestError, match="disk is full") as found:
        asyncio.run(uploads.receive(stream(), "x.csv", settings, store))
    assert found.value.status == 507


def test_folders_that_a_killed_server_left_are_removed(tmp_path):
    settings = make_settings(tmp_path)
    client, store = make_client(settings)
    kept = upload(client).json()["id"]
    half, preparing = Upload("0" * 16, "x.csv", "x.csv", -1, 0.0), new_run("fit", "x", {}, {}, id="1" * 16)
    for folder, record in (
        (settings.upload_folder(half.id), half),
        (settings.run_folder(preparing.id), preparing),
    ):
        folder.mkdir()
        (folder / "x.csv").write_text("a")
        write_mark(folder, record)
    rebuild(settings, store)
    assert [folder.name for folder in left(settings)] == [kept]
    assert list((tmp_path / "runs").iterdir()) == store.runs() == []


def test_only_unused_uploads_are_deleted(tmp_path):
    settings = make_settings(tmp_path)
    client, store = make_client(settings)
    used, first, second = (upload(client).json()["id"] for _ in range(3))
    store.add_run(new_run("fit", "x", {}, {"matrix": used}))
    delete_unused(settings, store, older_than=60.0)
    assert {upload.id for upload in store.uploads()} == {used, first, second}
    # A page that shows a file keeps it.
    os.utime(settings.upload_folder(first) / MARK, (0, 0))
    os.utime(settings.upload_folder(second) / MARK, (0, 0))
    uploads.touch(settings, [second])
    delete_unused(settings, store, older_than=60.0)
    assert {upload.id for upload in store.uploads()} == {used, second}
    assert {folder.name for folder in left(settings)} == {used, second}
