"""Tables of results: arrays, data frames and HTML."""

import copy
import inspect
import pickle
import sys

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

from ispca import ISPCA, original_coefficients, plots
from ispca.datasets import make_expression
from ispca.foundation.result_tables import ResultTable, as_table, html_table
from ispca.models.posterior import Posterior
from ispca.persistence.encoding import Content, decode, encode
from ispca.selection import ProjectionSelector
from ispca.validation.comparison import Comparison


def small():
    return as_table({"feature": ["b", "a", "c"], "weight": [0.5, np.nan, -2.0], "n": [1, 2000, 3]})


def test_a_table_is_a_record_array():
    table = small()
    assert isinstance(table, np.recarray)
    assert table["feature"].tolist() == table.feature.tolist() == ["b", "a", "c"]
    assert type(table["weight"]) is np.ndarray
    assert table[1].n == 2000
    assert [row["n"] for row in table] == [1, 2000, 3]


@pytest.mark.parametrize(
    "part",
    [
        lambda table: table[table["weight"] > 0],
        lambda table: table[:2],
        lambda table: table[np.argsort(table["feature"])],
        lambda table: table[["feature", "n"]],
        copy.deepcopy,
        lambda table: pickle.loads(pickle.dumps(table)),
    ],
    ids=["mask", "slice", "order", "columns", "copy", "pickle"],
)
def test_a_part_of_a_table_is_a_table(part):
    table = small()
    found = part(table)
    assert type(found) is ResultTable
    assert found.to_frame().shape == (len(found), len(found.dtype.names))
    assert "<table>" in found._repr_html_()
    np.testing.assert_array_equal(found["n"], part(table)["n"])


def test_a_data_frame_has_the_columns_of_the_table():
    frame = small().to_frame()
    expected = pd.DataFrame({"feature": ["b", "a", "c"], "weight": [0.5, np.nan, -2.0], "n": [1, 2000, 3]})
    pd.testing.assert_frame_equal(frame, expected, check_dtype=False)


def test_without_pandas_there_is_html_and_an_error_that_names_it(monkeypatch):
    expected = small()._repr_html_()
    monkeypatch.setitem(sys.modules, "pandas", None)
    assert small()._repr_html_() == expected
    with pytest.raises(ImportError, match="A data frame requires pandas, which is not installed"):
        small().to_frame()


def test_html_shows_every_cell_and_escapes_it():
    page = as_table({"<b>": ["<script>alert(1)</script>", 'a & "b"'], "x": [1.23456, np.nan]})._repr_html_()
    assert "<script>" not in page
    assert "<b>" not in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page
    assert "a &amp; &quot;b&quot;" in page
    assert ">1.23</td>" in page
    assert ">-</td>" in page
    page = html_table({"n": [1]}, caption="<i>", remarks=["<u>"])
    assert "&lt;i&gt;</caption>" in page
    assert "<p>&lt;u&gt;</p>" in page


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.0, "0"), (1e-12, "1e-12"), (-12.34, "-12.3"), (4567.8, "4,568"), (np.inf, "inf"), (True, "True")],
)
def test_cells_are_readable(value, text):
    assert f">{text}</td>" in html_table({"x": [value]})


def test_large_tables_are_shortened_and_say_so():
    wide = as_table({f"column {j}": np.arange(2500) for j in range(30)})
    page = wide._repr_html_()
    assert page.count("<tr>") == 1 + 20
    assert page.count("<th ") == 20
    assert "2,500 rows, 30 columns; to_frame() has all of them." in page
    assert "to_frame" not in wide[["column 1", "column 2"]][:20]._repr_html_()


def test_empty_tables_and_other_views_have_html():
    assert "<th " in small()[:0]._repr_html_()
    assert small()["feature"].view(ResultTable)._repr_html_().startswith("<pre>")


def test_a_table_in_a_model_file_stays_a_table():
    arrays = []
    node = encode(small(), arrays)
    found = decode(node, Content(dict(enumerate(arrays)), 10**6))
    assert type(found) is ResultTable
    np.testing.assert_array_equal(found["feature"], small()["feature"])


def test_every_public_function_returns_this_kind_of_table():
    functions = [getattr(plots, name) for name in plots.__all__ if name.endswith("_table")]
    functions += [
        original_coefficients,
        ProjectionSelector.panel,
        ProjectionSelector.alternatives,
        Posterior.summary,
    ]
    functions += [Comparison.table.func]
    assert len(functions) > 15
    for function in functions:
        assert inspect.signature(function).return_annotation == "ResultTable", function.__name__


def test_tables_of_fitted_objects():
    data = make_expression(40, 30, signal=3.0, random_state=0)
    ispca = ISPCA(2, random_state=0).fit(data.data, data.target)
    assert type(plots.component_table(ispca)) is ResultTable
    assert type(plots.calibration_table([[0.9, 0.1], [0.4, 0.6]], None, [0, 1])) is ResultTable
    table = original_coefficients(LogisticRegression().fit(data.data, data.target))
    assert type(table) is ResultTable
    assert table.to_frame()["feature"].iloc[0] == "(intercept)"
