"""Events in words and codes, and times of 0."""

import pytest

from ispca.readers import TableError, read_table
from ispca.readers.table import SampleColumns

TIMES = ["3", "0", "5", "2.5", "7", "0"]


@pytest.fixture
def read(tmp_path):
    def read(events, times=TIMES, event_value=None):
        rows = [f"s{i},{t},{e},{i * i},{i % 4}" for i, (t, e) in enumerate(zip(times, events, strict=True))]
        path = tmp_path / "data.csv"
        path.write_text("\n".join(["id,months,status,g1,g2", *rows]) + "\n")
        columns = SampleColumns(time="months", event="status", event_value=event_value)
        return read_table(path, columns=columns)

    return read


@pytest.mark.parametrize(
    ("observed", "censored", "note"),
    [
        ("dead", "alive", "In 'status', 'dead' is taken as the event, and 'alive' as censored."),
        ("DECEASED", "LIVING", "In 'status', 'DECEASED' is taken as the event, and 'LIVING' as censored."),
        ("1:DECEASED", "0:LIVING", "In 'status', '1:DECEASED' is taken as the event, and '0:LIVING' as censored."),
        ("2", "1", "In 'status', '2' is taken as the event, and '1' as censored."),
        ("TRUE", "FALSE", "In 'status', 'TRUE' is taken as the event, and 'FALSE' as censored."),
        ("yes", "no", "In 'status', 'yes' is taken as the event, and 'no' as censored."),
        ("1", "0", None),
        ("1.0", "0.0", None),
    ],
)
def test_words_and_codes_of_events(read, observed, censored, note):
    table = read([observed, censored, censored, observed, observed, censored])
    assert table.target["event"].tolist() == [True, False, False, True, True, False]
    assert [text for text in table.notes if "taken as the event" in text] == ([note] if note else [])


def test_the_value_of_an_event_can_be_named(read):
    events = ["Dead", "moved", "alive", "Dead", "alive", "alive"]
    with pytest.raises(TableError, match=r"it contains 'Dead', 'alive', 'moved'\. Pass event_value='VALUE'"):
        read(events)
    table = read(events, event_value="dead")
    assert table.target["event"].tolist() == [True, False, False, True, False, False]
    assert table.event_value == "Dead"
    with pytest.raises(TableError, match=r"does not contain 'deed' \(event_value\). Did you mean Dead"):
        read(events, event_value="deed")
    # Also against the usual meaning.
    assert read(["0", "1"] * 3, event_value="0").target["event"].tolist() == [True, False] * 3


def test_times_of_0_are_named_and_the_shortest(read):
    table = read(["1", "0"] * 3)
    assert table.target["time"].tolist() == [3, 1.25, 5, 2.5, 7, 1.25]
    assert "2 samples with 'months' = 0 treated as the shortest time (1.25): s1, s5." in table.notes
    assert not any("shortest" in note for note in read(["1", "0"] * 3, times=["1", "2", "3", "4", "5", "6"]).notes)
    with pytest.raises(TableError, match="contains only zeros"):
        read(["1", "0"] * 3, times=["0"] * 6)
