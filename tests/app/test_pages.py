"""The pages: what they show of the store, always escaped, and what they load."""

import json
import re
from pathlib import Path

import pytest

pytest.importorskip("starlette")
from starlette.applications import Starlette
from starlette.testclient import TestClient

from app_server import make_settings
from ispca.app import pages
from ispca.app.pages import render
from ispca.app.store import RunStore, Upload, new_run
from ispca.foundation.data_files import FORMATS

HOSTILE = '<script>alert(1)</script>" onload="x'
STATIC = Path(pages.__file__).parent / "static"
TEMPLATES = Path(pages.__file__).parent / "templates"


@pytest.fixture
def store(tmp_path):
    found = RunStore(tmp_path / "ispca.sqlite")
    found.add_upload(Upload("a1", f"{HOSTILE}.csv", "data.csv", 1234, 0.0))
    found.add_upload(Upload("b2", "sheet.csv", "sheet.csv", 10, 0.0))
    yield found
    found.close()


@pytest.fixture
def settings(tmp_path):
    return make_settings(tmp_path)


@pytest.fixture
def client(store, settings):
    return TestClient(Starlette(routes=pages.page_routes(store, settings)))


def add(store, **changes):
    values = {
        "kind": "fit",
        "name": HOSTILE,
        "options": {"target": HOSTILE},
        "uploads": {"matrix": "a1", "sheet": "b2"},
    }
    return store.add_run(new_run(**(values | changes)))


def test_the_list_shows_analyses_and_not_what_belongs_to_them(store, settings):
    first = add(store, name="first")
    add(store, kind="compare", name="comparison", parent=first.id)
    store.start(first.id)
    store.end(first.id, "failed", message="The disk is full.")
    (entry,) = pages.home_values(store, settings)["runs"]
    assert (entry["name"], entry["state_text"], entry["sentence"]) == ("first", "Failed", "The disk is full.")
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT[\d:]+\+00:00", entry["created"]["iso"])


def test_names_are_escaped_on_every_page(store, client):
    run = add(store)
    for path in ("/", "/new?matrix=a1&sheet=b2", f"/new?matrix=a1&like={run.id}", f"/runs/{run.id}"):
        answer = client.get(path)
        assert answer.status_code == 200
        assert "alert(1)" in answer.text
        assert "<script>alert" not in answer.text
        assert '" onload="' not in answer.text


def test_choices_of_an_earlier_run_are_offered_again(store, settings, client):
    run = add(store, name="before", options={"target": "tissue", "cv": 3})
    link = pages.run_values(store, settings, run.id)["change"]
    values = pages.new_values(store, {"matrix": "a1", "sheet": "b2"}, run.id)
    assert json.loads(values["options"]) == {"target": "tissue", "cv": 3}
    assert values["run_name"] == "before"
    assert 'value="before"' in client.get(link).text


def test_a_prediction_leads_back_to_its_analysis(store, settings, client):
    parent = add(store, name="parent")
    child = add(store, kind="predict", name="child", parent=parent.id)
    assert pages.run_values(store, settings, child.id)["change"] is None
    text = client.get(f"/runs/{child.id}").text
    assert f'href="/runs/{parent.id}"' in text
    assert "report-frame" not in text


@pytest.mark.parametrize("path", ["/new", "/new?matrix=zz", "/new?matrix=a1&sheet=zz", "/runs/zz"])
def test_what_is_gone_is_said(client, path):
    answer = client.get(path)
    assert answer.status_code == 404
    assert "Go to the start" in answer.text


def test_pages_without_a_store():
    assert b"The password is wrong." in render("login.html", error="The password is wrong.").body
    assert b'role="alert"' not in render("login.html", error=None).body
    assert b"ispca app" in render("refused.html", reason=None).body


def test_nothing_is_inline_and_nothing_comes_from_elsewhere():
    for path in (*TEMPLATES.iterdir(), *STATIC.iterdir()):
        text = path.read_text(encoding="utf-8")
        assert not re.search(r"https?://", text), path
        assert not re.search(r"innerHTML|insertAdjacentHTML|document\.write|\beval\(", text), path
        if path.suffix == ".html":
            assert not re.search(r"<style|\sstyle=|\son\w+=|<script(?! type=\"module\" src=\"/static/)", text), (
                path
            )
            loaded = re.findall(r'(?:src|href)="/static/([^"]+)"', text)
            assert all((STATIC / name).is_file() for name in loaded), path


def test_pages_know_which_files_are_no_sample_sheets(client):
    """Also of a format that was added to the list."""
    known = re.search('data-matrices="([^"]*)"', client.get("/").text)[1].split(",")
    files = [each for each in FORMATS if each.reader and each.stored_as == "file"]
    assert {suffix for each in files if each.matrix for suffix in each.suffixes} <= set(known)
    assert ".svmlight.gz" in known
    assert not {".csv", ".tsv.gz", ".xlsx"} & set(known)
