"""Why a run failed, in the words of the page."""

import shutil
from types import SimpleNamespace

import pytest

from ispca.app.run_results import DISK_FULL, NOTES, error_text

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
