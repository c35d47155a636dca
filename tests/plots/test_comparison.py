"""The picture of a comparison."""

import sys

import numpy as np
import pytest
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import LinearSVC

from ispca.plots.comparison_and_panel import plot_comparison
from ispca.validation import compare

plt = pytest.importorskip("matplotlib.pyplot")


@pytest.fixture(scope="module")
def result():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 5))
    y = (X[:, 0] + rng.normal(size=60) > 0).astype(int)
    named = {"bayes": GaussianNB(), "svm": LinearSVC(), "chance": DummyClassifier(), "lasso": LogisticRegression()}
    return compare(named, X, y, cv=8, n_jobs=1)


def row(result, method):
    return result.table[list(result.table["method"]).index(method)]


def test_rows_baseline_and_intervals(result):
    ax = plot_comparison(result)
    assert isinstance(ax, plt.Axes)
    assert [label.get_text() for label in ax.get_yticklabels()] == ["bayes", "svm", "chance", "lasso"]
    assert ax.yaxis_inverted()
    dashed = [line for line in ax.lines if line.get_linestyle() == "--"]
    assert len(dashed) == 1
    assert dashed[0].get_xdata()[0] == row(result, "lasso")["mlpd"]
    bars = {line.get_ydata()[0]: line.get_xdata() for line in ax.lines if line.get_linestyle() == "-"}
    np.testing.assert_array_equal(bars[0], [row(result, "bayes")["mlpd_low"], row(result, "bayes")["mlpd_high"]])
    assert "mean log predictive density" in ax.get_xlabel()
    assert "8 splits" in ax.get_xlabel()
    # The support vector machine has no probabilities.
    assert [(text.get_text(), text.xy[1]) for text in ax.texts] == [("does not apply", 1)]
    ax.figure.canvas.draw()


@pytest.mark.parametrize("metric", ["accuracy", "balanced_accuracy", "auc", "brier", "calibration_error"])
def test_every_measure(result, metric):
    ax = plot_comparison(result, metric)
    assert metric.split("_")[0] in ax.get_xlabel().lower() or metric == "auc"
    ax.figure.canvas.draw()


def test_given_axes(result):
    _, ax = plt.subplots()
    assert plot_comparison(result, "accuracy", ax=ax) is ax
    assert result.plot("accuracy", ax=ax) is ax


def test_an_unknown_measure(result):
    with pytest.raises(ValueError, match=r"metric='r2' is not in the comparison: choose from mlpd, accuracy"):
        plot_comparison(result, "r2")


def test_without_matplotlib(result, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(ImportError, match=r"pip install matplotlib"):
        plot_comparison(result)
