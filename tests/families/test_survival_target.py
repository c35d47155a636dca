"""Survival targets in all their forms, and what is refused."""

import numpy as np
import pandas as pd
import pytest

from ispca import ISPCA, HorseshoeClassifier, PenalizedRegressor, PenalizedSurvival, StackedClassifier
from ispca.families.ordinal import ordinal_target
from ispca.families.survival_target import has_survival_form, survival_target
from ispca.validation import compare

EVENT, TIME = np.array([True, False, True]), np.array([2.0, 3.5, 1.0])


@pytest.mark.parametrize(
    "form",
    [
        (EVENT, TIME),
        (EVENT.astype(int).tolist(), TIME.tolist()),
        np.array(list(zip(EVENT, TIME, strict=True)), dtype=[("status", bool), ("days", float)]),
        pd.DataFrame({"time": TIME, "event": EVENT.astype(int)}),
        pd.DataFrame({"days": TIME, "status": EVENT}),
    ],
    ids=["tuple", "lists", "structured", "named frame", "frame by type"],
)
def test_all_forms_are_the_same_target(form):
    target = survival_target(form)
    np.testing.assert_array_equal(target["event"], EVENT)
    np.testing.assert_array_equal(target["time"], TIME)


@pytest.mark.parametrize(
    ("form", "message"),
    [
        ((EVENT, TIME, TIME), "Left-truncated entry times are not supported"),
        ((EVENT, TIME[:2]), "one value per sample"),
        (TIME, "needs an event and a time"),
        ((np.array([0, 2, 1]), TIME), "must be True or 1"),
        ((EVENT, np.array([1.0, np.nan, 2.0])), "missing or infinite in 1 samples"),
        ((EVENT, np.array([1.0, -1.0, 2.0])), "must not be negative, but it contains -1"),
        ((EVENT, np.zeros(3)), "is 0 in all samples"),
        ((EVENT, np.array(["a", "b", "c"])), "contains text"),
        ((np.zeros(3), TIME), "No event was observed"),
    ],
)
def test_what_is_refused(form, message):
    with pytest.raises(ValueError, match=message):
        survival_target(form)


def test_a_time_of_0_is_the_shortest():
    """As in R's coxph, its event comes before all others."""
    with pytest.warns(UserWarning, match=r"A time of 0 \(samples 1, 2\) is treated as the shortest time, 0\.75\."):
        target = survival_target(([True, True, False, True], [1.5, 0.0, 0.0, 4.0]))
    assert target["time"].tolist() == [1.5, 0.75, 0.75, 4.0]


def test_ordered_classes():
    grades = pd.Series(pd.Categorical(["II", "I", "III"], ["I", "II", "III", "IV"], ordered=True))
    codes, classes = ordinal_target(grades)
    assert codes.tolist() == [1, 0, 2]
    assert classes.tolist() == ["I", "II", "III"]
    assert ordinal_target(np.array([3, 1, 3]))[0].tolist() == [1, 0, 1]
    with pytest.raises(ValueError, match="order of the classes is unknown"):
        ordinal_target(["low", "high"])
    with pytest.raises(ValueError, match="not among the categories: high"):
        ordinal_target(["low", "high"], ["low"])
    with pytest.raises(ValueError, match="one class only"):
        ordinal_target([1, 1])


EVENTS, TIMES = np.arange(30) % 3 > 0, np.random.default_rng(0).exponential(size=30) + 0.1
TWO_COLUMNS = {
    "array": np.column_stack([EVENTS, TIMES]),
    "time first": np.column_stack([TIMES, EVENTS]),
    "lists": np.column_stack([TIMES, EVENTS]).tolist(),
    "frame": pd.DataFrame({"OS.time": TIMES, "OS": EVENTS.astype(int)}),
    "tuple": (EVENTS, TIMES),
}


@pytest.mark.parametrize("form", TWO_COLUMNS)
def test_two_columns_are_recognized_or_the_message_says_what_to_do(form, rng):
    X, y = rng.normal(size=(30, 8)), TWO_COLUMNS[form]
    expected = ISPCA(2, alpha=None, family="cox").fit(X, survival_target((EVENTS, TIMES)))
    for family in ("auto", "cox"):
        found = ISPCA(2, alpha=None, family=family).fit(X, y)
        np.testing.assert_array_equal(found.components_, expected.components_)
        unsupervised = ISPCA(2, n_supervised=0, family=family)
        np.testing.assert_array_equal(unsupervised.fit_transform(X, y), unsupervised.fit_transform(X))
    np.testing.assert_array_equal(survival_target(y), survival_target((EVENTS, TIMES)))
    named = {"a": PenalizedSurvival(cv=3, n_lambdas=5)}
    assert compare(named, X, y, cv=2, n_jobs=1).kind == "survival"
    for model in (ISPCA(family="gaussian"), HorseshoeClassifier(), PenalizedRegressor(), StackedClassifier(named)):
        with pytest.raises(ValueError, match=r'y contains events and times. Pass family="cox" to ISPCA'):
            model.fit(X, y)


def test_two_columns_of_anything_else_are_not_survival():
    for y in (np.eye(2)[[0, 1, 1]], np.ones((3, 2)), np.array([[0, 0.5], [0.1, 1.5]]), [["a", "b"]] * 3, [1, 2]):
        assert not has_survival_form(y)
