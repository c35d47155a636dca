"""The tables of benchmarks/beyond_classes.py, from stored fits."""

import json

import numpy as np
import pytest

from benchmarks.beyond_classes import place, table, write_tables
from benchmarks.beyond_methods import Problem, days_apart


@pytest.fixture
def stored(tmp_path):
    """Two methods with two splits each, of which the second is not finished for one of them."""
    split = (np.arange(8), np.arange(8, 10))
    problem = Problem(None, None, "regression", [split, split], {"good": None, "bad (old)": None})
    for number, method, r2 in ((0, "good", 0.75), (0, "bad (old)", 0.25), (1, "good", -3.0)):
        fit = {"r2": r2, "rmse": 1 - r2, "coverage": 0.5, "seconds": 2.0, "failed": [], "converged": r2 > 0.5}
        place(tmp_path, "set", number, method).write_text(json.dumps(fit))
    return problem, tmp_path


def test_only_complete_splits_count_and_the_best_is_bold(stored):
    lines = table("set", *stored).splitlines()
    assert lines[2] == "| good | **0.750** | **0.250** | - | 0.500 | 2.00 |"
    assert lines[3] == "| bad (old) | 0.250 | 0.750 | - | 0.500 | 2.00 |"
    assert lines[-1] == "1 split. bad (old): 1 of 1 fits did not converge."


def test_tables_replace_the_old_ones_only(tmp_path):
    page = tmp_path / "page.md"
    content = "a\n<!-- begin x -->\n{}\n<!-- end x -->\nb\n<!-- begin y -->\nkept\n<!-- end y -->\n"
    page.write_text(content.format("old"))
    write_tables(page, {"x": "new"})
    assert page.read_text() == content.format("new")


def test_days_are_in_one_part_only():
    day = np.repeat(np.arange(10), 500)
    for train, test in days_apart(day, 3):
        assert not set(day[train]) & set(day[test])
        assert len(set(train)) == len(set(test)) == 1000
