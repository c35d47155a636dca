"""The report in Chromium: from disk, without errors, with mouse, keyboard, print and a screen reader in mind."""

import csv
import os
from pathlib import Path

import pytest

HOSTILE = "</script><script>window.broken=1</script>"
SIZES = {"wide": (1200, 900), "narrow": (375, 760)}


def column(page, table, place):
    return page.locator(f"[data-table={table}] tbody tr td:nth-child({place})").all_inner_texts()


def test_it_opens_from_disk_and_hostile_names_are_text(open_page):
    page = open_page()
    assert page.title() == "Predicting tumour from 900 features in 60 samples"
    assert page.evaluate("window.broken") is None
    assert page.locator("main section").count() == 15
    assert HOSTILE in page.locator("#legend").inner_text()
    assert page.locator("#plot svg .points path").count() == 60


def test_the_policy_forbids_requests_and_scripts(open_page):
    page = open_page()
    stopped = []
    page.on("requestfailed", lambda request: stopped.append(request.failure))
    page.evaluate("window.heard = []")
    page.evaluate("addEventListener('securitypolicyviolation', (e) => heard.push(e.effectiveDirective))")
    for script in ("fetch('https://example.org')", "new Image().src = 'https://example.org/a.png'"):
        page.evaluate(f"(async () => {{ try {{ await ({script}) }} catch {{}} }})()")
    page.evaluate("document.body.insertAdjacentHTML('beforeend', '<a id=bad onclick=\"window.broken=1\">x</a>')")
    page.evaluate("document.getElementById('bad').click()")
    page.wait_for_function("heard.length >= 3")
    assert page.evaluate("window.broken") is None
    assert {"connect-src", "img-src", "script-src-attr"} <= set(page.evaluate("heard"))
    # The browser has complained of each on the console; the picture was asked for, and stopped by the policy.
    assert stopped == ["csp"]
    open_page.troubles.clear()


def hover(page, number):
    box = page.locator("#plot svg .points path").nth(number).bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)


def test_hover_shows_the_name(open_page):
    page = open_page()
    page.locator("#plot").scroll_into_view_if_needed()
    hover(page, 5)
    tip = page.locator(".tip")
    assert tip.is_visible()
    assert "(held out): " in tip.inner_text()
    assert "patient" in tip.inner_text() or HOSTILE in tip.inner_text()
    page.mouse.move(2, 2)
    assert tip.is_hidden()


def test_touch_shows_the_name(open_page):
    page = open_page(375, 760, has_touch=True)
    page.locator("#plot").scroll_into_view_if_needed()
    box = page.locator("#plot svg .points path").nth(9).bounding_box()
    page.touchscreen.tap(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    assert page.locator(".tip").is_visible()
    assert "tumour" in page.locator(".tip").inner_text()
    assert page.evaluate("document.documentElement.scrollWidth") <= 375


def test_the_choice_of_components_and_color(open_page):
    page = open_page()
    before = page.locator("#plot svg").inner_html()
    page.locator("#across").select_option(index=2)
    assert "supervised_3" in page.locator("#plot svg").inner_html()
    assert page.locator("#plot svg").inner_html() != before
    page.locator("#up").select_option(label="Sample order")
    assert "sample order" in page.locator("#plot svg").inner_html()
    fills = set(page.locator("#plot .points path").evaluate_all("all => all.map(a => a.getAttribute('fill'))"))
    assert len(fills) == 3
    page.locator("#color").select_option(index=1)
    fills = set(page.locator("#plot .points path").evaluate_all("all => all.map(a => a.getAttribute('fill'))"))
    assert len(fills) > 10


def test_the_keyboard_reaches_samples_and_tables(open_page):
    page = open_page()
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    page.locator("#plot").focus()
    page.keyboard.press("ArrowRight")
    first = page.locator("#told").inner_text()
    page.keyboard.press("ArrowRight")
    assert first
    assert page.locator("#told").inner_text() != first
    assert page.locator(".tip").is_visible()
    page.keyboard.press("Escape")
    assert page.locator(".tip").is_hidden()
    page.locator("[data-table=coefficients] th button").nth(2).focus()
    page.keyboard.press("Enter")
    assert page.locator("[data-table=coefficients] th").nth(2).get_attribute("aria-sort") == "descending"


def numbers(texts):
    return [float(text.replace("\u2212", "-").replace(",", "")) for text in texts]


def test_tables_sort_filter_and_grow(open_page):
    page = open_page()
    table = page.locator("[data-table=features-1]")
    heads = table.locator("th button")
    heads.nth(2).click()
    weights = numbers(column(page, "features-1", 3))
    assert weights == sorted(weights, reverse=True)
    heads.nth(2).click()
    weights = numbers(column(page, "features-1", 3))
    assert weights == sorted(weights)
    heads.nth(1).click()
    assert table.locator("th").nth(1).get_attribute("aria-sort") == "ascending"
    table.locator("input[type=search]").fill("WINDOW.broken")
    assert all(HOSTILE in text for text in column(page, "features-1", 2))
    assert "matches" in table.locator(".count").inner_text()
    table.locator("input[type=search]").fill("no such gene")
    assert column(page, "features-1", 1) == ["No matches."]
    table.locator("input[type=search]").fill("")
    page.locator("[data-group]").select_option(index=3)
    assert "unsupervised_4" in table.locator("caption").inner_text()
    table.locator(".grow").click()
    assert len(column(page, "features-1", 1)) > 200


def test_the_csv(open_page, tmp_path):
    page = open_page()
    table = page.locator("[data-table=features-1]")
    with page.expect_download() as download:
        table.get_by_role("button", name="Download CSV").click()
    assert download.value.suggested_filename == "features-1.csv"
    download.value.save_as(tmp_path / "a.csv")
    with open(tmp_path / "a.csv", newline="", encoding="utf-8-sig") as file:
        header, *rows = csv.reader(file)
    assert header == ["Rank", "Feature", "Loading", "Correlation"]
    assert [float(row[0]) for row in rows] == list(range(1, len(rows) + 1))


def test_the_samples_as_a_table(open_page):
    page = open_page()
    page.get_by_text("Show the samples as a table").click()
    page.locator("#samples input[type=search]").fill("patient 59")
    assert page.locator("#samples tbody tr").count() == 1


def test_print_is_usable(open_page, tmp_path):
    page = open_page()
    page.emulate_media(media="print")
    assert page.locator("nav").is_hidden()
    assert page.locator(".tools").first.is_hidden()
    assert page.locator("#plot svg").is_visible()
    pdf = page.pdf(path=tmp_path / "a.pdf", format="A4")
    assert pdf.startswith(b"%PDF")
    assert 2 <= pdf.count(b"/Type /Page\n") + pdf.count(b"/Type /Page ") <= 25


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", SIZES)
def test_axe_finds_nothing_serious(open_page, scheme, size):
    from axe_playwright_python.sync_playwright import Axe

    page = open_page(*SIZES[size], scheme)
    for summary in page.locator("summary").all():
        summary.click()
    # Playwright's own script is not subject to the policy of the page.
    found = Axe().run(page).response["violations"]
    serious = [
        (item["id"], [node["html"][:150] for node in item["nodes"]][:3])
        for item in found
        if item["impact"] in ("serious", "critical")
    ]
    assert serious == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", SIZES)
def test_nothing_is_wider_than_the_screen(open_page, tmp_path, scheme, size):
    width, height = SIZES[size]
    page = open_page(width, height, scheme)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.locator("#plot").scroll_into_view_if_needed()
    hover(page, 3)
    folder = Path(os.environ.get("ISPCA_SCREENSHOTS", tmp_path))
    page.screenshot(path=folder / f"report-{size}-{scheme}.png")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", SIZES)
def test_the_path_to_a_panel(open_page, tmp_path, scheme, size):
    page = open_page(*SIZES[size], scheme)
    plot = page.locator("#panel figure svg")
    plot.scroll_into_view_if_needed()
    frame = plot.bounding_box()
    assert plot.locator("circle.mean").count() == 5
    names = plot.locator("text.tick[transform]").all()[1:]
    assert [name.text_content()[:2] for name in names] == ["1:", "2:", "3:", "4:"]
    # The slanted names are inside the drawing, above the label of the axis.
    label = plot.locator("text.label").first.bounding_box()
    for box in (name.bounding_box() for name in names):
        assert frame["x"] <= box["x"]
        assert box["y"] + box["height"] <= label["y"] + 1
    ring = plot.locator("circle.suggested").first.bounding_box()
    point = plot.locator("circle.mean").nth(2).bounding_box()
    assert abs(ring["x"] + ring["width"] / 2 - point["x"] - point["width"] / 2) < 1
    assert column(page, "panel", 2)[:3] == ["(intercept)", HOSTILE, "gene 3"]
    folder = Path(os.environ.get("ISPCA_SCREENSHOTS", tmp_path))
    page.locator("#panel").screenshot(path=folder / f"panel-{size}-{scheme}.png")


def test_it_can_be_read_without_scripts(open_page):
    page = open_page(java_script_enabled=False)
    assert page.locator("[data-table=features-1] tbody tr").count() == 15
    assert "requires JavaScript" in page.locator("#score_plot").inner_text()
