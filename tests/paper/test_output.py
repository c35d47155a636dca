"""Tables as they are written."""

import numpy as np

from paper.output import write_csv


def test_a_table_is_short_and_complete(tmp_path):
    rows = [
        {"name": "a, b", "value": 0.1234567, "flag": True},
        {"name": "c", "value": np.float64(-1e-9), "more": float("nan")},
        {"name": None, "value": -2.5, "more": 3},
    ]
    write_csv(tmp_path / "new" / "table.csv", rows)
    lines = (tmp_path / "new" / "table.csv").read_text().splitlines()
    # A value that rounds to nothing is 0, not -0; what a row does not have stays empty.
    assert lines == ["name,value,flag,more", '"a, b",0.12346,1,', "c,0,,", ",-2.5,,3"]
