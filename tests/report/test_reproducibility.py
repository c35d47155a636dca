"""The code in the report repeats the fit and the comparison that are shown."""

import warnings
from functools import partial

import numpy as np
import pytest
from sklearn.dummy import DummyClassifier
from sklearn.model_selection import GroupKFold, PredefinedSplit, StratifiedKFold

import ispca.validation
from ispca import ISPCA, HorseshoeClassifier
from ispca.report import summarize
from ispca.report.reproducibility import estimator_code
from ispca.validation import compare, compare_with_baselines


def code_of(*inputs, **options):
    return summarize(*inputs, **options)["reproducibility"]["code"][-1]["code"]


def run(code, **names):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        exec(code, names)
    return names


@pytest.mark.parametrize("cv", [2, StratifiedKFold(2, shuffle=True)])
def test_the_code_repeats_fit_and_comparison(two, compared, cv, monkeypatch):
    model, X, y = two
    here = partial(compare_with_baselines, n_jobs=1)
    monkeypatch.setattr(ispca.validation, "compare_with_baselines", here)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        shown = compared("two") if cv == 2 else here(model, X, y, cv=cv, random_state=3)
    lines, _, report = code_of(model, X, y, validation=shown).rpartition("\n")
    assert report == 'write_report(model, X, y, "report.html", validation=validation)'
    names = run(lines, X=X, y=y)
    np.testing.assert_array_equal(names["model"].predict_proba(X), model.predict_proba(X))
    for name, scores in shown.scores.items():
        np.testing.assert_array_equal(names["validation"].scores[name], scores)


@pytest.mark.parametrize(
    ("cv", "groups", "options", "imported"),
    [
        (3, None, "cv=3, random_state=7", ""),
        (GroupKFold(2), np.arange(48) % 6, "cv={}, groups=groups, random_state=7", "GroupKFold"),
        (PredefinedSplit(np.arange(48) % 2), None, "cv=..., random_state=7", ""),
        ([(np.arange(24), np.arange(24, 48))], None, "cv=..., random_state=7", ""),
    ],
)
def test_the_code_of_a_comparison(two, cv, groups, options, imported):
    _, X, y = two
    result = compare({"chance": DummyClassifier()}, X, y, cv=cv, groups=groups, n_jobs=1, random_state=7)
    lines = code_of(result).splitlines()[1:]
    expected = ["from ispca.validation import compare"]
    expected += [f"from sklearn.model_selection import {imported}"] * bool(imported)
    call = f"result = compare({{'chance': ...}}, X, y, {options.format(cv)}, baseline='chance')"
    assert lines == [*expected, "", call, "print(result)"]


def test_long_and_odd_parameters_are_omitted():
    excluded = ISPCA(exclude=np.array([1, 2]), random_state=np.random.default_rng(0))
    assert estimator_code(ISPCA(exclude=["x" * 2000])) == "ISPCA(exclude=...)"
    assert estimator_code(excluded) == "ISPCA(exclude=[1, 2], random_state=...)"
    assert estimator_code(HorseshoeClassifier()) == "HorseshoeClassifier()"
