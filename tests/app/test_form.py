"""Choices on the page become the settings they should be, whatever they are, and messages name its controls."""

import re
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import ispca
from ispca.analysis.settings import Settings
from ispca.app.form import (
    CHOICES,
    CONTROLS,
    PageError,
    find_control,
    in_page_words,
    label,
    make_settings,
    page_advice,
)
from ispca.app.pages import render
from ispca.foundation.messages import InputError

FILES = {"matrix": Path("x.csv")}
PLAIN = vars(make_settings({}, FILES))
# Names of settings that differ from those of the page.
WRITTEN = {"sheet_name": "sheet"}
FREE_TEXT = ("target", "positive", "groups", "weights", "id", "on", "sheet_name", "label")
TEXT = st.text(st.characters(exclude_characters="\0"), min_size=1, max_size=40).filter(lambda text: text != "--")


def changed(options, **more):
    """Return the settings that these options change."""
    found = vars(make_settings(options, FILES, **more))
    return {name: value for name, value in found.items() if value != PLAIN[name]}


@given(st.dictionaries(st.sampled_from(FREE_TEXT), TEXT))
def test_texts_arrive_unchanged_and_change_nothing_else(options):
    assert changed(options) == {WRITTEN.get(name, name): value for name, value in options.items()}


@given(st.lists(TEXT, min_size=1, max_size=4), st.lists(TEXT, min_size=1, max_size=4))
def test_lists_arrive_unchanged(features, drop):
    assert changed({"features": features, "drop": drop}) == {"features": tuple(features), "drop": tuple(drop)}


ANYTHING = (
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.lists(st.text() | st.integers())
)
ANYTHING |= st.dictionaries(st.text(), st.integers())


@pytest.mark.slow
@given(st.dictionaries(st.sampled_from(sorted(CHOICES)) | st.text(max_size=5), ANYTHING))
def test_whatever_is_accepted_becomes_settings(options):
    with suppress(PageError):
        assert make_settings(options, FILES).data == Path("x.csv")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"out": "/etc"}, "no option 'out'"),
        ({"target": 3}, "“Target” must be a text"),
        ({"target": ""}, "“Target” must be a text"),
        ({"target": "--"}, "“Target” must not be two dashes"),
        ({"covariates": ["--"]}, "“Covariates” must not be two dashes"),
        ({"target": "a\0b"}, "“Target” must be a text"),
        ({"target": "x" * 1001}, "at most 1,000 characters"),
        ({"cv": True}, "“Folds of the cross-validation” must be an integer"),
        ({"cv": 5.0}, "must be an integer"),
        ({"cv": "5"}, "must be an integer"),
        ({"draws": 10**9}, "must be an integer from 1"),
        ({"kind": ["class"]}, "“Kind of target” must be one of"),
        ({"covariates": "age"}, "“Covariates” must be a list"),
        ({"covariates": ""}, "“Covariates” must be a list"),
        ({"drop": [1]}, "“Columns to leave out” must be a text"),
        ({"transpose": "yes"}, "“Features are in rows” must be true or false"),
        ({"transpose": 0}, "must be true or false"),
    ],
)
def test_wrong_values_are_refused(options, message):
    with pytest.raises(PageError, match=message):
        make_settings(options, FILES)


@pytest.mark.parametrize(
    ("options", "settings"),
    [
        (
            {"target": "y", "kind": "quantity", "sheet_name": "Data"},
            {"target": "y", "kind": "regression", "sheet": "Data"},
        ),
        ({"covariates": ["a,b"], "merge": True, "cv": 0}, {"covariates": ("a,b",), "merge": True, "cv": 0}),
        ({"time": "t", "event": "e", "transpose": False}, {"time": "t", "event": "e"}),
        ({"draws": 500, "transform": "none"}, {"draws": 500, "transform": "none"}),
        ({"missing": "rows", "transpose": True}, {"missing": "rows", "transpose": True}),
    ],
)
def test_choices_become_settings(options, settings):
    files = {"matrix": Path("x.csv"), "sheet": Path("s.csv")}
    assert make_settings(options, files) == Settings(data="x.csv", samples="s.csv", **settings)


def test_settings_that_contradict_each_other_are_named_by_their_controls():
    with pytest.raises(PageError, match=r"“Offset of counts” is .* Add “Kind of target”: “Count”\.") as found:
        make_settings({"target": "y", "offset": "o"}, FILES)
    assert found.value.control == "offset"


@pytest.mark.parametrize(
    ("kind", "settings"),
    [
        ("compare", {"target": "y", "id": "--x", "seed": 7, "missing": "rows"}),
        ("predict", {"id": "--x", "missing": "rows"}),
    ],
)
def test_other_runs_take_the_choices_that_they_know(kind, settings):
    options = {"target": "y", "id": "--x", "method": "SPCA", "cv": 2, "seed": 7, "missing": "rows", "splits": 3}
    assert changed(options, kind=kind) == settings


def shown_page():
    upload = {"id": "1", "name": "x.csv", "size": 3}
    beside = {"sheet": upload, "annotation": None, "run_name": "", "options": "{}"}
    return render("new.html", matrix=upload, **beside).body.decode()


PAGE = shown_page()


@pytest.mark.parametrize("name", CONTROLS)
def test_the_page_shows_every_label_and_choice(name):
    option = CONTROLS[name]
    texts = [option.label, *option.labels.values()]
    assert re.search(rf'id="{name}"', PAGE)
    assert not [text for text in texts if not re.search(rf'[>"] ?{re.escape(text)}["<,:]', PAGE)]
    words = [option.word(choice) for choice in option.choices if choice != getattr(Settings(), name)]
    assert not [word for word in words if not re.search(f'<option[^>]* value="{word}">', PAGE)]


@pytest.mark.parametrize(
    ("advice", "shown"),
    [
        ("⟦Pass id=COLUMN⟧.", "Set “Sample names”."),
        ("⟦Leave out transpose=True⟧.", "Uncheck “Features are in rows”."),
        ("⟦Leave out kind=count⟧.", "Reset “Kind of target”."),
        ("⟦Pass sheet=NAME⟧ to read another one.", "Set “Excel sheet” to read another one."),
        ("⟦Pass samples=FILE⟧.", "Add a sample sheet."),
        ("If the file is correct, raise the limit with ⟦max_bytes=N⟧.", ""),
        ("Rename it.", "Rename it."),
        (
            "⟦Pass missing=mean⟧ ⟦or missing=rows⟧.",
            "Set “Missing values” to “Replace by the column mean” or “Leave out samples that have some”.",
        ),
        (
            "Leave out these columns (⟦missing=columns⟧).",
            "Leave out these columns (“Missing values”: “Leave out columns that have some”).",
        ),
        (
            "Choose a column of class labels, or ⟦pass kind=regression⟧ for a quantity.",
            "Choose a column of class labels, or set “Kind of target” to “Quantity” for a quantity.",
        ),
    ],
)
def test_advice_about_parameters_becomes_advice_about_controls(advice, shown):
    assert page_advice(advice) == shown


def test_no_advice_of_the_readers_shows_a_parameter():
    sources = [path.read_text(encoding="utf-8") for path in (Path(ispca.__file__).parent / "readers").glob("*.py")]
    advice = [text for source in sources for text in re.findall(r"\"([^\"\n]*⟦[^\"\n]*)\"", source)]
    advice = [text.replace("{name}", "log2") for text in advice]
    assert len(advice) > 10
    assert not [text for text in map(page_advice, advice) if re.search(r"\w=|--\w", text)]


def test_advice_that_mentions_settings():
    advice = "⟦Pass kind=regression|count⟧, or ⟦covariates⟧."
    shown = "Set “Kind of target” to “Quantity” or “Count”, or “Covariates”."
    assert (page_advice(advice), find_control(InputError("", advice).setting)) == (shown, "kind")
    said = in_page_words('Column "it\'s" (⟦event=⟧) does not go with ⟦kind=count⟧.')
    assert said == 'Column "it\'s" (“Event”) does not go with “Kind of target”: “Count”.'


def test_nothing_is_cut_out_of_a_problem():
    """Not even if names contain what looks like the end of a sentence."""
    found = PageError(InputError("Dr. No (⟦target=⟧) does not go with ⟦device=cuda⟧. Read on.", "Raise ⟦memory⟧."))
    assert found.values == {
        "problem": "Dr. No (“Target”) does not go with device: “cuda”. Read on.",
        "advice": "",
        "control": None,
    }


def test_an_option_without_a_control_keeps_its_name():
    assert (label("sheet"), label("threads")) == ("“Excel sheet”", "threads")
