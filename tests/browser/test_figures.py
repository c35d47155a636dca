"""Figures, lists and links of the report in Chromium: saved files, copied text, samples found in the picture."""

import os
import re
import struct
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

SIZES = {"wide": (1200, 900), "narrow": (375, 760)}


def test_figures_are_numbered_in_order(open_page):
    page = open_page()
    captions = page.locator("figure figcaption").all_inner_texts()
    numbers = [int(re.match(r"Figure (\d+)\. .", caption)[1]) for caption in captions]
    assert numbers == list(range(1, len(numbers) + 1))
    assert len(numbers) >= 8


def test_every_figure_can_be_saved_in_light_colors(open_page, tmp_path):
    page = open_page(scheme="dark")
    figures = page.locator("figure[data-figure]").all()
    for number, figure in enumerate(figures, start=1):
        with page.expect_download() as download:
            figure.get_by_role("button", name=f"Save figure {number} as SVG").click()
        assert download.value.suggested_filename == f"figure-{number}.svg"
        download.value.save_as(tmp_path / "a.svg")
        root = ElementTree.parse(tmp_path / "a.svg").getroot()
        assert root[0].attrib["fill"] == "#ffffff"
        text = (tmp_path / "a.svg").read_text(encoding="utf-8")
        written = " ".join(node.text or "" for node in root.iter("{http://www.w3.org/2000/svg}text"))
        assert f"Figure {number}. " in written
        for entry in figure.locator(".legend li").all_inner_texts():
            assert entry in written
        assert "class=" not in text
        # The ink of the dark page.
        assert "rgb(232, 234, 236)" not in text
        with page.expect_download() as download:
            figure.get_by_role("button", name=f"Save figure {number} as PNG").click()
        download.value.save_as(tmp_path / "a.png")
        start = (tmp_path / "a.png").read_bytes()[:24]
        assert start.startswith(b"\x89PNG")
        assert struct.unpack(">I", start[16:20])[0] == 3 * int(float(root.attrib["width"]))
    assert page.evaluate("document.documentElement.className") == ""


def test_a_saved_score_plot_has_its_color_bar(open_page, tmp_path):
    page = open_page()
    page.locator("#color").select_option(index=1)
    label = page.locator("#color option:checked").inner_text()
    with page.expect_download() as download:
        page.locator("figure:has(#plot)").get_by_role("button", name="as SVG").click()
    download.value.save_as(tmp_path / "a.svg")
    root = ElementTree.parse(tmp_path / "a.svg").getroot()
    texts = [node.text or "" for node in root.iter("{http://www.w3.org/2000/svg}text")]
    assert any(text.startswith(f"{label}: ") for text in texts)
    assert len(list(root.iter("{http://www.w3.org/2000/svg}rect"))) > 20


def test_details_are_printed_open(open_page):
    page = open_page()
    closed = page.locator("#prediction details:not([open])").count()
    assert closed > 0
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert page.locator("#prediction details:not([open])").count() == 0
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert page.locator("#prediction details:not([open])").count() == closed


def test_a_misclassified_sample_is_found_in_the_picture(open_page):
    page = open_page()
    links = page.locator("[data-table=misclassified] button.link")
    assert links.count() == page.locator("#plot circle.wrong").count() > 0
    name = links.first.inner_text()
    links.first.click()
    assert page.locator(".tip").is_visible()
    assert page.locator(".tip strong").inner_text() == name
    assert page.locator("#plot").evaluate("p => p === document.activeElement")


def test_plain_lists_and_methods_can_be_copied_and_saved(open_page, tmp_path):
    page = open_page()
    page.get_by_text("Names as plain text").click()
    block = page.locator("[data-text=features-1]")
    with page.expect_download() as download:
        block.get_by_role("button", name="Save as text").click()
    assert download.value.suggested_filename == "features-1.txt"
    download.value.save_as(tmp_path / "a.txt")
    lines = (tmp_path / "a.txt").read_text(encoding="utf-8").splitlines()
    assert 50 < len(lines) <= 200
    assert any(re.fullmatch(r"gene \d+", line) for line in lines)
    methods = page.locator("[data-text=methods]")
    methods.get_by_role("button", name="Copy").click()
    page.wait_for_function("document.querySelector('[data-text=methods] .count').textContent !== ''")


@pytest.mark.parametrize("size", SIZES)
def test_wide_tables_say_that_they_scroll(open_page, tmp_path, size):
    page = open_page(*SIZES[size])
    wide = page.locator("[data-table=leading] .scroll")
    wide.scroll_into_view_if_needed()
    said = wide.evaluate("place => getComputedStyle(place, '::before').content")
    wider = wide.evaluate("place => place.scrollWidth > place.clientWidth + 1")
    assert ("Scroll sideways" in said) == wider
    assert wider or size == "wide"
    folder = Path(os.environ.get("ISPCA_SCREENSHOTS", tmp_path))
    page.locator("#leading_features").screenshot(path=folder / f"features-{size}.png")
    page.locator("#overview").screenshot(path=folder / f"overview-{size}.png")
