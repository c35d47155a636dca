"""Why a run failed, in the words of the page."""

import json
import shutil
from types import SimpleNamespace

import pytest

from ispca.app.run_folders import DISK_FULL, NOTES, RESULT, error_text, verdict_text

SAID = {
    "ispca: Could not write to /x/results (No space left on device). Free some space, or choose another --out.": (
        DISK_FULL
    ),
    "ispca: a note\nispca: x.csv is empty.": "x.csv is empty.",
    "": "The run failed without a message.",
}


@pytest.mark.parametrize("said", SAID)
def test_the_last_message_says_why(tmp_path, said):
    (tmp_path / NOTES).write_text(said)
    assert error_text(tmp_path) == SAID[said]


def test_a_message_that_did_not_fit_on_the_disk(tmp_path, monkeypatch):
    (tmp_path / NOTES).write_text("ispca: a note")
    monkeypatch.setattr(shutil, "disk_usage", lambda path: SimpleNamespace(free=0))
    assert error_text(tmp_path) == DISK_FULL


@pytest.mark.parametrize(
    ("known", "added"), [(0, ""), (1, "; 1 is a training sample"), (2, "; 2 are training samples")]
)
def test_predictions_of_training_samples_are_counted(tmp_path, known, added):
    rows = [{"id": f"s{i}", "training_sample": "held-out prediction" if i < known else None} for i in range(3)]
    (tmp_path / RESULT).write_text(json.dumps({"predictions": rows}))
    assert verdict_text("predict", tmp_path) == f"Predicted 3 samples{added}."
