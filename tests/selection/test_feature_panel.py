"""The panel keeps its columns, names and order, whatever holds the table."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.utils.estimator_checks import parametrize_with_checks

from ispca.fitted_parts import linear_columns
from ispca.selection import FeaturePanel

FRAME = pd.DataFrame(np.arange(12.0).reshape(3, 4), columns=["a", "b", "c", "d"])
ARRAY = FRAME.to_numpy()


@parametrize_with_checks([FeaturePanel([0])])
def test_scikit_learn_check(estimator, check):
    check(estimator)


@pytest.mark.parametrize("features", [["d", "b"], [3, 1], np.array(["d", "b"]), [-1, "b"], pd.Index(["d", "b"])])
def test_frames_stay_frames_in_the_order_of_the_panel(features):
    panel = FeaturePanel(features).fit(FRAME)
    pd.testing.assert_frame_equal(panel.transform(FRAME), FRAME[["d", "b"]])
    assert panel.panel_columns_.tolist() == [3, 1]
    assert panel.get_feature_names_out().tolist() == ["d", "b"]
    assert (panel.n_features_in_, panel.feature_names_in_.tolist()) == (4, ["a", "b", "c", "d"])


@pytest.mark.parametrize("container", [np.asarray, sp.csr_matrix, sp.coo_array, np.ndarray.tolist])
def test_other_tables_become_dense(container):
    panel = FeaturePanel([2, 0]).fit(container(ARRAY))
    np.testing.assert_array_equal(panel.transform(container(ARRAY)), ARRAY[:, [2, 0]])
    assert panel.get_feature_names_out().tolist() == ["x2", "x0"]
    assert panel.get_feature_names_out(["p", "q", "r", "s"]).tolist() == ["r", "p"]


def test_polars_frames():
    pl = pytest.importorskip("polars", reason="polars is not installed")
    frame = pl.from_pandas(FRAME)
    panel = FeaturePanel(["d", "b"]).fit(frame)
    assert panel.transform(frame).columns == ["d", "b"]
    assert FeaturePanel([]).fit(frame).transform(frame).shape == (3, 0)


@pytest.mark.parametrize("table", [FRAME, ARRAY, sp.csr_array(ARRAY)], ids=["frame", "array", "sparse"])
def test_an_empty_panel_keeps_the_samples(table):
    panel = FeaturePanel().fit(table)
    assert panel.transform(table).shape == (3, 0)
    assert panel.get_feature_names_out().tolist() == []


def test_values_outside_of_the_panel_are_not_looked_at():
    holes = FRAME.assign(a=np.nan, c=["x", "y", "z"])
    panel = FeaturePanel(["d", "b"]).fit(FRAME)
    pd.testing.assert_frame_equal(panel.transform(holes), FRAME[["d", "b"]])


def test_set_output_and_clone():
    panel = clone(FeaturePanel([2, 0])).set_output(transform="pandas")
    assert panel.fit_transform(ARRAY).columns.tolist() == ["x2", "x0"]
    assert clone(panel).features == [2, 0]


def test_the_panel_is_a_linear_step_that_keeps_its_order():
    columns = linear_columns(FeaturePanel(["d", "b"]).fit(FRAME))
    assert columns.source.tolist() == [3, 1]
    assert (columns.slope.tolist(), columns.shift.tolist(), columns.n_inputs) == ([1, 1], [0, 0], 4)


@pytest.mark.parametrize(
    ("features", "message"),
    [
        (["b", "e"], "features contains names that are not features of X: 'e'"),
        ([0, 4], "features contains indices outside 0 to 3"),
        (["b", 1], "features contains a feature more than once"),
        ([0.5], "features contains fractions"),
        ("b", "The 'features' parameter of FeaturePanel must be an array-like"),
    ],
)
def test_impossible_panels_are_refused(features, message):
    with pytest.raises(ValueError, match=message):
        FeaturePanel(features).fit(FRAME)


def test_names_need_a_frame_and_tables_the_same_features():
    with pytest.raises(ValueError, match="features contains names, but X has no feature names"):
        FeaturePanel(["a"]).fit(ARRAY)
    panel = FeaturePanel(["a"]).fit(FRAME)
    with pytest.raises(ValueError, match="feature names"):
        panel.transform(FRAME[["b", "a", "c", "d"]])
    with pytest.raises(ValueError, match="3 features"):
        panel.transform(ARRAY[:, :3])
