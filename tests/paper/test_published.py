"""The published results of the experiment: complete, and what the documentation says of them is in them."""

import csv
import re
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from paper import comparison_claims as claims
from paper.data_sets import Selection, paper_sets
from paper.scores import SetScores
from paper.scripts import NAMES

DOCS = Path(__file__).parents[2] / "docs"
PUBLISHED = DOCS / "paper"
ABSENT = ("glioma", "lung", "lung-5c")
STAND_INS = ("lung-5c-1543", "chowdary", "gordon", "gravier")
N_SPLITS = 50


def read(name):
    with open(PUBLISHED / name, newline="") as file:
        return list(csv.DictReader(file))


@pytest.fixture(scope="module")
def splits():
    return read("splits.csv")


def scores(splits, metric):
    found = {}
    for row in splits:
        values = found.setdefault(row["set"], {}).setdefault(row["method"], np.full(N_SPLITS, np.nan))
        values[int(row["split"])] = float(row[metric])
    return {name: SetScores(name, values) for name, values in found.items()}


@pytest.mark.parametrize("name", NAMES)
def test_every_figure_and_table_is_there_with_its_verdicts_and_settings(name):
    for ending in (".png", ".csv", "-verdicts.csv", "-settings.json"):
        assert (PUBLISHED / f"{name}{ending}").stat().st_size > 100


@pytest.mark.parametrize("metric", ["mlpd", "accuracy"])
def test_no_set_split_or_method_is_missing(splits, metric):
    found = scores(splits, metric)
    assert set(found) == {*paper_sets(), *STAND_INS} - set(ABSENT)
    for one in found.values():
        assert len(one.values) == 11
        assert all(np.isfinite(values).all() for values in one.values.values())


@pytest.mark.parametrize("metric", ["mlpd", "accuracy"])
def test_the_rules_give_the_published_verdicts_again(splits, metric):
    found = scores(splits, metric)
    judged = claims.verdicts(found, Selection(tuple(found), ABSENT), metric)
    published = read(f"{metric}-verdicts.csv")
    assert [(v.claim, v.status) for v in judged] == [(row["claim"], row["verdict"]) for row in published]


def table(page, after):
    """Return the rows of the first table after a text, cell by cell, without emphasis."""
    lines = (DOCS / page).read_text().split(after)[1].split("| set |", 1)[1].split("\n\n")[0].splitlines()
    lines[0] = f"| set |{lines[0]}"
    rows = [[cell.strip().strip("*") for cell in line.strip("|").split("|")] for line in lines]
    return rows[0], rows[2:]


@pytest.mark.parametrize("metric", ["mlpd", "accuracy"])
def test_the_table_of_the_page_has_the_published_means(metric):
    means = {(row["set"], row["method"]): float(row["mean"]) for row in read(f"{metric}.csv") if row["method"]}
    for row in read(f"{metric}-averages.csv"):
        means[f"{row['group']} ({row['n_sets']})", row["method"]] = float(row["mean"])
    (_, *methods), rows = table("paper-results.md", f"<!-- {metric} -->")
    shown = {
        (name, method): float(cell) for name, *cells in rows for method, cell in zip(methods, cells, strict=True)
    }
    assert set(shown) == set(means)
    for key, value in shown.items():
        assert value == pytest.approx(means[key], abs=0.00051), key


def test_the_page_counts_the_verdicts():
    found = Counter(row["verdict"] for name in NAMES for row in read(f"{name}-verdicts.csv"))
    counts = f"{sum(found.values())} verdicts: {found['agrees']} agree, {found['differs']} differ"
    assert f"**{counts}, {found['not testable']} cannot be tested**" in (DOCS / "paper-results.md").read_text()


@pytest.mark.parametrize(("metric", "column"), [("mlpd", 1), ("accuracy", 2)])
def test_the_page_on_the_residual_test_has_the_published_differences(metric, column):
    columns = ("difference", "difference_low", "difference_high")
    published = {row["set"]: [float(row[name]) for name in columns] for row in read(f"{metric}-residual.csv")}
    averages = {"the paper's nine": "average, paper's sets", "all thirteen": "average, with stand-ins"}
    _, rows = table("residual.md", "## ISPCA with unsupervised components")
    for row in rows:
        name = re.sub(r" \(\d\)$", "", row[0])
        expected = published.pop(averages.get(name, name if name in published else f"average, {name}"))
        shown = [float(number) for number in re.findall(r"[+-][\d.]+", row[column])]
        assert shown == pytest.approx(expected, abs=0.00051), name
    assert not published


def test_every_posterior_was_checked(splits):
    rows = read("posteriors.csv")
    assert sum(int(row["posteriors"]) for row in rows) == 13 * 7 * N_SPLITS
    refitted = sum(int(row["failed_before"]) for row in rows)
    assert refitted == sum(int(row["refitted"]) for row in splits)
