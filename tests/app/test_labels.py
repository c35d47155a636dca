"""Errors name controls by the labels that the page shows."""

import re
from pathlib import Path

import pytest

import ispca
from ispca.app.labels import LABELS, VALUES, in_page_words, label

PACKAGE = Path(ispca.__file__).parent
PAGE = (PACKAGE / "app" / "templates" / "new.html").read_text(encoding="utf-8")


@pytest.mark.parametrize("text", [*LABELS.values(), *VALUES.values()])
def test_the_page_shows_every_label_and_choice(text):
    assert re.search(rf"[>\"] ?{re.escape(text)}[\"<,]", PAGE)


@pytest.mark.parametrize(
    ("advice", "shown"),
    [
        ("Pass id='COLUMN'.", "Set “Sample names”."),
        ("Leave out transpose=True.", "Uncheck “Features are in rows”."),
        ("Leave out kind='count'.", "Reset “Kind of target”."),
        ("Pass sheet='NAME' to read another one.", "Set “Excel sheet” to read another one."),
        ("Pass samples='FILE'.", "Add a sample sheet."),
        ("If the file is correct, raise the limit with max_bytes=N.", ""),
        ("Rename it.", "Rename it."),
        (
            "Pass missing='mean' or missing='rows'.",
            "Set “Missing values” to “Replace by the column mean” or “Leave out samples that have some”.",
        ),
        (
            "Leave out these columns (missing='columns').",
            "Leave out these columns (“Missing values”: “Leave out columns that have some”).",
        ),
        (
            "Choose a column of class labels, or pass kind='regression' for a quantity.",
            "Choose a column of class labels, or set “Kind of target” to “Quantity” for a quantity.",
        ),
    ],
)
def test_advice_about_parameters_becomes_advice_about_controls(advice, shown):
    assert in_page_words(advice) == shown


def test_no_advice_of_the_readers_shows_a_parameter():
    sources = [path.read_text(encoding="utf-8") for path in (PACKAGE / "readers").glob("*.py")]
    advice = [text for source in sources for text in re.findall(r"\"([^\"\n]*\b\w+='[^\"\n]*)\"", source)]
    advice = [text.replace("{name}", "log2") for text in advice]
    assert len(advice) > 10
    assert not [text for text in map(in_page_words, advice) if re.search(r"\w=|--\w", text)]


def test_an_option_without_a_control_keeps_its_name():
    assert (label("sheet"), label("splits")) == ("“Excel sheet”", "splits")
