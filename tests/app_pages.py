"""What tests of the web page in a browser do again and again: send files, start runs, check pages."""

import csv
import os
from pathlib import Path

import pytest

expect = pytest.importorskip("playwright.sync_api").expect

# A run has to fit a model, perhaps beside other tests.
PATIENCE = 120_000
HOSTILE = "</script><script>window.broken=1</script><img src=x onerror=window.broken=1>"
PHONE = (360, 740)


def write_rows(path, header, rows):
    with open(path, "w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([header, *rows])
    return path


def send(page, *paths):
    """Choose files on the first page and go on to the preview."""
    page.locator("#drop input").set_input_files([str(path) for path in paths])
    expect(page.locator("#continue")).to_be_enabled(timeout=PATIENCE)
    page.locator("#continue").click()
    page.wait_for_url("**/new?**")
    wait_for_preview(page)


def wait_for_preview(page):
    """Wait until the preview shows the choices."""
    expect(page.locator("#facts > div")).not_to_have_count(0, timeout=PATIENCE)
    # Changes are sent in the next turn.
    page.wait_for_timeout(50)
    expect(page.locator("#data[aria-busy]")).to_have_count(0, timeout=PATIENCE)


def start(page, name, draws=100):
    """Start an analysis of the chosen target, by default a quick one."""
    page.locator("#advanced summary").click()
    page.get_by_label("Folds of the cross-validation").fill("2")
    page.get_by_label("Bootstrap samples for intervals").fill("0")
    page.get_by_label("Posterior draws per chain").fill(str(draws))
    page.get_by_label("Name of this analysis").fill(name)
    page.get_by_role("button", name="Run", exact=True).click()
    page.wait_for_url("**/runs/**", timeout=PATIENCE)


def check_page(page, name, tmp_path):
    """Check accessibility and width, and keep a picture."""
    from axe_playwright_python.sync_playwright import Axe

    found = Axe().run(page).response["violations"]
    assert [(each["id"], [node["html"] for node in each["nodes"]]) for each in found] == []
    assert page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth")
    folder = Path(os.environ.get("ISPCA_SCREENSHOTS", tmp_path))
    page.screenshot(path=folder / f"app-{name}.png", full_page=True)


def tab_to(page, selector, most=100):
    """Press the tabulator key until something has the focus."""
    wanted = page.locator(selector)
    for _ in range(most):
        page.keyboard.press("Tab")
        if wanted.evaluate("(element) => element === document.activeElement"):
            return
    raise AssertionError(f"The keyboard does not reach {selector}.")
