"""The progress line: on terminals with a count and the time left, in logs one line with the expected time."""

import bisect
import io
import itertools
import sys
import threading
import time

import pytest

from ispca.foundation import progress as _progress
from ispca.foundation.progress import (
    TimeLeft,
    clock,
    duration,
    expecting,
    line,
    listening,
    progress,
    silence,
    waiting,
)


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.mark.parametrize(
    ("seconds", "text"), [(0, "0:00"), (59.6, "1:00"), (61, "1:01"), (3599.7, "1:00:00"), (36_061, "10:01:01")]
)
def test_clock(seconds, text):
    assert clock(seconds) == text


def test_a_line_has_a_bar_a_count_and_the_time_left():
    text = line("Comparing", 60, 100, 20.0, 10.0)
    assert "60/100, 0:20 left" in text
    assert text.count("#") == 18
    assert "left" not in line("Comparing", 40, 100, None, 10.0)
    assert "about 0:30 left" in line("Comparing", 0, 15, 30.0, 10.0, guessed=True)


def test_time_left_is_that_of_the_work_done_now():
    # 40 were there before; 20 took 10 s, so the other 40 take 20 s.
    assert TimeLeft(100, already=40).seconds(60, 10.0) == 20.0
    assert TimeLeft(100, already=40).seconds(40, 10.0) is None


def test_the_expected_time_until_something_is_done():
    left = TimeLeft(15, expected=40.0)
    assert (left.seconds(0, 10.0), left.guessed) == (30.0, True)
    assert left.seconds(0, 50.0) is None, "it took longer than expected"
    assert (left.seconds(1, 60.0) is not None, left.guessed) == (True, False)


SEQUENCES = {
    "even": [2.0] * 100,
    "a slow start": [60.0, *[1.0] * 149],
    "two workers that start slowly": [0.0, 40.0] + [0.0, 2.0] * 60,
    "slow units in between": [*[1.0] * 40, 30.0] * 4,
    "slower and slower": [0.5 + 0.05 * unit for unit in range(100)],
    "few and slow": [50.0, 60.0, 55.0, 45.0, 50.0],
}


@pytest.mark.parametrize("durations", SEQUENCES.values(), ids=SEQUENCES)
def test_time_left_does_not_jump_and_is_about_right(durations):
    ends = list(itertools.accumulate(durations))
    left, before, late = TimeLeft(len(durations)), None, []
    for step in range(1, int(2 * ends[-1])):
        now = step / 2
        finished = bisect.bisect_right(ends, now)
        seconds, truth = left.seconds(finished, now), ends[-1] - now
        if seconds is None:
            continue
        if before is not None:
            assert before / 1.3 - 1 <= seconds <= before * 1.3 + 1, now
        before = seconds
        if ends[-1] / 3 < now < 2 * ends[-1] / 3:
            late.append(seconds / truth)
    # In the second third of the time, the estimate has the right order of magnitude.
    assert min(late) > 0.4
    assert max(late) < 2.5


@pytest.mark.parametrize(
    ("seconds", "text"), [(7.4, "7 s"), (89, "89 s"), (100, "2 min"), (5000, "83 min"), (9000, "2 h")]
)
def test_duration(seconds, text):
    assert duration(seconds) == text


def test_a_log_gets_one_line_with_the_expected_time(capsys):
    with expecting(7.4), progress("Cross-validating", 15, lambda: 0):
        assert capsys.readouterr().err == "ispca: Cross-validating takes about 7 s.\n"
    assert capsys.readouterr().err == ""
    with expecting(3.0), progress("Cross-validating", 15, lambda: 0):
        pass
    with expecting(7.4), silence(), progress("Cross-validating", 15, lambda: 0):
        pass
    with expecting(7.4), progress("Inside another fit", 0, lambda: 0):
        pass
    assert capsys.readouterr().err == ""


def test_a_terminal_sees_the_expected_time_first(monkeypatch):
    monkeypatch.setattr(sys, "stderr", Terminal())
    monkeypatch.setattr(_progress, "SECONDS_BEFORE", 0.0)
    with expecting(3600.0), progress("Cross-validating", 15, lambda: 0):
        time.sleep(0.05)
    assert "0/15, about 1:00:00 left" in sys.stderr.getvalue()


def test_the_last_line_tells_the_time_taken():
    text = line("Comparing", 100, 100, 0.0, 75.0)
    assert "left" not in text
    assert "1:15" in text


def test_later_lines_cover_earlier_ones():
    assert len(line("Comparing", 1, 100, 7200.0, 60.0)) == len(line("Comparing", 100, 100, 0.0, 1.0))


def test_a_terminal_sees_the_count_grow(monkeypatch):
    monkeypatch.setattr(sys, "stderr", Terminal())
    monkeypatch.setattr(_progress, "SECONDS_BEFORE", 0.0)
    monkeypatch.setattr(_progress, "SECONDS_BETWEEN", 0.01)
    finished = [1]
    with progress("Comparing", 4, lambda: finished[0]):
        for count in (2, 3, 4):
            time.sleep(0.05)
            finished[0] = count
    shown = sys.stderr.getvalue()
    assert "1/4" in shown
    assert "left" in shown
    assert shown.endswith("\n")
    assert "4/4" in shown.rsplit("\r", 1)[1]


def test_an_error_inside_passes_and_ends_the_line(monkeypatch):
    monkeypatch.setattr(sys, "stderr", Terminal())
    monkeypatch.setattr(_progress, "SECONDS_BEFORE", 0.0)
    with pytest.raises(KeyboardInterrupt), progress("Comparing", 4, lambda: 1):
        raise KeyboardInterrupt
    assert sys.stderr.getvalue().endswith("\n")


def test_no_line_where_no_thread_can_be_started(monkeypatch):
    def refuse(self):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(sys, "stderr", Terminal())
    monkeypatch.setattr(threading.Thread, "start", refuse)
    done = []
    with progress("Comparing", 4, lambda: 1):
        done.append(1)
    assert done == [1]
    assert sys.stderr.getvalue() == ""


@pytest.mark.parametrize("stream", [io.StringIO(), None])
def test_silence_elsewhere(monkeypatch, stream):
    monkeypatch.setattr(sys, "stderr", stream)
    with progress("Comparing", 4, lambda: 1 / 0):
        pass
    assert stream is None or stream.getvalue() == ""


def test_a_listener_hears_every_stage_from_start_to_end(monkeypatch):
    monkeypatch.setattr(_progress, "SECONDS_BETWEEN", 0.01)
    heard, done = [], 0
    with listening(heard.append):
        with waiting("Finding components"):
            pass
        with expecting(10.0), progress("Cross-validating", 4, lambda: done):
            done = 2
            time.sleep(0.05)
    with progress("Not heard", 4, lambda: 0):
        pass
    assert [(stage.name, stage.ended) for stage in heard[:2]] == [
        ("Finding components", False),
        ("Finding components", True),
    ]
    first, *others, last = heard[2:]
    assert 9 < first.left <= 10
    assert (last.finished, last.total, last.ended) == (2, 4, True)
    assert others
    assert others[-1].left < first.left / 1.1
    assert not others[-1].ended
