"""Leading features: class means, fold changes, groups, annotation, box plots, heatmap, lists and positions."""

import re

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline

from ispca import ISPCA, HorseshoeRegressor, original_coefficients, score_test
from ispca.analysis.feature_significance import FeatureSignificance
from ispca.report import summarize, to_html, to_markdown
from ispca.report.charts import chart_layout
from ispca.report.coefficients_and_convergence import positions
from ispca.report.feature_ranking import Ranked
from ispca.report.leading_features import SIGNIFICANCE_TEXT, _first_text, fold_change
from ispca.report.report_inputs import Context

SHORT = {"n_warmup": 150, "n_draws": 150, "n_chains": 2, "retry": False, "random_state": 0}


def section_of(two, **context):
    return summarize(*two, context=Context(**context))["leading_features"]


def columns_of(table):
    labels = [column["label"] for column in table["columns"]]
    return {label: [row[place] for row in table["rows"]] for place, label in enumerate(labels)}


def test_means_and_changes_beside_weights(two):
    _, X, y = two
    a, b = np.unique(y)
    found = columns_of(section_of(two, transform="log2")["tables"][0])
    index = [int(name) for name in found["Feature"]]
    np.testing.assert_allclose(found[f"Mean in {a}"], X[y == a].mean(axis=0)[index], rtol=5e-3, atol=1e-3)
    change = (X[y == b].mean(axis=0) - X[y == a].mean(axis=0))[index]
    np.testing.assert_allclose(found[f"Log2 fold change, {b} vs. {a}"], change, rtol=5e-3, atol=1e-3)
    assert [abs(value) for value in found["Effect"]] == sorted(map(abs, found["Effect"]), reverse=True)
    # The class to call positive turns the change around.
    turned = columns_of(section_of(two, transform="log2", positive=str(a))["tables"][0])
    np.testing.assert_allclose(turned[f"Log2 fold change, {a} vs. {b}"], -change, rtol=5e-3, atol=1e-3)


@pytest.mark.parametrize(
    ("transform", "largest", "label", "change"),
    [
        ("log2", 12.0, "Log2 fold change", 2.0),
        ("log1p", 12.0, "Log2 fold change", 2.0 / np.log(2)),
        (None, 12.0, "Difference", 2.0),
        (None, 900.0, "Log2 fold change", 1.0),
        ("binary", 900.0, "Difference", 2.0),
    ],
)
def test_the_scale_decides_what_a_fold_change_is(transform, largest, label, change):
    values = np.array([[2.0], [largest]])
    found = fold_change(np.array([2.0]), np.array([4.0]), values, transform)
    assert found[0] == label
    assert found[1][0] == pytest.approx(change)


def test_annotation_groups_and_plain_lists(two):
    _, X, y = two
    X = X.copy()
    rng = np.random.default_rng(0)
    shared = 3.0 * (y == y[0]) + rng.normal(size=len(y))
    X[:, :4] = shared[:, None] + 1e-2 * rng.normal(size=(len(y), 4))
    reduction = ISPCA(1, n_permutations=100, random_state=0).fit(X, y)
    annotation = {"Symbol": [f"S{j} /// T{j}" for j in range(60)], "Chromosome": [f"chr{j}" for j in range(60)]}
    context = Context(annotation=annotation, label="Symbol")
    section = summarize(reduction, X, y, context=context)["leading_features"]
    found = columns_of(section["tables"][0])
    group = dict(zip(found["Chromosome"], found["Group"], strict=True))
    assert len({group[f"chr{j}"] for j in range(4)}) == 1
    assert re.fullmatch(r"[A-Z] \(\d+ features\)", group["chr0"])
    everything, *sides = (set(item["text"].split("\n")) for item in section["lists"])
    assert {f"S{j}" for j in range(4)} <= everything
    assert set.union(*sides) == everything
    assert not set.intersection(*sides)
    assert [item["label"] for item in section["lists"][1:]] == [
        f"Higher in {label}" for label in dict.fromkeys(item["label"][10:] for item in section["lists"][1:])
    ]


def test_boxes_hold_the_quartiles_of_each_class(two):
    _, X, y = two
    chart = section_of(two)["charts"][0]
    assert chart["kind"] == "boxes"
    first = chart["features"][0]
    for label, box in zip(np.unique(y), first["boxes"], strict=True):
        values = X[y == label, int(first["name"])]
        np.testing.assert_allclose(
            [box["q1"], box["median"], box["q3"]], np.quantile(values, [0.25, 0.5, 0.75]), rtol=1e-3
        )
        assert len(box["points"]) == len(values)
    for panel in chart_layout(chart)["panels"]:
        for row in panel["rows"]:
            assert panel["start"] <= row["box"]["low"] <= row["box"]["q1"] <= row["box"]["median"]
            assert row["box"]["q3"] <= row["box"]["high"] <= panel["left"] + 268


@pytest.mark.parametrize("which", ["two", "four", "quantity"])
def test_the_heatmap_orders_and_annotates_samples(which, request):
    model, X, y = request.getfixturevalue(which)
    sheet = {"batch": np.where(np.arange(48) % 3, "b1", "b2"), "id": [f"id {i}" for i in range(48)]}
    summary = summarize(model, X, y, context=Context(target_name="diagnosis", sheet=sheet))
    chart = summary["leading_features"]["charts"][-1]
    order = [int(name) for name in chart["samples"]]
    assert sorted(order) == list(range(48))
    np.testing.assert_array_equal(y[order], np.sort(y))
    # A column with a different value for every sample describes nothing.
    assert [strip["name"] for strip in chart["strips"]] == ["diagnosis", "batch"]
    colors = np.array(chart["strips"][1]["colors"])
    assert len({(batch, color) for batch, color in zip(sheet["batch"][order], colors, strict=True)}) == 2
    column = X[:, int(chart["features"][0])]
    np.testing.assert_allclose(chart["values"][0], ((column - column.mean()) / column.std())[order], atol=0.06)
    drawn = chart_layout(chart)
    assert sum(path["d"].count("M") for path in drawn["paths"]) <= 48 * len(chart["features"])
    assert 'class="wide"' in to_html(summary)


def test_positions_of_spectra(two):
    (reduction, _), X, y = two
    names = [f"{4000 - 2.5 * j:g}" for j in range(60)]
    assert summarize(reduction, X, y, feature_names=names)["features"]["positions"] == [
        float(name) for name in names
    ]
    assert "positions" not in summarize(reduction, X, y)["features"]
    assert positions(["X400.5", "X401"]).values.tolist() == [400.5, 401.0]
    names = [f"{name} cm-1" for name in names]
    assert (
        summarize(reduction, X, y, feature_names=names)["features"]["position_label"]
        == "wavenumber (cm\u207b\u00b9)"
    )


@pytest.mark.parametrize(
    ("names", "label"),
    [
        (["1100 nm", "1105 nm"], "wavelength (nm)"),
        (["X1100.nm", "X1105.nm"], "wavelength (nm)"),
        (["nm1100", "nm1105"], "wavelength (nm)"),
        (["4000 cm-1", "3998.5 cm-1"], "wavenumber (cm\u207b\u00b9)"),
        (["m/z 400.25", "m/z 401"], "m/z"),
        (["mz_400.25", "mz_401"], "m/z"),
        (["0.5 ppm", "0.25 ppm"], "chemical shift (ppm)"),
        (["1100", "1105"], "position (name of the feature)"),
        (["1100 nm", "1105"], None),
        (["gene10", "gene20"], None),
        (["10 nm", "30 nm", "20 nm"], None),
    ],
)
def test_units_in_names_label_the_axis(names, label):
    found = positions(names)
    assert (found and found.label) == label
    assert positions(["400", "402", "401"]) is None
    assert positions(["1", "2", "3"]) is None


def test_effects_of_several_classes_name_their_class(four):
    model, _, _ = four
    summary = summarize(*four)
    table = summary["leading_features"]["tables"][0]
    found = columns_of(table)
    # A table of many columns is set closer, so that it fits.
    assert re.search(r'class="table dense" data-table="leading"', to_html(summary))
    coefficients = original_coefficients(model)
    for name, effect, label in zip(found["Feature"], found["Effect"], found["Class of the effect"], strict=True):
        rows = coefficients[coefficients["feature"] == f"x{name}"]
        rows = rows if len(rows) else coefficients[coefficients["feature"] == name]
        [own] = rows["mean"][rows["target_class"] == label]
        assert np.sign(own) == np.sign(effect)
        assert abs(own) == np.abs(rows["mean"]).max()


def test_effects_of_two_classes_are_for_the_positive_one(two):
    assert "Class of the effect" not in columns_of(section_of(two)["tables"][0])


def lists_of(y, X, verdict=None, **options):
    """Return every list of leading features of a report, each as a set of names."""
    model = make_pipeline(ISPCA(30, n_permutations=100, random_state=0, whiten=True), HorseshoeRegressor(**SHORT))
    summary = summarize(model.fit(X, y), X, y, context=Context(verdict=verdict), **options)
    section = summary["leading_features"]
    charts = {chart["kind"]: set(chart["features"]) for chart in section.get("charts", [])}
    rows = {row[1] for table in section.get("tables", []) for row in table["rows"]}
    plain = {name for item in section.get("lists", []) for name in item["text"].split("\n")}
    return summary, rows, plain, charts.get("heatmap", set())


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("n_relevant", [1, 5, 20])
def test_every_list_ends_where_the_effect_ends(n_relevant):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 30))
    y = 3 * X[:, :n_relevant].sum(axis=1) + 0.1 * rng.normal(size=80)
    summary, *lists = lists_of(y, X)
    assert all(names == {str(j) for j in range(n_relevant)} for names in lists)
    end = "All other features have less than 10% of the largest effect or a 90% interval that contains 0."
    end = end if n_relevant <= 6 else "14 more features: see “Leading features”."
    assert summary["overview"]["leading"][-1] == end
    assert summary["leading_features"]["lists"][0]["label"] == f"All leading features ({n_relevant})"


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning", "ignore:No single feature")
def test_noise_has_no_leading_features():
    rng = np.random.default_rng(1)
    summary, *lists = lists_of(rng.normal(size=60), rng.normal(size=(60, 40)))
    assert lists == [set(), set(), set()]
    nothing = ["No feature stands out: the 90% intervals of all large effects contain 0."]
    assert summary["leading_features"]["text"] == summary["overview"]["leading"] == nothing
    assert to_html(summary)


def test_lists_of_a_model_no_better_than_chance_say_so(two):
    chance = {
        "sentence": "50%.",
        "measure": "accuracy",
        "value": 0.5,
        "low": 0.4,
        "high": 0.6,
        "baseline_value": 0.5,
    }
    # Features that do not add to the covariates may be due to chance, too.
    for better, gain in ((True, None), (True, 0.1), (False, None), (True, -0.1)):
        added = None if gain is None else {"sentence": "So much.", "low": gain}
        verdict = chance | {"better_than_baseline": better, "covariate_gain": added}
        better = better and (gain is None or gain > 0)
        summary = summarize(*two, context=Context(verdict=verdict))
        places = [
            " ".join(summary["overview"]["leading"]),
            " ".join(summary["leading_features"]["warnings"]),
            *(item["label"] for item in summary["leading_features"]["lists"]),
            " ".join(summary["coefficients"]["warnings"]),
        ]
        assert ["due to chance" in text for text in places] == [not better] * len(places)
        # The same places in Markdown, and the caveat.
        assert to_markdown(summary).count("due to chance") == (0 if better else len(places) + 1)


def test_captions_say_how_many_of_the_leading_features_are_shown():
    ranked = Ranked(*([np.arange(49)] * 4), [])
    assert _first_text(30, ranked) == "The first 30 of 49 leading features"
    assert _first_text(49, ranked) == "The 49 leading features"


def test_p_and_q_of_each_feature(two):
    _, X, y = two
    test = score_test(X, y, n_permutations=100, random_state=0)
    context = Context(significance=FeatureSignificance(test.p_values, test.q_values))
    section = summarize(*two, context=context)["leading_features"]
    found = columns_of(section["tables"][0])
    index = [int(name) for name in found["Feature"]]
    np.testing.assert_allclose(found["p"], test.p_values[index], rtol=5e-3)
    np.testing.assert_allclose(found["q"], test.q_values[index], rtol=5e-3)
    assert any(text.startswith(SIGNIFICANCE_TEXT[:40]) for text in section["text"])
    plain = section_of(two)
    assert "p" not in columns_of(plain["tables"][0])
    assert SIGNIFICANCE_TEXT not in plain["text"]
