"""Choices on the page become the settings they should be, whatever they are, and messages name its controls."""

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import ispca
from ispca.analysis.settings import Settings
from ispca.app.form import (
    CHOICES,
    CONTROLS,
    OptionError,
    arguments,
    find_control,
    in_page_words,
    label,
    make_settings,
)
from ispca.app.pages import render
from ispca.cli import make_parser
from ispca.commands.arguments import names_in

FILES = {"matrix": Path("x.csv")}
PARSER = make_parser("fit")
PLAIN = vars(PARSER.parse_args(arguments("fit", {}, FILES)))
# Names in the parsed arguments that differ from those of the page.
WRITTEN = {"sheet_name": "sheet"}
FREE_TEXT = (
    "target",
    "time",
    "event",
    "positive",
    "groups",
    "weights",
    "offset",
    "id",
    "on",
    "sheet_name",
    "label",
)
TEXT = st.text(st.characters(exclude_characters="\0"), min_size=1, max_size=40)
AWKWARD = st.sampled_from(
    [
        "--out=/etc",
        "-h",
        "-",
        "@file",
        "a,b",
        'a "b"',
        '"',
        "'",
        " a",
        "a\nb",
        "a\rb",
        "\u202ex",
        "ü",
        "%s",
        "$HOME",
        "=",
        "--json",
    ]
)
NAMES = (TEXT | AWKWARD).filter(lambda text: text != "--")


def changed(options):
    """Return the arguments that a fit with these options parses differently from one without options."""
    parsed = vars(PARSER.parse_args(arguments("fit", options, FILES)))
    found = {name: value for name, value in parsed.items() if value != PLAIN[name]}
    return {name: names_in(value) if isinstance(value, list) else value for name, value in found.items()}


@given(st.dictionaries(st.sampled_from(FREE_TEXT), NAMES))
def test_texts_arrive_unchanged_and_change_nothing_else(options):
    assert changed(options) == {WRITTEN.get(name, name): value for name, value in options.items()}


@given(st.lists(NAMES, min_size=1, max_size=4), st.lists(NAMES, min_size=1, max_size=4))
def test_lists_of_features_arrive_unchanged(features, drop):
    assert changed({"features": features, "drop": drop}) == {"features": tuple(features), "drop": tuple(drop)}


@given(st.lists(NAMES, min_size=1, max_size=4))
def test_covariates_arrive_unchanged(names):
    assert changed({"covariates": names}) == {"covariates": tuple(names)}


@pytest.mark.parametrize(
    ("options", "parsed"),
    [
        ({"transpose": True, "merge": True}, {"transpose": True, "merge": True}),
        ({"transpose": False, "merge": None}, {}),
        ({"cv": 0, "draws": 500, "components": 3, "seed": 7}, {"cv": 0, "draws": 500, "components": 3, "seed": 7}),
        (
            {"kind": "count", "missing": "rows", "method": "SPCA"},
            {"kind": "count", "missing": "rows", "method": "SPCA"},
        ),
        ({"transform": "none"}, {"transform": "none"}),
    ],
)
def test_other_options(options, parsed):
    assert changed(options) == parsed


def test_a_file_whose_name_starts_with_a_dash_is_the_data():
    files = {"matrix": Path("--out.csv"), "sheet": Path("-s.csv")}
    parsed = PARSER.parse_args(arguments("fit", {}, files))
    assert (parsed.data, parsed.samples, parsed.out) == (Path("--out.csv"), Path("-s.csv"), Path("results"))


ANYTHING = (
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.lists(st.text() | st.integers())
)
ANYTHING |= st.dictionaries(st.text(), st.integers())


@pytest.mark.slow
@given(st.dictionaries(st.sampled_from(sorted(CHOICES)) | st.text(max_size=5), ANYTHING))
def test_whatever_is_accepted_is_parsed(options):
    try:
        found = arguments("fit", options, FILES)
    except OptionError:
        return
    assert all(isinstance(argument, str) for argument in found)
    assert PARSER.parse_args(found).out == Path("results")


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
    with pytest.raises(OptionError, match=message):
        arguments("fit", options, FILES)


@pytest.mark.parametrize(
    ("options", "settings"),
    [
        (
            {"target": "y", "kind": "quantity", "sheet_name": "Data"},
            {"target": "y", "kind": "regression", "sheet": "Data"},
        ),
        ({"covariates": ["a,b"], "merge": True, "cv": 0}, {"covariates": ("a,b",), "merge": True, "cv": 0}),
        ({"time": "t", "event": "e", "transpose": False}, {"time": "t", "event": "e"}),
    ],
)
def test_choices_become_settings(options, settings):
    files = {"matrix": Path("x.csv"), "sheet": Path("s.csv")}
    assert make_settings(options, files) == Settings(data="x.csv", samples="s.csv", **settings)


def test_settings_that_contradict_each_other_are_named_by_their_controls():
    with pytest.raises(OptionError, match=r"“Offset of counts” is .* Add “Kind of target”: “Count”\.") as found:
        make_settings({"target": "y", "offset": "o"}, FILES)
    assert found.value.control == "offset"


def test_a_comparison_is_resumed_and_a_prediction_uses_the_model():
    compared = make_parser("compare").parse_args(arguments("compare", {"target": "-y", "splits": 3}, FILES))
    assert (compared.target, compared.splits, str(compared.resume)) == ("-y", 3, "store")
    files = FILES | {"model": Path("/runs/1/results"), "sheet": Path("s.csv"), "annotation": Path("a.csv")}
    predicted = make_parser("predict").parse_args(arguments("predict", {"id": "--x", "transpose": True}, files))
    assert (predicted.id, predicted.transpose, predicted.data) == ("--x", True, Path("x.csv"))
    assert str(predicted.out).endswith("predictions.csv")
    assert predicted.samples == Path("s.csv")


@pytest.mark.parametrize("command", ["fit", "compare"])
def test_an_annotation_labels_the_features(command):
    written = arguments(command, {"label": "-symbol"}, FILES | {"annotation": Path("-genes.csv")})
    parsed = make_parser(command).parse_args(written)
    assert (parsed.annotation, parsed.label, parsed.data) == (Path("-genes.csv"), "-symbol", Path("x.csv"))


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
        ("Pass ⟦id=COLUMN⟧.", "Set “Sample names”."),
        ("Leave out ⟦transpose=True⟧.", "Uncheck “Features are in rows”."),
        ("Leave out ⟦kind=count⟧.", "Reset “Kind of target”."),
        ("Pass ⟦sheet=NAME⟧ to read another one.", "Set “Excel sheet” to read another one."),
        ("Pass ⟦samples=FILE⟧.", "Add a sample sheet."),
        ("If the file is correct, raise the limit with ⟦max_bytes=N⟧.", ""),
        ("Rename it.", "Rename it."),
        (
            "Pass ⟦missing=mean⟧ or ⟦missing=rows⟧.",
            "Set “Missing values” to “Replace by the column mean” or “Leave out samples that have some”.",
        ),
        (
            "Leave out these columns (⟦missing=columns⟧).",
            "Leave out these columns (“Missing values”: “Leave out columns that have some”).",
        ),
        (
            "Choose a column of class labels, or pass ⟦kind=regression⟧ for a quantity.",
            "Choose a column of class labels, or set “Kind of target” to “Quantity” for a quantity.",
        ),
    ],
)
def test_advice_about_parameters_becomes_advice_about_controls(advice, shown):
    assert in_page_words(advice) == shown


def test_no_advice_of_the_readers_shows_a_parameter():
    sources = [path.read_text(encoding="utf-8") for path in (Path(ispca.__file__).parent / "readers").glob("*.py")]
    advice = [text for source in sources for text in re.findall(r"\"([^\"\n]*⟦[^\"\n]*)\"", source)]
    advice = [text.replace("{name}", "log2") for text in advice]
    assert len(advice) > 10
    assert not [text for text in map(in_page_words, advice) if re.search(r"\w=|--\w", text)]


def test_advice_that_mentions_settings():
    advice = "Pass ⟦kind=regression|count⟧, or ⟦covariates⟧. Raise it with ⟦memory⟧."
    shown = "Set “Kind of target” to “Quantity” or “Count”, or “Covariates”."
    assert (in_page_words(advice), find_control(advice)) == (shown, "kind")
    said = in_page_words('Column "it\'s" (event) does not go with ⟦kind=count⟧.')
    assert said == 'Column "it\'s" (“Event”) does not go with “Kind of target”: “Count”.'


def test_an_option_without_a_control_keeps_its_name():
    assert (label("sheet"), label("threads")) == ("“Excel sheet”", "threads")
