"""Options of the page become exactly the arguments they should be, whatever their values are."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ispca.app import arguments
from ispca.app.arguments import OptionError, compare_arguments, fit_arguments, predict_arguments
from ispca.cli import make_parser
from ispca.readers.missing import TREATMENTS
from ispca.readers.transforms import TRANSFORMS

FILES = {"matrix": Path("x.csv")}
PARSER = make_parser("fit")
PLAIN = vars(PARSER.parse_args(fit_arguments({}, FILES)))
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
STRIPPED = NAMES.map(str.strip).filter(lambda text: text not in ("", "--"))


def changed(options):
    """Return the arguments that a fit with these options parses differently from one without options."""
    parsed = vars(PARSER.parse_args(fit_arguments(options, FILES)))
    return {name: value for name, value in parsed.items() if value != PLAIN[name]}


@given(st.dictionaries(st.sampled_from(FREE_TEXT), NAMES))
def test_texts_arrive_unchanged_and_change_nothing_else(options):
    assert changed(options) == {WRITTEN.get(name, name): value for name, value in options.items()}


@given(st.lists(NAMES, min_size=1, max_size=4), st.lists(NAMES, min_size=1, max_size=4))
def test_lists_of_features_arrive_unchanged(features, drop):
    assert changed({"features": features, "drop": drop}) == {"features": features, "drop": drop}


@given(st.lists(STRIPPED, min_size=1, max_size=4))
def test_covariates_arrive_unchanged(names):
    assert changed({"covariates": names}) == {"covariates": tuple(names)}


def test_covariates_with_spaces_around_them_are_refused():
    with pytest.raises(OptionError, match="“Covariates” must have no spaces"):
        fit_arguments({"covariates": ["age "]}, FILES)


@pytest.mark.parametrize(
    ("options", "parsed"),
    [
        ({"transpose": True, "stack": True}, {"transpose": True, "stack": True}),
        ({"transpose": False, "stack": None}, {}),
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
    parsed = PARSER.parse_args(fit_arguments({}, files))
    assert (parsed.data, parsed.samples, parsed.out) == (Path("--out.csv"), Path("-s.csv"), Path("results"))


ANYTHING = (
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.lists(st.text() | st.integers())
)
ANYTHING |= st.dictionaries(st.text(), st.integers())


@given(st.dictionaries(st.sampled_from(sorted(arguments.KNOWN)) | st.text(max_size=5), ANYTHING))
def test_whatever_is_accepted_is_parsed(options):
    try:
        found = fit_arguments(options, FILES)
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
        ({"draws": 10**9}, "must be an integer from 4"),
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
        fit_arguments(options, FILES)


def test_choices_are_those_of_the_command_line():
    own = {action.dest: action.choices for action in _actions()}
    assert set(own["kind"]) == set(arguments.KIND_WORDS.values())
    assert (own["missing"], own["transform"]) == (arguments.MISSING, arguments.TRANSFORMS)
    assert (TREATMENTS, tuple(TRANSFORMS)) == (arguments.MISSING, arguments.TRANSFORMS)
    assert set(arguments.METHODS) <= set(own["method"])


def _actions():
    return PARSER._subparsers._group_actions[0].choices["fit"]._actions


def test_a_comparison_is_resumed_and_a_prediction_uses_the_model():
    compared = make_parser("compare").parse_args(compare_arguments({"target": "-y", "splits": 3}, FILES))
    assert (compared.target, compared.splits, str(compared.resume)) == ("-y", 3, "store")
    files = FILES | {"model": Path("/runs/1/results"), "sheet": Path("s.csv"), "annotation": Path("a.csv")}
    predicted = make_parser("predict").parse_args(predict_arguments({"id": "--x", "transpose": True}, files))
    assert (predicted.id, predicted.transpose, predicted.data) == ("--x", True, Path("x.csv"))
    assert str(predicted.out).endswith("predictions.csv")
    assert predicted.samples == Path("s.csv")


@pytest.mark.parametrize(("command", "arguments"), [("fit", fit_arguments), ("compare", compare_arguments)])
def test_an_annotation_labels_the_features(command, arguments):
    written = arguments({"label": "-symbol"}, FILES | {"annotation": Path("-genes.csv")})
    parsed = make_parser(command).parse_args(written)
    assert (parsed.annotation, parsed.label, parsed.data) == (Path("-genes.csv"), "-symbol", Path("x.csv"))
