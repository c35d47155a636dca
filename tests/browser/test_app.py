"""The web page in Chromium, from a dropped file to downloads, with the real server, by mouse and by keyboard."""

import re
import shutil

import openpyxl
import pytest

pytest.importorskip("uvicorn")
pytest.importorskip("playwright.sync_api")
from app_pages import HOSTILE, PATIENCE, PHONE, check_page, expect, send, start, tab_to, wait_for_preview

WIDTHS = {"wide": (1200, 900), "phone": PHONE}
DROP = """([zone, name, text]) => {
  const files = new DataTransfer();
  files.items.add(new File([text], name));
  for (const type of ["dragenter", "dragover", "drop"])
    zone.dispatchEvent(new DragEvent(type, { dataTransfer: files, bubbles: true, cancelable: true }));
}"""


def test_from_drop_to_download(open_app, files, tmp_path):
    page = open_app()
    page.locator("#drop").evaluate(
        "(zone, given) => (" + DROP + ")([zone, ...given])", ["tissue.csv", files["table"].read_text()]
    )
    expect(page.locator("#chosen-files")).to_contain_text("tissue.csv")
    page.get_by_role("button", name="Continue").click()
    wait_for_preview(page)
    expect(page.locator("#facts")).to_contain_text("Samples40")
    assert "diagnosis" in page.locator("#target option").nth(1).inner_text()
    page.get_by_role("button", name="Run", exact=True).click()
    expect(page.locator("#target-error")).to_have_text("Choose what to predict.")
    expect(page.locator("#target")).to_be_focused()
    page.get_by_label("Target", exact=True).select_option("diagnosis")
    expect(page.locator("#target-summary")).to_contain_text(HOSTILE, timeout=PATIENCE)
    page.get_by_label("Class to call positive").select_option(HOSTILE)
    page.get_by_label("Table that describes the features").set_input_files(str(files["annotation"]))
    expect(page.get_by_label("Shown beside feature names")).to_have_value("symbol", timeout=PATIENCE)
    expect(page.get_by_role("button", name="Remove genes.csv")).to_be_focused()
    # So long that the page asks while it is going on.
    start(page, "From drop to download", draws=10_000)
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
    expect(report.get_by_text("SYM1", exact=False).first).to_be_attached()
    assert page.evaluate("window.broken") is None
    page.get_by_role("link", name="Analyze the same data again").click()
    wait_for_preview(page)
    expect(page.get_by_label("Shown beside feature names")).to_have_value("symbol")
    page.get_by_role("button", name="Remove genes.csv").click()
    expect(page.get_by_label("Shown beside feature names")).to_be_hidden(timeout=PATIENCE)
    expect(page.get_by_label("Table that describes the features")).to_be_focused()


def test_new_samples_are_predicted(open_app, finished, files, tmp_path):
    page = open_app(path=finished)
    page.locator("#drop input").set_input_files(str(files["new"]))
    page.get_by_role("button", name="Predict", exact=True).click()
    box = page.locator("#predictions article", has_text="Predictions: new.csv")
    expect(box.locator(".state")).to_have_text("Done", timeout=PATIENCE)
    expect(box.locator("tbody tr")).to_have_count(10)
    expect(box.locator("caption")).to_contain_text("12 samples")
    with page.expect_download() as download:
        box.get_by_role("link", name="predictions.csv").click()
    download.value.save_as(tmp_path / "predictions.csv")
    assert len((tmp_path / "predictions.csv").read_text().splitlines()) == 13
    page.locator("#drop input").set_input_files([str(files["sheet"]), str(files["genes in rows"])])
    expect(page.locator("#chosen-files li").first).to_contain_text("genes in rows.csv")
    expect(page.locator("#continue")).to_be_enabled(timeout=PATIENCE)
    check_page(page, "predict", tmp_path)
    page.get_by_role("button", name="Predict", exact=True).click()
    other = page.locator("#predictions article", has_text="genes in rows.csv")
    expect(other.locator(".state")).to_have_text("Done", timeout=PATIENCE)
    expect(other.locator("caption").first).to_contain_text("12 samples")
    check_page(page, "results", tmp_path)


def test_training_samples_are_recognized_and_a_lost_result_is_not_run_again(open_app, finished, files, server):
    page = open_app(path=finished)
    page.locator("#drop input").set_input_files(str(files["table"]))
    page.get_by_role("button", name="Predict", exact=True).click()
    box = page.locator("#predictions article", has_text="tissue data.csv")
    expect(box.locator(".state")).to_have_text("Done", timeout=PATIENCE)
    expect(box).to_contain_text("Predicted 40 samples; 40 are training samples.")
    expect(box.get_by_role("columnheader", name="Training sample")).to_have_count(1)
    expect(box.locator("tbody tr").first).to_contain_text("held-out prediction")
    expect(box).not_to_contain_text("were evaluated")
    path = box.get_by_role("link", name="Predictions: tissue data.csv").get_attribute("href")
    shutil.rmtree(server.folder / path.strip("/"))
    page.goto(open_app.base.rstrip("/") + path)
    expect(page.locator("#trouble")).to_contain_text("its folder was moved or deleted")
    expect(page.get_by_role("button", name="Run again")).to_have_count(0)
    expect(page.locator("#trouble-advice")).to_be_hidden()


def test_a_comparison_can_be_read_and_another_deleted(open_app, finished, tmp_path):
    page = open_app(path=finished)
    page.get_by_label("Random splits").select_option("5")
    page.get_by_role("button", name="Compare", exact=True).click()
    articles = page.locator("#comparisons article")
    expect(articles).to_have_count(2)
    new = articles.first
    expect(new.locator(".state")).to_have_text(re.compile("Running|Waiting"), timeout=PATIENCE)
    new.get_by_role("button", name="Cancel").click()
    expect(new.locator(".state")).to_have_text("Cancelled", timeout=PATIENCE)
    new.get_by_role("button", name="Delete").click()
    page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    expect(articles).to_have_count(1)
    expect(articles.locator(".state")).to_have_text("Done", timeout=PATIENCE)
    expect(articles.locator("table")).to_contain_text("ISPCA")
    articles.get_by_role("link", name="Comparison: finished").click()
    expect(page.locator("#verdict")).to_contain_text("methods on held-out samples")
    expect(page.locator("#result table")).to_contain_text("Lasso", ignore_case=True)
    check_page(page, "comparison", tmp_path)


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
    wait_for_preview(page)
    expect(page.locator("#guesses")).to_contain_text("age")
    page.get_by_label("Kind of target").select_option("survival")
    expect(page.get_by_label("Event", exact=True)).to_be_visible()
    expect(page.get_by_label("Target", exact=True)).to_be_hidden()


def test_files_that_cannot_be_used_are_named(open_app, files, tmp_path):
    page = open_app()
    (tmp_path / "notes.docx").write_bytes(b"x")
    page.locator("#drop input").set_input_files(str(tmp_path / "notes.docx"))
    expect(page.locator("#chosen-files .error")).to_contain_text("notes.docx")
    expect(page.locator("#continue")).to_be_disabled()
    page.locator("#drop input").set_input_files([str(files[name]) for name in ("table", "new", "matrix")])
    expect(page.locator("#drop-error")).to_contain_text("at most two files")
    # The browser reports the refused upload.
    assert any("415" in trouble for trouble in open_app.troubles)
    open_app.troubles.clear()


def test_two_browsers_see_the_same_run_and_its_end(open_app, files):
    first, second = open_app(), open_app(*PHONE, scheme="dark")
    send(first, files["table"])
    first.get_by_label("Target", exact=True).select_option("diagnosis")
    wait_for_preview(first)
    # So long that it is still going on when the other window cancels it.
    start(first, "tumor and normal", draws=50_000)
    # The list shows what another window has started.
    expect(second.locator("#runs li", has_text="tumor and normal")).to_be_visible(timeout=PATIENCE)
    second.goto(first.url)
    second.get_by_role("button", name="Cancel").click()
    for page in (first, second):
        expect(page.locator("#state")).to_have_text("Cancelled", timeout=PATIENCE)
    second.get_by_role("link", name="Change the choices").click()
    wait_for_preview(second)
    assert second.locator("#target").input_value() == "diagnosis"
    assert second.get_by_label("Name of this analysis").input_value() == "tumor and normal"
    for page in (first, second):
        page.goto(open_app.base)
    entry = first.locator("#runs li", has_text="tumor and normal")
    entry.get_by_role("button", name="Delete").click()
    first.keyboard.press("Escape")
    expect(entry).to_have_count(1)
    entry.get_by_role("button", name="Delete").click()
    first.get_by_role("dialog").get_by_role("button", name="Delete").click()
    expect(entry).to_have_count(0)
    expect(second.locator("#runs li", has_text="tumor and normal")).to_have_count(0, timeout=PATIENCE)


def test_the_keyboard_alone_leads_to_a_run(open_app, files):
    page = open_app()
    # Playwright starts to watch for dialogs a moment after the first listener.
    page.on("filechooser", lambda _: None)
    page.keyboard.press("Tab")
    expect(page.locator(".skip")).to_be_focused()
    tab_to(page, "#drop input")
    with page.expect_file_chooser() as chooser:
        page.keyboard.press("Space")
    chooser.value.set_files(str(files["table"]))
    expect(page.locator("#continue")).to_be_enabled(timeout=PATIENCE)
    tab_to(page, "#continue")
    page.keyboard.press("Enter")
    wait_for_preview(page)
    tab_to(page, "#target")
    page.keyboard.type("diag")
    expect(page.locator("#target-summary")).to_contain_text("normal", timeout=PATIENCE)
    expect(page.locator("#target")).to_be_focused()
    tab_to(page, "#start")
    page.keyboard.press("Enter")
    page.wait_for_url("**/runs/**", timeout=PATIENCE)
    tab_to(page, "#cancel")
    page.keyboard.press("Enter")
    expect(page.locator("#state")).to_have_text("Cancelled", timeout=PATIENCE)


def test_another_sheet_of_a_workbook_is_chosen(open_app, tmp_path):
    book = openpyxl.Workbook()
    for name, n_samples in (("pilot", 12), ("study", 30)):
        sheet = book.active if name == "pilot" else book.create_sheet()
        sheet.title = name
        sheet.append(["sample", "state", "g1", "g2"])
        for i in range(n_samples):
            sheet.append([f"s{i}", "ab"[i % 2], i * 0.5, 3.5 - i])
    book.save(tmp_path / "book.xlsx")
    page = open_app()
    send(page, tmp_path / "book.xlsx")
    page.get_by_label("Excel sheet").select_option("pilot")
    expect(page.locator("#facts")).to_contain_text("Samples12", timeout=PATIENCE)
    page.get_by_label("Excel sheet").select_option("study")
    expect(page.locator("#facts")).to_contain_text("Samples30", timeout=PATIENCE)


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
