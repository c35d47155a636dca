"""The one CSV writer: what is written can be read, and no spreadsheet runs it."""

import csv
import io
import json
import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

import ispca
from ispca.cli import main
from ispca.foundation.result_tables import cell, write_labelled, write_table
from ispca.readers import read_table

HOSTILE = [
    "plain",
    "two\nlines",
    "two\r\nlines",
    "carriage\rreturn",
    "comma,semicolon;tab\tbar|",
    'a "quoted" word',
    '"',
    "",
    " spaces ",
    "=cmd|' /C calc'!A0",
    "+1+1",
    "-2+3",
    "@SUM(A1)",
    "\t=1",
    "\r=1",
    "ünïcödé 基因",
]
PAGE = Path(ispca.__file__).parent / "report" / "page" / "tables.js"
PUBLISHED = sorted((Path(__file__).parents[2] / "docs" / "paper").glob("*.csv"))


def parsed(text):
    return list(csv.reader(io.StringIO(text, newline="")))


def unescaped(text):
    return text[1:] if re.match(r"'[=+\-@\t\r]", text) else text


def test_hostile_names_come_back():
    file = io.StringIO(newline="")
    write_labelled(file, HOSTILE, [(name, name) for name in HOSTILE], np.ones((len(HOSTILE), 3)))
    header, *rows = parsed(file.getvalue())
    assert [unescaped(name) for name in header] == HOSTILE
    assert [[unescaped(name) for name in row] for row in rows] == [[n, n, "1", "1", "1"] for n in HOSTILE]
    assert not any(re.match(r"[=+\-@\t\r]", name) for row in [header, *rows] for name in row)


def test_numbers_are_untouched():
    values = [-1, -0.5, -1e-300, float("-inf"), float("nan"), True, None, np.float64(-2.5), "-1", "+1", "-1.5e-3"]
    expected = ["-1", "-0.5", "-1e-300", "-inf", "nan", "True", "", "-2.5", "-1", "+1", "-1.5e-3"]
    assert [cell(value) for value in values] == expected
    file = io.StringIO()
    write_labelled(file, ["id", "x"], [("a",)], np.array([[-0.25]]))
    # What is unknown is empty, but not a name.
    write_labelled(file, ["id", "x"], [("nan",)], np.array([[np.nan, 1e-30]]))
    assert file.getvalue() == "id,x\na,-0.25\nid,x\nnan,,1e-30\n"


@pytest.mark.skipif(shutil.which("node") is None, reason="needs node")
def test_the_report_escapes_the_same():
    source = PAGE.read_text()
    function = source[source.index("function csvCell") :].split("\n}\n")[0] + "\n}\n"
    texts = [*HOSTILE, "-1", "+1.5e3", "-inf", "-1a", "1e5", "-.5"]
    code = f"{function}console.log(JSON.stringify({json.dumps(texts)}.map(csvCell)))"
    result = subprocess.run(["node", "-e", code], capture_output=True, text=True, check=True, timeout=60)
    # The page quotes every text, we only those that need it.
    assert [parsed(one + "\n") for one in json.loads(result.stdout)] == [parsed(_quoted(name)) for name in texts]


def _quoted(name):
    text = cell(name)
    return (text if text.startswith('"') else f'"{text}"') + "\n"


@pytest.mark.parametrize("path", PUBLISHED, ids=lambda path: path.name)
def test_published_files_stay_as_they_are(path):
    header, *rows = parsed(path.read_bytes().decode())
    file = io.StringIO(newline="")
    write_table(file, header, rows, escape=not path.name.endswith("-verdicts.csv"))
    assert file.getvalue() == path.read_bytes().decode()


def test_the_files_of_a_fit_with_hostile_names(tmp_path, table_of):
    rows, _ = table_of
    table = rows()
    genes = [*HOSTILE[:7], *HOSTILE[9:15], "(intercept)"]
    table[0][4 : 4 + len(genes)] = genes
    for number, name in enumerate(HOSTILE[:7]):
        table[number + 1][0] = name
    data, out = tmp_path / "data.csv", tmp_path / "out"
    with open(data, "w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows(table)
    options = ["--target", "diagnosis", "--drop", "score", "--id", "sample", "--out", str(out)]
    options += ["--bags=0", "--components", "4", "--draws", "60", "--cv", "0", "--quiet"]
    assert main(["fit", str(data), *options]) == 0
    n = {"scores.csv": 40, "loadings.csv": 30, "coefficients.csv": 31}
    for name, expected in n.items():
        header, *records = parsed((out / name).read_bytes().decode())
        assert len(records) == expected
        assert {len(record) for record in records} == {len(header)}
        assert not any(re.match(r"[=+\-@\t\r]", record[0]) for record in records)
    coefficients = parsed((out / "coefficients.csv").read_bytes().decode())[1:]
    # The feature of this name stays among the features.
    effects = [abs(float(record[2])) for record in coefficients[1:]]
    assert effects == sorted(effects, reverse=True)
    assert [record[0] for record in coefficients].count("(intercept)") == 2
    assert float(coefficients[0][2]) == 0
    loadings = read_table(out / "loadings.csv", supervised=False)
    assert loadings.X.shape == (30, 4)
    scores = read_table(out / "scores.csv", target="diagnosis")
    assert scores.X.shape == (40, 4)
    predictions = tmp_path / "predictions.csv"
    command = ["predict", str(out / "model.ispca"), str(data), "--id", "sample", "--out", str(predictions)]
    assert main([*command, "--quiet"]) == 0
    assert len(parsed(predictions.read_bytes().decode())) == 41
