"""What intervals are called, and what they promise."""

import pytest

from ispca.report.interval_words import columns_text, frequency_text, interval_text, promise_text
from ispca.targets import TARGETS


def test_each_kind_of_target_has_its_promise():
    texts = {name: promise_text(50, target) for name, target in TARGETS.items()}
    assert texts["classification"] == texts["ordinal"]
    assert "theory promises at least 80%" in texts["classification"]
    assert "A class with fewer than 9 samples is in every set" in texts["classification"]
    assert "About 90% of new values lie in it" in texts["regression"]
    assert texts["count"] == texts["regression"]
    assert texts["survival"].endswith("intervals of the chances of survival.")
    assert all("50 bags" in text for text in texts.values())


@pytest.mark.parametrize("name", ["classification", "count"])
def test_groups_are_promised_new_groups(name):
    assert "from new groups" in promise_text(50, TARGETS[name], grouped=True)
    assert "group" not in promise_text(50, TARGETS[name])


def test_columns_are_named_as_in_files():
    assert "prediction_set" in columns_text(TARGETS["ordinal"])
    assert "mean_q5" in columns_text(TARGETS["count"])
    assert "_q95" in columns_text(TARGETS["survival"])


def test_what_is_not_bagged_says_so():
    assert "30 bootstrap samples" in interval_text(30)
    assert "too narrow" not in interval_text(30)
    assert "error rate" not in frequency_text(error_known=False)
