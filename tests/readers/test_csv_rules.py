"""One parser with one set of rules: fields, numbers, quotes, encodings, and what takes linear time."""

import gzip
import subprocess
import sys
import textwrap

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ispca.readers import TableError, read_table
from ispca.readers.numbers_and_dates import number
from ispca.readers.table import unique_names
from ispca.readers.text_rows import Layout, parse

HEADER = "sample,g1,g2,state\n"
PLAIN = HEADER + "a,1,2.5,ill\nb,3,5,well\nc,2,4e0,ill\nd,0,-1,well\n"


@pytest.fixture
def read(tmp_path):
    def write_and_read(content, name="data.csv", **options):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return read_table(path, **{"target": "state"} | options)

    return write_and_read


@pytest.mark.parametrize("transpose", [False, True])
@pytest.mark.parametrize("quoted", [False, True])
@pytest.mark.parametrize(("line", "changed"), [(3, "b,3,well"), (5, "d,0,1,7,well"), (5, "d,0,1,well,"), (4, "c")])
def test_a_row_with_a_wrong_number_of_fields_is_named(read, line, changed, quoted, transpose):
    lines = PLAIN.splitlines()
    lines[line - 1] = changed
    text = "\n".join(lines)
    if quoted:
        text = text.replace("sample", '"sample"').replace("\nb", '\n"b"').replace("\nd", '\n"d"')
    fields = changed.count(",") + 1
    with pytest.raises(TableError, match=rf"Line {line} of data.csv has {fields} fields instead of 4"):
        read(text, transpose=transpose)


def test_lines_are_counted_as_an_editor_does(read):
    text = 'sample,g1,g2,state\n\na,1,2,"very\nill"\n\nb,3,well\n'
    with pytest.raises(TableError, match=r"Line 6 of data.csv has 3 fields instead of 4"):
        read(text)
    with pytest.raises(TableError, match=r"Line 4 of data.csv has 3 fields instead of 4"):
        read("sep=;\nsample;g1;g2;state\na;1;2;ill\nb;1;2\n")


NUMBERS = {
    "1": 1.0,
    " 1.5 ": 1.5,
    "-1e-3": -0.001,
    ".5": 0.5,
    "5.": 5.0,
    "+7": 7.0,
    "\xa02": 2.0,
    "inf": np.inf,
    "-Infinity": -np.inf,
    "1e999": np.inf,
    "nan": np.nan,
    "NA": np.nan,
    "": np.nan,
    " ": np.nan,
    "#N/A": np.nan,
    "10_1": None,
    "1_000": None,
    "\u0661\u0662": None,
    "\uff11": None,
    "0x10": None,
    "1,5": None,
    "1 2": None,
    "1d5": None,
    "True": None,
    "nan(1)": None,
    "1\0": None,
}


@pytest.mark.parametrize("item", NUMBERS)
def test_what_is_a_number(item):
    value = number(item)
    assert (value is None) == (NUMBERS[item] is None)
    if value is not None:
        np.testing.assert_equal(value, NUMBERS[item])


ALPHABET = st.sampled_from([*"0123456789.eE+-_ naifNA\u0661\xa0\x1c?/#x"])


@given(st.lists(st.text(ALPHABET, max_size=6) | st.sampled_from(list(NUMBERS)), min_size=2, max_size=4))
def test_every_path_takes_the_same_for_numbers(items):
    """Lines without quotes go through NumPy, lines with quotes and lines with odd fields do not."""
    layout = Layout(len(items), "file", ";")
    expected = [number(item) for item in items]
    for rows in ([(1, ";".join(items) + "\n", None)], [(1, '"', items)]):
        block = parse(rows, layout)
        assert block.odd.get(0, ([], []))[0] == [j for j, value in enumerate(expected) if value is None]
        np.testing.assert_equal(block.numbers[0], [np.nan if value is None else value for value in expected])


def test_columns_of_odd_numbers_are_text(read):
    text = "sample,g,plate,arabic,state\n" + "".join(
        f"s{i},{i},10_{i},\u0661,{'ill' if i % 2 else 'well'}\n" for i in range(40)
    )
    for quoted in (text, text.replace("ill", '"ill"')):
        table = read(quoted)
        assert table.features.tolist() == ["g"]
        assert set(table.left_out) == {"plate", "arabic"}


def test_a_stray_quote_is_named_with_its_line(read):
    rows = [f"s{i},{i},1,{'ill' if i % 2 else 'well'}" for i in range(100)]
    rows[70] = 's70,"70,1,well'
    with pytest.raises(TableError, match=r"quote that opens in line 72 is never closed"):
        read(HEADER + "\n".join(rows))
    rows[70] = 's70,"' + "7" * 200_000 + '",1,well'
    with pytest.raises(TableError, match=r"field in line 72 is longer than 131,072"):
        read(HEADER + "\n".join(rows))
    with pytest.raises(TableError, match=r"quote that opens in line 1 is never closed"):
        read('"' + PLAIN)
    rows[70] = 's70,7"0,1,we"ll'
    assert read(HEADER + "\n".join(rows)).left_out == {"g1": "text such as '7\"0'"}


def in_child(tmp_path, program, limit_s=120):
    """Run a program that would take hours if it were not linear."""
    command = [sys.executable, "-c", textwrap.dedent(program), str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=limit_s, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_stray_quote_in_a_long_file_takes_linear_time(tmp_path):
    # The unfixed reader counted all quotes anew for each of half a million lines.
    out = in_child(
        tmp_path,
        """
        import pathlib, sys
        from ispca.readers import TableError, read_table
        path = pathlib.Path(sys.argv[1]) / "long.csv"
        path.write_text("a,b,state\\n" + '1,2,x\\n' * 50 + '1,"2,x\\n' + "1,2,x\\n" * 1_000_000)
        try:
            read_table(path, target="state")
        except TableError as error:
            print(error)
        """,
    )
    assert "in line 52" in out


@pytest.mark.slow
def test_equal_names_take_linear_time(tmp_path):
    # The unfixed function would try 200,000 ** 2 / 2 names.
    out = in_child(
        tmp_path,
        """
        from ispca.readers.table import unique_names
        names, repeated = unique_names(["g"] * 200_000 + [f"n{j % 50_000}" for j in range(100_000)])
        print(len(set(names)), len(repeated))
        """,
    )
    assert out.split() == ["300000", "50001"]


@given(st.lists(st.sampled_from(["g", "g.1", "g.2", "g.1.1", "h", ""]), max_size=12))
def test_repeated_names_become_different(names):
    found, repeated = unique_names(names)
    assert len(set(found)) == len(names)
    assert set(repeated) == {name for name in names if names.count(name) > 1}
    firsts = [j for j, name in enumerate(names) if name not in names[:j]]
    assert [found[j] for j in firsts] == [names[j] for j in firsts]


# A megabyte in few rows.
LONG = b"e,1." + b"0" * 100 + b",2,well\n"
BYTES = {
    "neither UTF-8 nor Windows-1252": PLAIN.replace("ill", "k\u00e4").encode("latin-1") + b"e,1,2,\x81\x8d\n",
    "not UTF-8 after the first megabyte": PLAIN.encode() + LONG * 10_000 + b"f,1,1,k\xe4\n" * 5,
    "a NUL after the first megabyte": PLAIN.encode() + LONG * 10_000 + b"e\0,1,2,ill\n" * 5,
    "carriage returns only": PLAIN.replace("\n", "\r").encode(),
    "an unknown delimiter of Excel": b'sep="\n' + PLAIN.encode(),
    "mixed line ends": PLAIN.replace("\nb", "\r\nb").replace("\nc", "\rc").encode(),
}


@pytest.mark.parametrize("what", BYTES)
@pytest.mark.parametrize("name", ["data.csv", pytest.param("data.csv.gz", marks=pytest.mark.slow)])
def test_odd_bytes_are_read(read, what, name):
    content = BYTES[what]
    table = read(gzip.compress(content, 1) if name.endswith("gz") else content, name)
    assert table.features.tolist() == ["g1", "g2"]
    np.testing.assert_array_equal(table.X[:4], [[1, 2.5], [3, 5], [2, 4], [0, -1]])


REFUSED = {
    "a NUL": (PLAIN.encode() + b"\0", "not a text file"),
    "half of UTF-16": (PLAIN.encode("utf-16") + b"\0", "has a byte order mark but is not valid UTF-16"),
    "a mark of UTF-8 before other text": (
        b"\xef\xbb\xbf" + PLAIN.encode() + b"e\xff,1,2,ill\n",
        "is not valid UTF-8",
    ),
    "nothing but line ends": (b"\n\r\n\r", "contains no data"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_bytes_that_are_refused(read, what):
    content, message = REFUSED[what]
    with pytest.raises(TableError, match=message):
        read(content)
