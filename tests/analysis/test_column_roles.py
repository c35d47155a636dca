"""Candidates for the target and other roles of columns."""

import time

import numpy as np
import pytest

from ispca.analysis.column_roles import MOST_COLUMNS, candidates
from ispca.readers import Table


def table(X=None, features=None, sheet=None):
    sheet = {name: np.array(values, dtype=object) for name, values in (sheet or {}).items()}
    n = len(next(iter(sheet.values()))) if X is None else len(X)
    X = np.random.default_rng(0).normal(size=(n, 3)) if X is None else X
    features = np.array(features or [f"g{j}" for j in range(X.shape[1])], dtype=object)
    ids = np.array([str(i) for i in range(n)], dtype=object)
    return Table(X, features, ids, None, None, None, [], {}, sheet=sheet)


def suggested(sheet):
    found = candidates(table(sheet=sheet))
    return {column["name"]: column["suggested"] for column in found if column["name"] in sheet}


TWO, MANY = ["a", "b"] * 10, [f"{i}.5" for i in range(20)]
EVENTS = ["0", "1"] * 10


@pytest.mark.parametrize(
    ("names", "pair"),
    [
        (("time", "status"), ("time", "status")),
        (("os_months", "os_event"), ("os_months", "os_event")),
        (("OS.time", "OS"), ("OS.time", "OS")),
        (("PFS.time", "OS.time", "PFS", "OS"), None),
        (("follow-up (days)", "died"), ("follow-up (days)", "died")),
        (("overall survival", "Event"), ("overall survival", "Event")),
        (("gene", "status"), (None, None)),
        (("time", "sex"), (None, None)),
    ],
)
def test_times_and_events_are_suggested_in_pairs(names, pair):
    half = len(names) // 2
    sheet = dict.fromkeys(names[:half], MANY) | dict.fromkeys(names[half:], EVENTS)
    roles = {role: name for name, role in suggested(sheet).items()}
    if pair is None:
        assert roles["time"].partition(".")[0] == roles["event"]
    else:
        assert (roles.get("time"), roles.get("event")) == pair


def test_roles_follow_from_names_and_values():
    sheet = {
        "diagnosis": TWO,
        "batch": ["1", "1", "2", "2"] * 5,
        "age": MANY,
        "sex": ["f", "m"] * 10,
        "patient": [f"p{i // 2}" for i in range(20)],
        "barcode": [f"x{i}" for i in range(20)],
        "comment": ["ok"] * 20,
        "stage": ["1", "2", "3", "4"] * 5,
    }
    wanted = {"diagnosis": "target", "batch": "covariate", "age": "covariate", "sex": "covariate"}
    wanted |= {"patient": "group", "barcode": "id", "comment": None, "stage": None}
    assert suggested(sheet) == wanted


def test_missing_values_neither_count_nor_change_the_kind():
    X = np.column_stack([np.tile([0.0, 1.0, np.nan], 10), np.linspace(0, 1, 30)])
    died, other = candidates(table(X, ["died", "g"]))
    assert (died["kind"], died["values"], died["missing"]) == ("class", {"0": 10, "1": 10}, 10)
    assert (other["kind"], other["range"], other["missing"]) == ("quantity", [0.0, 1.0], 0)


@pytest.mark.parametrize("name", ["dose, mg", 'he said "hi"', "<script>", "--target", "", "\u202e", "a\nb"])
def test_any_name_is_a_candidate(name):
    assert name in [column["name"] for column in candidates(table(sheet={name: TWO}))]


def test_words_inside_other_words_mean_nothing():
    sheet = {name: MANY for name in ("trunk", "casein", "Y00062_at", "sausage", "thyroid")}
    assert set(suggested(sheet).values()) == {None}


def test_many_features_leave_room_for_likely_columns():
    X = np.random.default_rng(0).normal(size=(12, 3000))
    X[:, 1500], X[:, -1] = np.tile([0, 1], 6), np.arange(12)
    names = [f"g{j}" for j in range(3000)]
    names[2000] = "survival"
    found = candidates(table(X, names, {"state": TWO[:12]}))
    assert len(found) == MOST_COLUMNS
    assert {"state", "survival", "g1500", "g2999"} <= {column["name"] for column in found}
    assert found[0]["name"] in ("state", "survival")


def test_genotypes_are_no_candidates_for_their_few_values():
    X = np.random.default_rng(0).integers(0, 3, size=(40, 900)).astype(float)
    assert len(candidates(table(X))) == MOST_COLUMNS
    assert all(column["suggested"] is None for column in candidates(table(X)))


def test_many_samples_are_described_fast():
    X = np.random.default_rng(0).normal(size=(60_000, 50))
    start = time.process_time()
    found = candidates(table(X, sheet={"cell type": ["a", "b"] * 30_000}))
    assert time.process_time() - start < 2
    assert found[0]["values"] == {"a": 30_000, "b": 30_000}
