"""Survival targets in all their forms, and what is refused."""

import numpy as np
import pandas as pd
import pytest

from ispca.families.ordinal import ordinal_target
from ispca.families.survival_target import survival_target

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
        ((EVENT, np.array([1.0, 0.0, 2.0])), "must be positive, but it contains 0"),
        ((EVENT, np.array(["a", "b", "c"])), "contains text"),
        ((np.zeros(3), TIME), "No event was observed"),
    ],
)
def test_what_is_refused(form, message):
    with pytest.raises(ValueError, match=message):
        survival_target(form)


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
