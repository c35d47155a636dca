"""The web page in Chromium, from a dropped file to downloads, with the real server, by mouse and by keyboard."""

import csv
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from ispca.datasets import make_expression

pytest.importorskip("uvicorn")
sync_api = pytest.importorskip("playwright.sync_api")
expect = sync_api.expect

# A run has to fit a model, perhaps beside other tests.
PATIENCE = 120_000
HOSTILE = "<img src=x onerror=window.broken=1>"
WIDTHS = {"wide": (1200, 900), "phone": (360, 740)}
DROP = """([zone, name, text]) => {
  const files = new DataTransfer();
  files.items.add(new File([text], name));
  for (const type of ["dragenter", "dragover", "drop"])
    zone.dispatchEvent(new DragEvent(type, { dataTransfer: files, bubbles: true, cancelable: true }));
}"""


def write_rows(path, header, rows):
    with open(path, "w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([header, *rows])
    return path


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """One table with classes and hostile names, new samples, and a matrix with missing values and its sheet."""
    folder = tmp_path_factory.mktemp("files")
    data = make_expression(n_samples=40, n_features=60, signal=3.0, random_state=0)
    genes = [HOSTILE, *(f"gene {j}" for j in range(1, 60))]
    samples = [f"s{i}" for i in range(40)]
    values = np.round(data.data, 3).tolist()
    classes = [HOSTILE if label == data.target[0] else "normal" for label in data.target]
    labeled = [[name, label, *row] for name, label, row in zip(samples, classes, values, strict=True)]
    found = {"table": write_rows(folder / "tissue data.csv", ["sample", "diagnosis", *genes], labeled)}
    new = [[f"new {i}", *row] for i, row in enumerate(values[:12])]
    found["new"] = write_rows(folder / "new.csv", ["sample", *genes], new)
    gaps = [
        [name, *row[:-1], "NA" if i % 9 == 0 else row[-1]]
        for i, (name, row) in enumerate(zip(samples, values, strict=True))
    ]
    found["matrix"] = write_rows(folder / "a.csv", ["sample", *genes], gaps)
    sheet = [[name, label, 30 + i % 40] for i, (name, label) in enumerate(zip(samples, classes, strict=True))]
    found["sheet"] = write_rows(folder / "clinical.csv", ["sample", "diagnosis", "age"], sheet)
    return found


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """The address of a running server, with its token."""
    folder = tmp_path_factory.mktemp("server")
    command = [sys.executable, "-m", "ispca", "app", "--no-browser", "--folder", str(folder), "--runs", "2"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        try:
            yield re.search(r"http://\S+", process.stdout.readline())[0]
        finally:
            process.terminate()


@pytest.fixture
def open_app(browser, server):
    """Return a function that opens the first page; errors and requests to others fail the test."""
    contexts, troubles = [], []
    base = server.partition("?")[0]

    def open_page(width=1200, height=900, scheme="light", path=""):
        context = browser.new_context(viewport={"width": width, "height": height}, color_scheme=scheme)
        contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: troubles.append(str(error)))
        page.on("console", lambda message: message.type == "error" and troubles.append(message.text))
        page.on(
            "request",
            lambda request: request.url.startswith((base, "data:", "blob:")) or troubles.append(request.url),
        )
        page.goto(server)
        if path:
            page.goto(base.rstrip("/") + path)
        return page

    open_page.troubles, open_page.base = troubles, base
    yield open_page
    for context in contexts:
        context.close()
    assert troubles == []


def send(page, *paths):
    """Choose files on the first page and go on to the preview."""
    page.locator("#drop input").set_input_files([str(path) for path in paths])
    expect(page.locator("#continue")).to_be_enabled(timeout=PATIENCE)
    page.locator("#continue").click()
    page.wait_for_url("**/new?**")
    previewed(page)


def previewed(page):
    """Wait until the preview shows the choices."""
    expect(page.locator("#facts > div")).not_to_have_count(0, timeout=PATIENCE)
    # Changes are sent in the next turn.
    page.wait_for_timeout(50)
    expect(page.locator("#data[aria-busy]")).to_have_count(0, timeout=PATIENCE)


def start(page, name):
    """Start a quick analysis of the chosen target."""
    page.locator("#advanced summary").click()
    page.get_by_label("Folds of the cross-validation").fill("2")
    page.get_by_label("Posterior draws per chain").fill("100")
    page.get_by_label("Name of this analysis").fill(name)
    page.get_by_role("button", name="Run", exact=True).click()
    page.wait_for_url("**/runs/**", timeout=PATIENCE)


@pytest.fixture(scope="module")
def finished(browser, server, files):
    """The path of the page of an analysis that is done."""
    context = browser.new_context()
    page = context.new_page()
    page.goto(server)
    send(page, files["table"])
    page.get_by_label("Target", exact=True).select_option("diagnosis")
    previewed(page)
    start(page, "finished")
    expect(page.locator("#state")).to_have_text("Done", timeout=PATIENCE)
    path = "/" + page.url.partition("//")[2].partition("/")[2]
    context.close()
    return path


def check_page(page, name, tmp_path):
    """Check accessibility and width, and keep a picture."""
    from axe_playwright_python.sync_playwright import Axe

    found = Axe().run(page).response["violations"]
    assert [(each["id"], [node["html"] for node in each["nodes"]]) for each in found] == []
    assert page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth")
    folder = Path(os.environ.get("ISPCA_SCREENSHOTS", tmp_path))
    page.screenshot(path=folder / f"app-{name}.png", full_page=True)


def test_from_drop_to_download(open_app, files, tmp_path):
    page = open_app()
    page.locator("#drop").evaluate(
        "(zone, given) => (" + DROP + ")([zone, ...given])", ["tissue.csv", files["table"].read_text()]
    )
    expect(page.locator("#files")).to_contain_text("tissue.csv")
    page.get_by_role("button", name="Continue").click()
    previewed(page)
    expect(page.locator("#facts")).to_contain_text("Samples40")
    assert "diagnosis" in page.locator("#target option").nth(1).inner_text()
    page.get_by_role("button", name="Run", exact=True).click()
    expect(page.locator("#target-error")).to_have_text("Choose what to predict.")
    expect(page.locator("#target")).to_be_focused()
    page.get_by_label("Target", exact=True).select_option("diagnosis")
    expect(page.locator("#target-summary")).to_contain_text(HOSTILE, timeout=PATIENCE)
    page.get_by_label("Class to call positive").select_option(HOSTILE)
    start(page, "From drop to download")
    expect(page.locator("#stages li")).not_to_have_count(0, timeout=PATIENCE)
    # The page may be closed and opened again.
    page.reload()
    expect(page.locator("#state")).to_have_text("Done", timeout=PATIENCE)
    expect(page.locator("#verdict")).to_contain_text("held-out samples")
    report = page.frame_locator("#report-frame")
    expect(report.locator("h1")).to_contain_text("diagnosis", timeout=PATIENCE)
    assert page.locator("#report-frame").get_attribute("sandbox") == "allow-scripts allow-downloads allow-popups"
    with page.expect_download() as download:
        page.get_by_role("link", name="scores.csv").click()
    assert download.value.suggested_filename == "scores.csv"
    download.value.save_as(tmp_path / "scores.csv")
    assert len((tmp_path / "scores.csv").read_text().splitlines()) == 41
    assert page.evaluate("window.broken") is None


def test_new_samples_are_predicted_and_methods_compared(open_app, finished, files, tmp_path):
    page = open_app(path=finished)
    page.locator("#drop input").set_input_files(str(files["new"]))
    box = page.locator("#predictions article").first
    expect(box.locator(".state")).to_have_text("Done", timeout=PATIENCE)
    expect(box.locator("tbody tr")).to_have_count(10)
    expect(box.locator("caption")).to_contain_text("12 samples")
    with page.expect_download() as download:
        box.get_by_role("link", name="predictions.csv").click()
    download.value.save_as(tmp_path / "predictions.csv")
    assert len((tmp_path / "predictions.csv").read_text().splitlines()) == 13
    page.get_by_label("Random splits").select_option("5")
    page.get_by_role("button", name="Compare", exact=True).click()
    other = page.locator("#comparisons article").first
    expect(other.locator(".state")).to_have_text(re.compile("Running|Waiting"), timeout=PATIENCE)
    check_page(page, "results-wide", tmp_path)
    other.get_by_role("button", name="Cancel").click()
    expect(other.locator(".state")).to_have_text("Cancelled", timeout=PATIENCE)
    other.get_by_role("button", name="Delete").click()
    page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    expect(page.locator("#comparisons article")).to_have_count(0)


def test_a_wrong_guess_is_corrected_beside_its_control(open_app, files):
    page = open_app()
    # The larger file contains the data, whatever the order.
    send(page, files["sheet"], files["matrix"])
    expect(page.locator("ul.files li").first).to_contain_text("a.csv")
    page.get_by_label("Target", exact=True).select_option("diagnosis")
    error = page.locator("#missing-error")
    expect(error).to_contain_text("missing", timeout=PATIENCE)
    missing = page.get_by_label("Missing values", exact=True)
    assert missing.get_attribute("aria-invalid") == "true"
    expect(page.locator("#data-error").get_by_role("link", name="Missing values")).to_be_visible()
    missing.focus()
    missing.select_option("mean")
    expect(error).to_be_hidden(timeout=PATIENCE)
    expect(missing).to_be_focused()
    page.get_by_role("checkbox", name="age").check()
    previewed(page)
    expect(page.locator("#guesses")).to_contain_text("age")
    page.get_by_label("Kind of target").select_option("survival")
    expect(page.get_by_label("Event", exact=True)).to_be_visible()
    expect(page.get_by_label("Target", exact=True)).to_be_hidden()


def test_files_that_cannot_be_used_are_named(open_app, files, tmp_path):
    page = open_app()
    (tmp_path / "notes.docx").write_bytes(b"x")
    page.locator("#drop input").set_input_files(str(tmp_path / "notes.docx"))
    expect(page.locator("#files .error")).to_contain_text("notes.docx")
    expect(page.locator("#continue")).to_be_disabled()
    page.locator("#drop input").set_input_files([str(files[name]) for name in ("table", "new", "matrix")])
    expect(page.locator("#drop-error")).to_contain_text("at most two files")
    # The browser reports the refused upload.
    assert any("415" in trouble for trouble in open_app.troubles)
    open_app.troubles.clear()


def test_two_browsers_see_the_same_run_and_its_end(open_app, files):
    first, second = open_app(), open_app(*WIDTHS["phone"], scheme="dark")
    send(first, files["table"])
    first.get_by_label("Target", exact=True).select_option("diagnosis")
    previewed(first)
    start(first, "tumor and normal")
    second.goto(first.url)
    second.get_by_role("button", name="Cancel").click()
    for page in (first, second):
        expect(page.locator("#state")).to_have_text("Cancelled", timeout=PATIENCE)
    second.get_by_role("link", name="Change the choices").click()
    previewed(second)
    assert second.locator("#target").input_value() == "diagnosis"
    assert second.get_by_label("Name of this analysis").input_value() == "tumor and normal"
    first.goto(open_app.base)
    entry = first.locator("#runs li", has_text="tumor and normal")
    entry.get_by_role("button", name="Delete").click()
    first.keyboard.press("Escape")
    expect(entry).to_have_count(1)
    entry.get_by_role("button", name="Delete").click()
    first.get_by_role("dialog").get_by_role("button", name="Delete").click()
    expect(entry).to_have_count(0)


def test_the_keyboard_alone_chooses_a_target(open_app, files):
    page = open_app()
    page.keyboard.press("Tab")
    expect(page.locator(".skip")).to_be_focused()
    send(page, files["table"])
    page.locator("#target").focus()
    page.keyboard.type("diag")
    expect(page.locator("#target-summary")).to_contain_text("normal", timeout=PATIENCE)
    expect(page.locator("#target")).to_be_focused()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", WIDTHS)
def test_every_page_is_accessible_and_fits(open_app, finished, files, tmp_path, size, scheme):
    page = open_app(*WIDTHS[size], scheme=scheme)
    check_page(page, f"home-{size}-{scheme}", tmp_path)
    send(page, files["matrix"], files["sheet"])
    page.get_by_label("Target", exact=True).select_option("diagnosis")
    expect(page.locator("#missing-error")).to_be_visible(timeout=PATIENCE)
    check_page(page, f"preview-{size}-{scheme}", tmp_path)
    page.goto(open_app.base.rstrip("/") + finished)
    expect(page.locator("#downloads")).to_be_visible(timeout=PATIENCE)
    page.frame_locator("#report-frame").locator("h1").wait_for(timeout=PATIENCE)
    check_page(page, f"run-{size}-{scheme}", tmp_path)


def test_a_stopped_server_is_said(open_app, finished):
    page = open_app(path=finished)
    page.route("**/api/runs/*", lambda route: route.abort())
    page.reload()
    expect(page.locator("#away")).to_contain_text("The server is not running. Start it again with ispca app")
    open_app.troubles.clear()
    page.unroute("**/api/runs/*")
    expect(page.locator("#away")).to_be_hidden(timeout=PATIENCE)
    expect(page.locator("#downloads")).to_be_visible()
    open_app.troubles.clear()
