"""Leading features: class means, fold changes, groups, annotation, box plots, heatmap, lists and positions."""

import re

import numpy as np
import pytest

from ispca import ISPCA
from ispca.report import summarize, to_html
from ispca.report.charts import chart_layout
from ispca.report.features import positions
from ispca.report.input_checks import Context
from ispca.report.leading_features import fold_change


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
    _, X, y = two
    names = [f"{4000 - 2.5 * j:g}" for j in range(60)]
    reduction = ISPCA(1, n_permutations=100, random_state=0).fit(X, y)
    assert summarize(reduction, X, y, feature_names=names)["features"]["positions"] == [
        float(name) for name in names
    ]
    assert "positions" not in summarize(reduction, X, y)["features"]
    assert positions(["X400.5", "X401"]).tolist() == [400.5, 401.0]
    assert positions(["400", "402", "401"]) is None
    assert positions(["1", "2", "3"]) is None
